import type { Completion } from "@rdmakit/protocol"

import type { CompletionAnswer } from "./VerbsPeer.ts"

/** Numbers of errors on Linux, by name. */
export const ERRNO: Readonly<Record<string, number>> = {
  ENOMEM: 12,
  EFAULT: 14,
  EBUSY: 16,
  EINVAL: 22,
  ENODATA: 61,
  EOPNOTSUPP: 95,
  EHOSTUNREACH: 113,
}
/** As ibv_event_type_str has them. */
export const EVENTS: Readonly<Record<string, string>> = {
  CQ_ERR: "CQ error",
  QP_FATAL: "local work queue catastrophic error",
  QP_REQ_ERR: "invalid request local work queue error",
  QP_ACCESS_ERR: "local access violation work queue error",
  COMM_EST: "communication established",
  SQ_DRAINED: "send queue drained",
  QP_LAST_WQE_REACHED: "last WQE reached",
  SRQ_LIMIT_REACHED: "SRQ limit reached",
}

/** A completion, as the guest's program prints it. */
export const completionAnswer = (one: Completion): CompletionAnswer =>
  one.status !== 0
    ? { id: one.id, status: one.status }
    : {
        id: one.id,
        status: 0,
        opcode: one.opcode,
        bytes: one.byteLength,
        immediate: one.immediate,
        invalidated: one.invalidatedKey,
        grh: one.grh,
        source: one.sourceQp,
      }
