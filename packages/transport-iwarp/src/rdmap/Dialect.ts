import type { MemoryFault, Time, WcStatus } from "@rdmakit/protocol"

/** How work ends that does not succeed. */
export interface Failure {
  readonly status: WcStatus
  readonly vendorError: number
}

/** The statuses of one device, as its driver has them. */
export interface Failures {
  readonly general: Failure
  readonly flushed: Failure
  /** A request that the device has not, or whose form it does not take. */
  readonly invalidRequest: Failure
  /** A READ, or an atomic, of a queue pair that may have none outstanding. */
  readonly noReads: Failure
  /** The peer's device found something wrong with the request's key, address or right. */
  readonly remoteAccess: Failure
  /** What a send's own memory had wrong with it, and a receive's; a message that is too long is out of its bounds. */
  readonly send: (fault: MemoryFault) => Failure
  readonly receive: (fault: MemoryFault) => Failure
}

/** In what devices differ that speak RDMAP. */
export interface Dialect {
  readonly failures: Failures
  /** A SEND that finds no receive waits for one; else it ends the connection. */
  readonly waitsForReceives: boolean
  /** SENDs may carry an immediate. RFC 7306 has it behind WRITEs alone. */
  readonly sendImmediates: boolean
}

/** What messages are given to: one after the other, each when all before it has left. */
export interface MessageStream {
  readonly idle: boolean
  command(now: Time, command: { readonly message: number; readonly writeBytes: number }): void
}
