import { Access, type QpState, type WcOpcode, type WcStatus } from "@rdmakit/protocol"
import { VerbsError, wrongType } from "./VerbsError.ts"

/** By code: the name after IBV_WC_, what `ibv_wc_status_str` prints, and what to look at. */
const STATUSES = [
  ["SUCCESS", "success", ""],
  ["LOC_LEN_ERR", "local length error", "the receive, which is shorter than the message"],
  [
    "LOC_QP_OP_ERR",
    "local QP operation error",
    "a request that the service has not, or a receive too short for what came",
  ],
  ["LOC_EEC_OP_ERR", "local EE context operation error", ""],
  ["LOC_PROT_ERR", "local protection error", "an lkey, address or length that no local region covers"],
  [
    "WR_FLUSH_ERR",
    "Work Request Flushed Error",
    "the queue pair was in error already: the first other status says why",
  ],
  ["MW_BIND_ERR", "memory management operation error", "the window, its region's MwBind access or its bounds"],
  ["BAD_RESP_ERR", "bad response error", "the peer, which answered with an opcode that fits no request"],
  ["LOC_ACCESS_ERR", "local access error", "a local region without local-write"],
  [
    "REM_INV_REQ_ERR",
    "remote invalid request error",
    "an operation that the peer's queue pair does not take, or does not allow",
  ],
  [
    "REM_ACCESS_ERR",
    "remote access error",
    "the rkey (no lkey), its bounds, and the access flags of region and queue pair there",
  ],
  [
    "REM_OP_ERR",
    "remote operation error",
    "the peer's receive, which is too short, or its completions; of SRD, that the peer has an address handle for this side",
  ],
  [
    "RETRY_EXC_ERR",
    "transport retry counter exceeded",
    "why nobody answers: the peer's state and numbers, its address, the hop limit, links that are down",
  ],
  [
    "RNR_RETRY_EXC_ERR",
    "RNR retry counter exceeded",
    "the peer's receives, too few or too late: post more, or connect with rnrRetry 7",
  ],
  ["LOC_RDD_VIOL_ERR", "local RDD violation error", ""],
  [
    "REM_INV_RD_REQ_ERR",
    "remote invalid RD request",
    "of SRD, the queue pair that it was for: its number, its state, its queue key",
  ],
  ["REM_ABORT_ERR", "aborted error", ""],
  ["INV_EECN_ERR", "invalid EE context number", ""],
  ["INV_EEC_STATE_ERR", "invalid EE context state", ""],
  ["FATAL_ERR", "fatal error", ""],
  [
    "RESP_TIMEOUT_ERR",
    "response timeout error",
    "of SRD, the peer's address and the links to it: nobody answers there",
  ],
  ["GENERAL_ERR", "general error", ""],
  ["TM_ERR", "TM error", ""],
  ["TM_RNDV_INCOMPLETE", "TM software rendezvous", ""],
] as const

/** `ibv_wc_status` without IBV_WC_. */
export type StatusName = (typeof STATUSES)[number][0]

/** @param status 0 to 23; another is GENERAL_ERR */
export const statusName = (status: WcStatus): StatusName => STATUSES[status]?.[0] ?? "GENERAL_ERR"

/** What `ibv_wc_status_str` prints. */
export const statusText = (status: WcStatus): string => STATUSES[status]?.[1] ?? "unknown"

/** What to look at when a work request ends with this status; empty when there is nothing to say. */
export const statusAdvice = (status: WcStatus): string => STATUSES[status]?.[2] ?? ""

const OPCODES = {
  0: "SEND",
  1: "RDMA_WRITE",
  2: "RDMA_READ",
  3: "COMP_SWAP",
  4: "FETCH_ADD",
  5: "BIND_MW",
  6: "LOCAL_INV",
  9: "ATOMIC_WRITE",
  128: "RECV",
  129: "RECV_RDMA_WITH_IMM",
} as const satisfies Record<WcOpcode, string>

/** `ibv_wc_opcode` without IBV_WC_. */
export type OpcodeName = (typeof OPCODES)[WcOpcode]

export const opcodeName = (opcode: WcOpcode): OpcodeName => OPCODES[opcode]

const STATES = ["RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"] as const

/** `ibv_qp_state` without IBV_QPS_. */
export type StateName = (typeof STATES)[number]

export const stateName = (state: QpState): StateName => STATES[state]

export const stateOf = (name: StateName): QpState => STATES.indexOf(name) as QpState

const ACCESS = {
  "local-write": Access.LocalWrite,
  "remote-write": Access.RemoteWrite,
  "remote-read": Access.RemoteRead,
  "remote-atomic": Access.RemoteAtomic,
  "mw-bind": Access.MwBind,
  "zero-based": Access.ZeroBased,
} as const

/** `ibv_access_flags`, in words. */
export type AccessName = keyof typeof ACCESS

/** The bits of `ibv_access_flags` for names. @throws VerbsError EINVAL for a name that is none */
export const accessBits = (names: ReadonlyArray<AccessName>, verb = "reg_mr", attribute = "access"): number => {
  const remedy = `use ${Object.keys(ACCESS).join(", ")}`
  if (!Array.isArray(names as unknown)) throw wrongType(verb, attribute, names, `give an array of names: ${remedy}`)
  let bits = 0
  for (const name of names) {
    if (!Object.hasOwn(ACCESS, name)) {
      throw new VerbsError({
        errno: "EINVAL",
        verb,
        attribute,
        problem: `"${name}" is no access flag`,
        remedy,
      })
    }
    bits |= ACCESS[name]
  }
  return bits
}

/** The names of bits, in the order of the bits. */
export const accessNames = (bits: number): ReadonlyArray<AccessName> =>
  (Object.keys(ACCESS) as Array<AccessName>).filter((name) => (bits & ACCESS[name]) !== 0)
