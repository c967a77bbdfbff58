import { type Ack, type ControllerFactory, type PathInfo, TELEMETRY_FIELDS, type Time } from "@rdmakit/protocol"
import type { Framing } from "./Framing.ts"

/** How a reliable-connection endpoint behaves; one object serves every queue pair of a world. */
export interface RcConfig {
  /** Payload of a full packet, bytes (the path MTU). */
  readonly mtuBytes: number
  readonly framing: Framing
  readonly controller: ControllerFactory
  /** Data packets carry a telemetry block for switches to fill. */
  readonly telemetry: boolean
  /** Acknowledge every n-th packet; the last packet of a message is always acknowledged. 1: every packet. */
  readonly ackEvery: number
  /**
   * The ns-3 model's rule instead of `ackEvery`: acknowledge once this many bytes have come in all, or at multiples of
   * `ns3AckChunkBytes`. Undefined: `ackEvery` decides.
   */
  readonly ns3AckBytes?: number
  readonly ns3AckChunkBytes?: number
  /**
   * A gap is told of by one NAK (IBTA 1.7 §9.7.5.2.8); another for the same gap only after this long. NEVER: just one,
   * and a NAK lost is the timeout's affair. The ns-3 model: 500 µs.
   */
  readonly nakIntervalPs: Time
  /** Answer every duplicate with an acknowledgement (IBTA 1.7 §9.7.5.1.4); false: only those sent again after a timeout. */
  readonly ackDuplicates: boolean
  /** Without progress for this long the requester goes back to the oldest unacknowledged packet. NEVER: it never does. */
  readonly ackTimeoutPs: Time
  /** Timeouts in a row before the connection fails. */
  readonly retryCount: number
  /** ECN code point of data packets. */
  readonly ecn: number
  /** Time a packet of this size takes at this rate, ps. */
  readonly pacePs: (bytes: number, rateBps: number) => Time
  /** A rate change moves the moment the next packet may leave; false: it holds from the packet after. */
  readonly repace: boolean
  /** False: packets are paced at line rate, whatever the controller's rate (the ns-3 key RATE_BOUND 0). */
  readonly rateBound: boolean
}

/** What a requester is told when a message ends. */
export interface RcEvent {
  /** "failed": retries exceeded. */
  readonly type: "completed" | "failed"
  readonly time: Time
  readonly message: number
  readonly bytes: number
}

/** Work for a requester. */
export interface RcCommand {
  /** RDMA WRITE of this many bytes. 0 takes one packet (IBTA 1.7 §9.7.2). */
  readonly writeBytes: number
  /** Comes back in the event. */
  readonly message: number
}

/** An acknowledgement object, to be reused; with room for the telemetry of this many hops. */
export const makeAck = (hops: number): Ack => ({
  sequence: 0,
  sent: 0,
  bytes: 0,
  rttPs: Number.NaN,
  congestion: false,
  hops: 0,
  pathId: 0,
  telemetry: new Float64Array(TELEMETRY_FIELDS * hops),
  telemetryAt: 0,
})

/** Identity of one end of a connection. */
export interface RcAddress {
  readonly node: number
  readonly peer: number
  /** This end's and the other end's UDP port. */
  readonly udpPort: number
  readonly peerUdpPort: number
  readonly priority: number
  /** Value of `Packet.flow` for what this end sends. */
  readonly flow: number
  /** What the controller is made from; undefined at an end that only responds. */
  readonly path: PathInfo | undefined
}
