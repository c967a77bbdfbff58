import type { Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"

/** Watches a kernel. It must not keep the cursor, and must not change anything. */
export interface Tracer {
  /** A frame arrived whole at `port`, PFC frames too. */
  received(now: Time, port: number, packet: Packet): void
  /** A packet is about to enter an egress queue: queue lengths are those before it. Hosts: an acknowledgement. */
  enqueued(now: Time, port: number, queue: number, packet: Packet): void
  /** A packet has left its queue and starts to be sent: queue lengths are those after it. */
  dequeued(now: Time, port: number, queue: number, packet: Packet): void
  /** A frame is dropped because a link is down: at the end of it, or at `port`, which it would leave or has left. */
  dropped?(now: Time, port: number, queue: number, packet: Packet): void
}
