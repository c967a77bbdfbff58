import { MemoryFault, WcStatus } from "@rdmakit/protocol"
import type { Dialect, Failure } from "@rdmakit/transport-iwarp/rdmap"

const General: Failure = { status: WcStatus.GeneralErr, vendorError: 0 }
const Flushed: Failure = { status: WcStatus.WrFlushErr, vendorError: 0 }
export const RetryExceeded: Failure = { status: WcStatus.RetryExcErr, vendorError: 0 }
const InvalidRequest: Failure = { status: WcStatus.LocQpOpErr, vendorError: 0x20 }
const NoReads: Failure = { status: WcStatus.GeneralErr, vendorError: 0x21 }
const RemoteAccess: Failure = { status: WcStatus.RemAccessErr, vendorError: 0 }

const SEND_BASE = 0x30
const RECEIVE_BASE = 2

/** Key, bounds, right, domain, in the order in which the driver numbers them. */
const order = (fault: MemoryFault): number => {
  if (fault === MemoryFault.Bounds) return 1
  if (fault === MemoryFault.Access) return 2
  return fault === MemoryFault.Domain ? 3 : 0
}

const sendFailure = (fault: MemoryFault): Failure => ({
  status: WcStatus.LocAccessErr,
  vendorError: SEND_BASE + order(fault),
})

const receiveFailure = (fault: MemoryFault): Failure => ({
  status: WcStatus.RemAccessErr,
  vendorError: RECEIVE_BASE + order(fault),
})

/**
 * The device's RDMAP. Statuses are what the driver tells of what its device says (Linux, erdma_cq.c: map_cqe_status;
 * erdma_hw.h: erdma_vendor_err); it has no others.
 */
export const erdmaDialect: Dialect = {
  failures: {
    general: General,
    flushed: Flushed,
    invalidRequest: InvalidRequest,
    noReads: NoReads,
    remoteAccess: RemoteAccess,
    send: sendFailure,
    receive: receiveFailure,
  },
  waitsForReceives: true,
  sendImmediates: true,
}
