import { MemoryFault, WcStatus } from "@rdmakit/protocol"
import type { Dialect, Failure } from "@rdmakit/transport-iwarp/rdmap"

/** Linux, erdma_hw.h: enum erdma_vendor_err. */
const VendorError = { RqeInvalidStag: 2, InvalidSqe: 0x20, ZeroOrd: 0x21, SqeInvalidStag: 0x30 } as const

const General: Failure = { status: WcStatus.GeneralErr, vendorError: 0 }
const Flushed: Failure = { status: WcStatus.WrFlushErr, vendorError: 0 }
export const RetryExceeded: Failure = { status: WcStatus.RetryExcErr, vendorError: 0 }
const InvalidRequest: Failure = { status: WcStatus.LocQpOpErr, vendorError: VendorError.InvalidSqe }
const NoReads: Failure = { status: WcStatus.GeneralErr, vendorError: VendorError.ZeroOrd }
const RemoteAccess: Failure = { status: WcStatus.RemAccessErr, vendorError: 0 }

/** From an invalid key on: key, bounds, right, domain, in the order in which the driver numbers them. */
const order = (fault: MemoryFault): number => {
  if (fault === MemoryFault.Bounds) return 1
  if (fault === MemoryFault.Access) return 2
  return fault === MemoryFault.Domain ? 3 : 0
}

const sendFailure = (fault: MemoryFault): Failure => ({
  status: WcStatus.LocAccessErr,
  vendorError: VendorError.SqeInvalidStag + order(fault),
})

const receiveFailure = (fault: MemoryFault): Failure => ({
  status: WcStatus.RemAccessErr,
  vendorError: VendorError.RqeInvalidStag + order(fault),
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
