import { layout, readFields, reservedFaults, writeFields } from "../Layout.ts"
import { EmitError, put32, put32le, space, u32, u32le, uint } from "../Octets.ts"
import { failed, type Parse, parsed, shortage, wrong } from "../Result.ts"
import { ErdmaOpcode } from "./Send.ts"

/** A word that comes with a message. */
export type ErdmaNotice =
  | { readonly kind: "none" }
  | { readonly kind: "immediate"; readonly immediate: number }
  | { readonly kind: "invalidated"; readonly remoteKey: number }

/** A completion of eRDMA, 32 octets, big-endian but for an immediate (erdma_hw.h, `erdma_cqe`). */
export interface ErdmaCompletion {
  /** Toggles each time the ring wraps. */
  readonly owner: boolean
  /** 0 to 18 and 20, see `ErdmaOpcode`. */
  readonly opcode: number
  readonly queue: "send" | "receive" | "command"
  /** 0 done; {@link erdmaStatusText} has it in words. */
  readonly syndrome: number
  /** Which entry of the queue it completes. */
  readonly index: number
  readonly qp: number
  readonly notice: ErdmaNotice
  readonly bytes: number
}

export const ERDMA_COMPLETION_BYTES = 32
const queues = ["send", "receive", "command"] as const

export const ERDMA_COMPLETION = /* @__PURE__ */ layout(
  "erdmaCompletion",
  "owner:1 _:7 opcode:8 queueType:8 syndrome:8 index:32 qp:32 notice:32 bytes:32 _:32 _:32 _:32",
)

const noticeOf = (opcode: number): ErdmaNotice["kind"] => {
  const { ReceiveImmediate, ReceiveInvalidate, ResponseSendImmediate } = ErdmaOpcode
  if (opcode === ReceiveImmediate || opcode === ResponseSendImmediate) return "immediate"
  return opcode === ReceiveInvalidate ? "invalidated" : "none"
}

/** Fails for a queue type from 3 on. The word in the middle is read by the opcode; where none belongs it is a fault. */
export const parseErdmaCompletion = (octets: Uint8Array, start = 0, end = octets.length): Parse<ErdmaCompletion> => {
  const short = shortage("erdmaCompletion", octets, start, end, ERDMA_COMPLETION_BYTES)
  if (short !== undefined) return short
  const { queueType, notice: word, ...rest } = readFields(ERDMA_COMPLETION, octets, start)
  const queue = queues[queueType]
  if (queue === undefined) return failed("reserved", "erdmaCompletion", "queueType", start + 2, queueType, "0 to 2")
  const faults = [...reservedFaults(ERDMA_COMPLETION, octets, start)]
  const kind = noticeOf(rest.opcode)
  if (kind === "none" && word !== 0) faults.push(wrong("ignored", "erdmaCompletion", "notice", start + 12, word, "0"))
  const notice: ErdmaNotice =
    kind === "immediate"
      ? { kind, immediate: u32le(octets, start + 12) }
      : kind === "invalidated"
        ? { kind, remoteKey: u32(octets, start + 12) }
        : { kind }
  return parsed<ErdmaCompletion>({ ...rest, queue, notice }, start + ERDMA_COMPLETION_BYTES, end, faults)
}

export const emitErdmaCompletion = (value: ErdmaCompletion, octets: Uint8Array, start = 0): number => {
  const { queue, notice, ...rest } = value
  space(octets, start, ERDMA_COMPLETION_BYTES, "erdmaCompletion")
  if (notice.kind !== noticeOf(rest.opcode))
    throw new EmitError("erdmaCompletion", "notice", rest.opcode, `an opcode with ${notice.kind}`)
  writeFields(ERDMA_COMPLETION, { ...rest, queueType: queues.indexOf(queue), notice: 0 }, octets, start)
  if (notice.kind === "immediate")
    put32le(octets, start + 12, uint(notice.immediate, 32, "erdmaCompletion", "immediate"))
  else if (notice.kind === "invalidated")
    put32(octets, start + 12, uint(notice.remoteKey, 32, "erdmaCompletion", "remoteKey"))
  return start + ERDMA_COMPLETION_BYTES
}

const statuses = [
  "done",
  "general error",
  "receive: malformed entry",
  "receive: invalid STag",
  "receive: address out of bounds",
  "receive: no right to it",
  "receive: other protection domain",
  "receive: address wraps",
  "send: malformed entry",
  "send: more READs than the peer takes",
  "send: invalid STag",
  "send: address out of bounds",
  "send: no right to it",
  "send: other protection domain",
  "send: address wraps",
  "flushed",
  "retries exhausted",
]

/** A syndrome in words: "receive: invalid STag" (erdma_hw.h, `erdma_wc_status`). */
export const erdmaStatusText = (syndrome: number): string => statuses[syndrome] ?? `status ${syndrome}`
