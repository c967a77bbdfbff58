import { MemoryFault, WcStatus } from "@rdmakit/protocol"
import type { Dialect, Failure } from "./rdmap/Dialect.ts"

const failure = (status: WcStatus): Failure => ({ status, vendorError: 0 })

const LocalProtection = failure(WcStatus.LocProtErr)
const LocalLength = failure(WcStatus.LocLenErr)

/** iWARP's RDMAP. Statuses are those that Linux' siw tells (siw_cq.c: map_cqe_status). */
export const iwarpDialect: Dialect = {
  failures: {
    general: failure(WcStatus.GeneralErr),
    flushed: failure(WcStatus.WrFlushErr),
    invalidRequest: failure(WcStatus.LocQpOpErr),
    noReads: failure(WcStatus.LocQpOpErr),
    remoteAccess: failure(WcStatus.RemAccessErr),
    send: () => LocalProtection,
    receive: (fault) => (fault === MemoryFault.Bounds ? LocalLength : LocalProtection),
  },
  waitsForReceives: false,
  sendImmediates: false,
}
