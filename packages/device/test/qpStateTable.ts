import { QpState } from "@rdmakit/protocol"
import { type DeviceQpType, QpAttr } from "../src/index.ts"

/*
 * Linux's qp_state_table as its source has it (drivers/infiniband/core/verbs.c), read line by line and written down anew:
 * a transition, then for each type of queue pair what is required and, behind the slash, what is optional. Transitions
 * that are not here do not exist. SRD's lines are of the table that EFA's driver has for itself
 * (drivers/infiniband/hw/efa/efa_verbs.c, srd_qp_state_table).
 */
const KERNEL = `
RESET RESET
RESET INIT
  rc PKEY_INDEX PORT ACCESS_FLAGS /
  uc PKEY_INDEX PORT ACCESS_FLAGS /
  ud PKEY_INDEX PORT QKEY /
  gsi PKEY_INDEX QKEY /
  srd PKEY_INDEX PORT QKEY /
INIT RESET
INIT ERR
INIT INIT
  rc / PKEY_INDEX PORT ACCESS_FLAGS
  uc / PKEY_INDEX PORT ACCESS_FLAGS
  ud / PKEY_INDEX PORT QKEY
  gsi / PKEY_INDEX QKEY
  srd / PKEY_INDEX PORT QKEY
INIT RTR
  rc AV PATH_MTU DEST_QPN RQ_PSN MAX_DEST_RD_ATOMIC MIN_RNR_TIMER / ALT_PATH ACCESS_FLAGS PKEY_INDEX
  uc AV PATH_MTU DEST_QPN RQ_PSN / ALT_PATH ACCESS_FLAGS PKEY_INDEX
  ud / PKEY_INDEX QKEY
  gsi / PKEY_INDEX QKEY
  srd / PKEY_INDEX QKEY
RTR RESET
RTR ERR
RTR RTS
  rc TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC / CUR_STATE ALT_PATH ACCESS_FLAGS MIN_RNR_TIMER PATH_MIG_STATE
  uc SQ_PSN / CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE
  ud SQ_PSN / CUR_STATE QKEY
  gsi SQ_PSN / CUR_STATE QKEY
  srd SQ_PSN / CUR_STATE QKEY RNR_RETRY
RTS RESET
RTS ERR
RTS RTS
  rc / CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE MIN_RNR_TIMER
  uc / CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE
  ud / CUR_STATE QKEY
  gsi / CUR_STATE QKEY
  srd / CUR_STATE QKEY
RTS SQD
  rc / EN_SQD_ASYNC_NOTIFY
  uc / EN_SQD_ASYNC_NOTIFY
  ud / EN_SQD_ASYNC_NOTIFY
  gsi / EN_SQD_ASYNC_NOTIFY
  srd / EN_SQD_ASYNC_NOTIFY
SQD RESET
SQD ERR
SQD RTS
  rc / CUR_STATE ALT_PATH ACCESS_FLAGS MIN_RNR_TIMER PATH_MIG_STATE
  uc / CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE
  ud / CUR_STATE QKEY
  gsi / CUR_STATE QKEY
  srd / CUR_STATE QKEY
SQD SQD
  rc / PORT AV TIMEOUT RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC MAX_DEST_RD_ATOMIC ALT_PATH ACCESS_FLAGS PKEY_INDEX MIN_RNR_TIMER PATH_MIG_STATE
  uc / AV ALT_PATH ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE
  ud / PKEY_INDEX QKEY
  gsi / PKEY_INDEX QKEY
  srd / PKEY_INDEX QKEY
SQE RESET
SQE ERR
SQE RTS
  rc /
  uc / CUR_STATE ACCESS_FLAGS
  ud / CUR_STATE QKEY
  gsi / CUR_STATE QKEY
  srd / CUR_STATE QKEY
ERR RESET
ERR ERR
`

const BITS: Readonly<Record<string, number>> = {
  CUR_STATE: QpAttr.CurState,
  EN_SQD_ASYNC_NOTIFY: QpAttr.EnSqdAsyncNotify,
  ACCESS_FLAGS: QpAttr.AccessFlags,
  PKEY_INDEX: QpAttr.PkeyIndex,
  PORT: QpAttr.Port,
  QKEY: QpAttr.QueueKey,
  AV: QpAttr.Av,
  PATH_MTU: QpAttr.PathMtu,
  TIMEOUT: QpAttr.Timeout,
  RETRY_CNT: QpAttr.RetryCount,
  RNR_RETRY: QpAttr.RnrRetry,
  RQ_PSN: QpAttr.RqPsn,
  MAX_QP_RD_ATOMIC: QpAttr.MaxQpRdAtomic,
  ALT_PATH: QpAttr.AltPath,
  MIN_RNR_TIMER: QpAttr.MinRnrTimer,
  SQ_PSN: QpAttr.SqPsn,
  MAX_DEST_RD_ATOMIC: QpAttr.MaxDestRdAtomic,
  PATH_MIG_STATE: QpAttr.PathMigState,
  DEST_QPN: QpAttr.DestQpn,
}

const STATES: Readonly<Record<string, QpState>> = {
  RESET: QpState.Reset,
  INIT: QpState.Init,
  RTR: QpState.Rtr,
  RTS: QpState.Rts,
  SQD: QpState.Sqd,
  SQE: QpState.Sqe,
  ERR: QpState.Err,
}

const maskOf = (names: string): number => {
  let mask = 0
  for (const name of names.trim().split(/\s+/)) {
    if (name === "") continue
    const bit = BITS[name]
    if (bit === undefined) throw new Error(`no attribute ${name}`)
    mask |= bit
  }
  return mask
}

export const TYPES: ReadonlyArray<DeviceQpType> = ["rc", "uc", "ud", "gsi", "srd"]
/** What EFA's driver refuses with EOPNOTSUPP, whatever the transition (EFA_MODIFY_QP_SUPP_MASK). */
export const EFA_REFUSES = ~(
  QpAttr.State |
  QpAttr.CurState |
  QpAttr.EnSqdAsyncNotify |
  QpAttr.PkeyIndex |
  QpAttr.Port |
  QpAttr.QueueKey |
  QpAttr.SqPsn |
  QpAttr.RnrRetry
)
export const STATE_NAMES: ReadonlyArray<string> = Object.keys(STATES)
export const ATTRIBUTE_BITS: ReadonlyArray<number> = Object.values(QpAttr).filter((bit) => bit !== QpAttr.State)
export const stateOf = (name: string): QpState => STATES[name]!

/** "rc INIT RTR" to what is required and optional. */
export const kernelTable: ReadonlyMap<string, { readonly required: number; readonly optional: number }> = (() => {
  const table = new Map<string, { required: number; optional: number }>()
  let way = ""
  for (const line of KERNEL.trim().split("\n")) {
    if (!line.startsWith(" ")) {
      way = line
      for (const type of TYPES) table.set(`${type} ${way}`, { required: 0, optional: 0 })
      continue
    }
    const [, type, rest] = /^ {2}(\w+) (.*)$/.exec(line)!
    const [required, optional] = rest!.split("/")
    table.set(`${type} ${way}`, { required: maskOf(required!), optional: maskOf(optional!) })
  }
  return table
})()

/** Every subset of a mask. */
export const subsetsOf = function* (mask: number): Generator<number> {
  for (let subset = mask; ; subset = (subset - 1) & mask) {
    yield subset
    if (subset === 0) return
  }
}
