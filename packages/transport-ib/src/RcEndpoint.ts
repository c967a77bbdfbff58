import { type Ack, type PathInfo, TELEMETRY_FIELDS, type Time } from "@rdmakit/protocol"

/** Identity of one end of a connection. */
export interface RcAddress {
  /** This end's node and the other end's, 0 to 65,535. */
  readonly node: number
  readonly peer: number
  /** This end's and the other end's UDP port, 0 to 65,535. */
  readonly udpPort: number
  readonly peerUdpPort: number
  /** Traffic class of its packets, 0 to 7. */
  readonly priority: number
  /** Value of `Packet.flow` for what this end sends. */
  readonly flow: number
  /** What the controller is made from; undefined at an end that only responds. */
  readonly path: PathInfo | undefined
  /** PSN of the first packet this end sends (sq_psn), of which 24 bits count. Default 0. */
  readonly sendPsn?: number
  /** PSN of the first packet this end expects (rq_psn), the peer's `sendPsn`. Default 0. */
  readonly receivePsn?: number
}

/** Work for a requester. */
export interface RcCommand {
  /** RDMA WRITE of this many bytes, a whole number. 0 takes one packet (IBTA 1.7 §9.7.2). */
  readonly writeBytes: number
  /** Comes back in the event. */
  readonly message: number
}

/** What a requester is told when a message ends. Messages end in the order of their commands, each once. */
export interface RcEvent {
  /**
   * "completed": every byte was acknowledged. "failed": retries exceeded; the connection has ended. "flushed": the
   * connection had failed before this message's turn.
   */
  readonly type: "completed" | "failed" | "flushed"
  /** ps */
  readonly time: Time
  readonly message: number
  /** Bytes of the message that were acknowledged. */
  readonly bytes: number
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
  pint: -1,
})
