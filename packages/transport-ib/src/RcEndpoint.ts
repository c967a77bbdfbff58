import type { FlowAddress } from "@rdmakit/protocol"

/** Identity of one end of a connection. */
export interface RcAddress extends FlowAddress {
  /** PSN of the first packet this end sends (sq_psn), of which 24 bits count. Default 0. */
  readonly sendPsn?: number
  /** PSN of the first packet this end expects (rq_psn), the peer's `sendPsn`. Default 0. */
  readonly receivePsn?: number
}
