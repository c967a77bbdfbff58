/*
 * Which changes of state a queue pair may make, and with which attributes: what Linux's ib_modify_qp_is_ok decides by its
 * qp_state_table (drivers/infiniband/core/verbs.c), which in turn is IBTA 1.7 §10.3 and ch. 11. SRD is EFA's driver's own
 * (drivers/infiniband/hw/efa/efa_verbs.c, srd_qp_state_table): as UD, with rnr_retry on the way to RTS.
 */
import { QpState, type QpType } from "@rdmakit/protocol"
import { QpAttr } from "./QpAttributes.ts"

/** The services of a device: those of a transport, and the general services queue pair, QP1. */
export type DeviceQpType = QpType | "gsi"

/** Attributes of one transition: `required` must be there, `optional` may. */
export interface QpTransition {
  readonly required: number
  readonly optional: number
}

const { Reset, Init, Rtr, Rts, Sqd, Sqe, Err } = QpState
const A = QpAttr

const NONE: QpTransition = { required: 0, optional: 0 }
const optional = (mask: number): QpTransition => ({ required: 0, optional: mask })

/** The same for every service. */
const all = (each: QpTransition): Readonly<Record<DeviceQpType, QpTransition>> => ({
  rc: each,
  uc: each,
  ud: each,
  gsi: each,
  srd: each,
})

const DATAGRAM_KEYS = A.PkeyIndex | A.QueueKey
const CONNECTED = A.PkeyIndex | A.Port | A.AccessFlags
const ADDRESS = A.Av | A.PathMtu | A.DestQpn | A.RqPsn
const MIGRATION = A.AltPath | A.AccessFlags | A.PathMigState
const TO_RTS = {
  rc: A.CurState | MIGRATION | A.MinRnrTimer,
  uc: A.CurState | MIGRATION,
  ud: A.CurState | A.QueueKey,
  gsi: A.CurState | A.QueueKey,
  srd: A.CurState | A.QueueKey,
}
const STAY_READY = {
  rc: optional(TO_RTS.rc),
  uc: optional(TO_RTS.uc),
  ud: optional(TO_RTS.ud),
  gsi: optional(TO_RTS.gsi),
  srd: optional(TO_RTS.srd),
}

type Row = Readonly<Partial<Record<QpState, Readonly<Record<DeviceQpType, QpTransition>>>>>

