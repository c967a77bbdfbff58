import { layout } from "../Layout.ts"
import { put24, put32, space, u24, u32, uint } from "../Octets.ts"
import { NO_FAULTS, type Parse, parsed, shortage, type WireError, wrong } from "../Result.ts"

/** Datagram extended transport header (IBTA 1.7 §9.2.4). */
export interface Deth {
  /** 32 bits; queue pair 1 has 0x80010000. */
  readonly queueKey: number
  /** 24 bits. */
  readonly sourceQp: number
}

/** Reliable datagram extended transport header (IBTA 1.7 §9.2.3). */
export interface Rdeth {
  /** End-to-end context, 24 bits. */
  readonly context: number
}

/** Extended reliable connected header (IBTA 1.7 §A14). */
export interface Xrceth {
  /** Shared receive queue, 24 bits. */
  readonly receiveQueue: number
}

export const DETH_BYTES = 8
export const RDETH_BYTES = 4
export const XRCETH_BYTES = 4
/** The queue key of queue pair 1, where connection management talks. */
export const GENERAL_SERVICE_QUEUE_KEY = 0x8001_0000

export const DETH = /* @__PURE__ */ layout("deth", "queueKey:32 _:8 sourceQp:24")
export const RDETH = /* @__PURE__ */ layout("rdeth", "_:8 context:24")
export const XRCETH = /* @__PURE__ */ layout("xrceth", "_:8 receiveQueue:24")

const reserved = (format: string, octets: Uint8Array, at: number): ReadonlyArray<WireError> =>
  octets[at] === 0 ? NO_FAULTS : [wrong("ignored", format, "reserved", at, octets[at]!, "0")]

export const parseDeth = (octets: Uint8Array, start = 0, end = octets.length): Parse<Deth> => {
  const short = shortage("deth", octets, start, end, DETH_BYTES)
  if (short !== undefined) return short
  const value = { queueKey: u32(octets, start), sourceQp: u24(octets, start + 5) }
  return parsed(value, start + DETH_BYTES, end, reserved("deth", octets, start + 4))
}

export const emitDeth = (value: Deth, octets: Uint8Array, start = 0): number => {
  space(octets, start, DETH_BYTES, "deth")
  put32(octets, start, uint(value.queueKey, 32, "deth", "queueKey"))
  octets[start + 4] = 0
  put24(octets, start + 5, uint(value.sourceQp, 24, "deth", "sourceQp"))
  return start + DETH_BYTES
}

export const parseRdeth = (octets: Uint8Array, start = 0, end = octets.length): Parse<Rdeth> => {
  const short = shortage("rdeth", octets, start, end, RDETH_BYTES)
  if (short !== undefined) return short
  return parsed({ context: u24(octets, start + 1) }, start + RDETH_BYTES, end, reserved("rdeth", octets, start))
}

export const emitRdeth = (value: Rdeth, octets: Uint8Array, start = 0): number => {
  space(octets, start, RDETH_BYTES, "rdeth")
  put32(octets, start, uint(value.context, 24, "rdeth", "context"))
  return start + RDETH_BYTES
}

export const parseXrceth = (octets: Uint8Array, start = 0, end = octets.length): Parse<Xrceth> => {
  const short = shortage("xrceth", octets, start, end, XRCETH_BYTES)
  if (short !== undefined) return short
  return parsed({ receiveQueue: u24(octets, start + 1) }, start + XRCETH_BYTES, end, reserved("xrceth", octets, start))
}

export const emitXrceth = (value: Xrceth, octets: Uint8Array, start = 0): number => {
  space(octets, start, XRCETH_BYTES, "xrceth")
  put32(octets, start, uint(value.receiveQueue, 24, "xrceth", "receiveQueue"))
  return start + XRCETH_BYTES
}
