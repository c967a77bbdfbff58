import type { Packet, PacketPool } from "@rdmakit/packet"
import type { Time } from "./Time.ts"

/** What a kernel lends to a NIC. */
export interface NicPorts {
  readonly pool: PacketPool
  /** Words a NIC may keep its state in: `POLICY_WORDS` for each of its ports, from `policyAt(port)`, which is linear in it. */
  readonly policyWords: Int32Array
  policyAt(port: number): number
  /** The port may have something to send now: starts a transmission when it is idle. */
  kick(now: Time, port: number): void
  /** When the pending wake-up of a port comes; NEVER without one. */
  wakeTime(port: number): Time
  /** Sets the wake-up of a port (a `kick` at that time), in place of one that is pending. */
  wakeAt(port: number, time: Time): void
  /** Asks for `Nic.timer(time, endpoint, timer)` at the NIC of `node`; the event, for `cancelTimer`. */
  timerAt(node: number, endpoint: number, timer: number, time: Time): number
  /** Forgets a timer that has not come. */
  cancelTimer(event: number): void
}

/** The NICs of one host or of many: decides which queue pair sends next on each of its ports. */
export interface Nic {
  /** A packet arrived on one of the NIC's ports. The NIC owns the handle from here. */
  receive(now: Time, packet: Packet, port: number): void
  /** The port is idle: the next packet to send, or -1. `paused` has a bit for each paused priority. */
  pull(now: Time, port: number, paused: number): number
  /** Nothing would come of a `pull` on this port, whatever the pauses: a kernel need not make one. */
  quiet(port: number): boolean
  /** A timer asked for by `timerAt`. */
  timer(now: Time, endpoint: number, timer: number): void
}