const table: Readonly<Record<QpState, Row>> = {
  // From RESET there is no way to ERR in the kernel's table, though IBTA 1.7 §10.3.1 has one from any state.
  [Reset]: {
    [Reset]: all(NONE),
    [Init]: {
      rc: { required: CONNECTED, optional: 0 },
      uc: { required: CONNECTED, optional: 0 },
      ud: { required: DATAGRAM_KEYS | A.Port, optional: 0 },
      gsi: { required: DATAGRAM_KEYS, optional: 0 },
      srd: { required: DATAGRAM_KEYS | A.Port, optional: 0 },
    },
  },
  [Init]: {
    [Reset]: all(NONE),
    [Err]: all(NONE),
    [Init]: {
      rc: optional(CONNECTED),
      uc: optional(CONNECTED),
      ud: optional(DATAGRAM_KEYS | A.Port),
      gsi: optional(DATAGRAM_KEYS),
      srd: optional(DATAGRAM_KEYS | A.Port),
    },
    [Rtr]: {
      rc: {
        required: ADDRESS | A.MaxDestRdAtomic | A.MinRnrTimer,
        optional: A.AltPath | A.AccessFlags | A.PkeyIndex,
      },
      uc: { required: ADDRESS, optional: A.AltPath | A.AccessFlags | A.PkeyIndex },
      ud: optional(DATAGRAM_KEYS),
      gsi: optional(DATAGRAM_KEYS),
      srd: optional(DATAGRAM_KEYS),
    },
  },
  [Rtr]: {
    [Reset]: all(NONE),
    [Err]: all(NONE),
    [Rts]: {
      rc: {
        required: A.Timeout | A.RetryCount | A.RnrRetry | A.SqPsn | A.MaxQpRdAtomic,
        optional: TO_RTS.rc,
      },
      uc: { required: A.SqPsn, optional: TO_RTS.uc },
      ud: { required: A.SqPsn, optional: TO_RTS.ud },
      gsi: { required: A.SqPsn, optional: TO_RTS.gsi },
      srd: { required: A.SqPsn, optional: TO_RTS.srd | A.RnrRetry },
    },
  },
  [Rts]: {
    [Reset]: all(NONE),
    [Err]: all(NONE),
    [Rts]: STAY_READY,
    [Sqd]: all(optional(A.EnSqdAsyncNotify)),
  },
  [Sqd]: {
    [Reset]: all(NONE),
    [Err]: all(NONE),
    [Rts]: STAY_READY,
    [Sqd]: {
      rc: optional(
        A.Port |
          A.Av |
          A.Timeout |
          A.RetryCount |
          A.RnrRetry |
          A.MaxQpRdAtomic |
          A.MaxDestRdAtomic |
          MIGRATION |
          A.PkeyIndex |
          A.MinRnrTimer,
      ),
      uc: optional(A.Av | MIGRATION | A.PkeyIndex),
      ud: optional(DATAGRAM_KEYS),
      gsi: optional(DATAGRAM_KEYS),
      srd: optional(DATAGRAM_KEYS),
    },
  },
  [Sqe]: {
    [Reset]: all(NONE),
    [Err]: all(NONE),
    // The kernel has the transition for RC too, without attributes, but no RC queue pair is ever in SQE.
    [Rts]: {
      rc: NONE,
      uc: optional(A.CurState | A.AccessFlags),
      ud: optional(A.CurState | A.QueueKey),
      gsi: optional(A.CurState | A.QueueKey),
      srd: optional(A.CurState | A.QueueKey),
    },
  },
  [Err]: {
    [Reset]: all(NONE),
    [Err]: all(NONE),
  },
}

/** What EFA's driver takes of an SRD queue pair at all (EFA_MODIFY_QP_SUPP_MASK). */
const SRD_ATTRIBUTES = A.State | A.CurState | A.EnSqdAsyncNotify | DATAGRAM_KEYS | A.Port | A.SqPsn | A.RnrRetry

/** Attributes that queue pairs of this type never take, whatever the transition. */
export const unsupportedAttributes = (type: DeviceQpType, mask: number): number =>
  type === "srd" ? mask & ~SRD_ATTRIBUTES : 0

/** The attributes of a transition; undefined: there is none from here to there. */
export const qpTransition = (type: DeviceQpType, from: QpState, to: QpState): QpTransition | undefined =>
  table[from]?.[to]?.[type]

/** What is wrong with a mask; undefined: nothing. */
export type QpRefusal =
  | { readonly type: "transition" }
  | { readonly type: "current" }
  | { readonly type: "missing"; readonly mask: number }
  | { readonly type: "forbidden"; readonly mask: number }

const CURRENT_STATES: ReadonlySet<QpState> = new Set([Rtr, Rts, Sqd, Sqe])

/** What ib_modify_qp_is_ok says of a mask of `QpAttr` bits. */
export const checkQpTransition = (
  type: DeviceQpType,
  from: QpState,
  to: QpState,
  mask: number,
): QpRefusal | undefined => {
  if ((mask & A.CurState) !== 0 && !CURRENT_STATES.has(from)) return { type: "current" }
  const transition = qpTransition(type, from, to)
  if (transition === undefined) return { type: "transition" }
  const missing = transition.required & ~mask
  if (missing !== 0) return { type: "missing", mask: missing }
  const forbidden = mask & ~(transition.required | transition.optional | A.State)
  if (forbidden !== 0) return { type: "forbidden", mask: forbidden }
  return undefined
}

const NAMES = ["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"] as const

/** As rdma-core prints it. */
export const qpStateName = (state: QpState): string => NAMES[state] ?? String(state)
