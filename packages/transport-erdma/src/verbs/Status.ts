import { MemoryFault, WcStatus } from "@rdmakit/protocol"

/**
 * How work ends that does not succeed: what the driver tells of what its device says (Linux, erdma_cq.c: map_cqe_status;
 * erdma_hw.h: erdma_vendor_err). It has no others.
 */
export interface Failure {
  readonly status: WcStatus
  readonly vendorError: number
}

export const General: Failure = { status: WcStatus.GeneralErr, vendorError: 0 }
export const Flushed: Failure = { status: WcStatus.WrFlushErr, vendorError: 0 }
export const RetryExceeded: Failure = { status: WcStatus.RetryExcErr, vendorError: 0 }
/** A request that the device has not, or whose form it does not take. */
export const InvalidRequest: Failure = { status: WcStatus.LocQpOpErr, vendorError: 0x20 }
/** A READ, or an atomic, of a queue pair that may have none outstanding. */
export const NoReads: Failure = { status: WcStatus.GeneralErr, vendorError: 0x21 }
/** The peer's device found something wrong with the request's key, address or right. */
export const RemoteAccess: Failure = { status: WcStatus.RemAccessErr, vendorError: 0 }

const SEND_BASE = 0x30
const RECEIVE_BASE = 2

/** Key, bounds, right, domain, in the order in which the driver numbers them. */
const order = (fault: MemoryFault): number => {
  if (fault === MemoryFault.Bounds) return 1
  if (fault === MemoryFault.Access) return 2
  return fault === MemoryFault.Domain ? 3 : 0
}

/** What a send's own memory had wrong with it. */
export const sendFailure = (fault: MemoryFault): Failure => ({
  status: WcStatus.LocAccessErr,
  vendorError: SEND_BASE + order(fault),
})

/** What a receive's memory had wrong with it; a message that is too long is out of its bounds. */
export const receiveFailure = (fault: MemoryFault): Failure => ({
  status: WcStatus.RemAccessErr,
  vendorError: RECEIVE_BASE + order(fault),
})
