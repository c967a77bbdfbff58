import { type Ack, type FlowAddress, TELEMETRY_FIELDS } from "@rdmakit/protocol"

/** Identity of one end of a connection. */
export interface RcAddress extends FlowAddress {
  /** PSN of the first packet this end sends (sq_psn), of which 24 bits count. Default 0. */
  readonly sendPsn?: number
  /** PSN of the first packet this end expects (rq_psn), the peer's `sendPsn`. Default 0. */
  readonly receivePsn?: number
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
