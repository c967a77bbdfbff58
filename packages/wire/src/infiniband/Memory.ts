import { layout } from "../Layout.ts"
import { put32, put64, space, u32, u64, uint, uint64 } from "../Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, shortage, wrong } from "../Result.ts"

/** RDMA extended transport header (IBTA 1.7 §9.2.5). */
export interface Reth {
  /** 64 bits. */
  readonly virtualAddress: bigint
  readonly remoteKey: number
  /** Octets of the whole message, not of this packet: 32 bits, of which responders refuse more than 2^31. */
  readonly dmaBytes: number
}

/** Atomic extended transport header (IBTA 1.7 §9.2.6). */
export interface AtomicEth {
  readonly virtualAddress: bigint
  readonly remoteKey: number
  /** What is swapped in, or added: 64 bits. */
  readonly swapAdd: bigint
  /** What is compared with; not used by FETCH & ADD. */
  readonly compare: bigint
}

/** Atomic ACK extended transport header (IBTA 1.7 §9.2.10). */
export interface AtomicAckEth {
  /** What memory held before, 64 bits. */
  readonly original: bigint
}

/** Immediate data (IBTA 1.7 §9.2.7). */
export interface ImmDt {
  /** 32 bits as they are on the wire, never negative. */
  readonly immediate: number
}

/** Invalidate extended transport header (IBTA 1.7 §9.2.8). */
export interface Ieth {
  readonly remoteKey: number
}

/** FLUSH extended transport header (IBTA 1.7 §A19). */
export interface Feth {
  /** What is flushed: the octets that the RETH names, or all of the memory region. */
  readonly selectivity: "range" | "region"
  readonly globalVisibility: boolean
  readonly persistence: boolean
}

export const RETH_BYTES = 16
export const ATOMIC_ETH_BYTES = 28
export const ATOMIC_ACK_ETH_BYTES = 8
export const IMM_DT_BYTES = 4
export const IETH_BYTES = 4
export const FETH_BYTES = 4
/** What an ATOMIC WRITE carries as payload. */
export const ATOMIC_WRITE_BYTES = 8

export const RETH = /* @__PURE__ */ layout("reth", "virtualAddress:64 remoteKey:32 dmaBytes:32")
export const ATOMIC_ETH = /* @__PURE__ */ layout("atomicEth", "virtualAddress:64 remoteKey:32 swapAdd:64 compare:64")
export const ATOMIC_ACK_ETH = /* @__PURE__ */ layout("atomicAckEth", "original:64")
export const IMM_DT = /* @__PURE__ */ layout("immDt", "immediate:32")
export const IETH = /* @__PURE__ */ layout("ieth", "remoteKey:32")
export const FETH = /* @__PURE__ */ layout("feth", "_:26 selectivity:2 _:2 persistence:1 globalVisibility:1")

export const parseReth = (octets: Uint8Array, start = 0, end = octets.length): Parse<Reth> => {
  const short = shortage("reth", octets, start, end, RETH_BYTES)
  if (short !== undefined) return short
  const value: Reth = {
    virtualAddress: u64(octets, start),
    remoteKey: u32(octets, start + 8),
    dmaBytes: u32(octets, start + 12),
  }
  return parsed(value, start + RETH_BYTES, end)
}

export const emitReth = (value: Reth, octets: Uint8Array, start = 0): number => {
  space(octets, start, RETH_BYTES, "reth")
  put64(octets, start, uint64(value.virtualAddress, "reth", "virtualAddress"))
  put32(octets, start + 8, uint(value.remoteKey, 32, "reth", "remoteKey"))
  put32(octets, start + 12, uint(value.dmaBytes, 32, "reth", "dmaBytes"))
  return start + RETH_BYTES
}

export const parseAtomicEth = (octets: Uint8Array, start = 0, end = octets.length): Parse<AtomicEth> => {
  const short = shortage("atomicEth", octets, start, end, ATOMIC_ETH_BYTES)
  if (short !== undefined) return short
  const value: AtomicEth = {
    virtualAddress: u64(octets, start),
    remoteKey: u32(octets, start + 8),
    swapAdd: u64(octets, start + 12),
    compare: u64(octets, start + 20),
  }
  return parsed(value, start + ATOMIC_ETH_BYTES, end)
}

export const emitAtomicEth = (value: AtomicEth, octets: Uint8Array, start = 0): number => {
  space(octets, start, ATOMIC_ETH_BYTES, "atomicEth")
  put64(octets, start, uint64(value.virtualAddress, "atomicEth", "virtualAddress"))
  put32(octets, start + 8, uint(value.remoteKey, 32, "atomicEth", "remoteKey"))
  put64(octets, start + 12, uint64(value.swapAdd, "atomicEth", "swapAdd"))
  put64(octets, start + 20, uint64(value.compare, "atomicEth", "compare"))
  return start + ATOMIC_ETH_BYTES
}

export const parseAtomicAckEth = (octets: Uint8Array, start = 0, end = octets.length): Parse<AtomicAckEth> => {
  const short = shortage("atomicAckEth", octets, start, end, ATOMIC_ACK_ETH_BYTES)
  if (short !== undefined) return short
  return parsed({ original: u64(octets, start) }, start + ATOMIC_ACK_ETH_BYTES, end)
}

export const emitAtomicAckEth = (value: AtomicAckEth, octets: Uint8Array, start = 0): number => {
  space(octets, start, ATOMIC_ACK_ETH_BYTES, "atomicAckEth")
  put64(octets, start, uint64(value.original, "atomicAckEth", "original"))
  return start + ATOMIC_ACK_ETH_BYTES
}

export const parseImmDt = (octets: Uint8Array, start = 0, end = octets.length): Parse<ImmDt> => {
  const short = shortage("immDt", octets, start, end, IMM_DT_BYTES)
  if (short !== undefined) return short
  return parsed({ immediate: u32(octets, start) }, start + IMM_DT_BYTES, end)
}

export const emitImmDt = (value: ImmDt, octets: Uint8Array, start = 0): number => {
  space(octets, start, IMM_DT_BYTES, "immDt")
  put32(octets, start, uint(value.immediate, 32, "immDt", "immediate"))
  return start + IMM_DT_BYTES
}

export const parseIeth = (octets: Uint8Array, start = 0, end = octets.length): Parse<Ieth> => {
  const short = shortage("ieth", octets, start, end, IETH_BYTES)
  if (short !== undefined) return short
  return parsed({ remoteKey: u32(octets, start) }, start + IETH_BYTES, end)
}

export const emitIeth = (value: Ieth, octets: Uint8Array, start = 0): number => {
  space(octets, start, IETH_BYTES, "ieth")
  put32(octets, start, uint(value.remoteKey, 32, "ieth", "remoteKey"))
  return start + IETH_BYTES
}

/** Fails for a reserved selectivity or placement. */
export const parseFeth = (octets: Uint8Array, start = 0, end = octets.length): Parse<Feth> => {
  const short = shortage("feth", octets, start, end, FETH_BYTES)
  if (short !== undefined) return short
  const word = u32(octets, start)
  const selectivity = (word >>> 4) & 3
  if (selectivity > 1) return failed("reserved", "feth", "selectivity", start + 3, selectivity, "0 or 1")
  if ((word & 12) !== 0) return failed("reserved", "feth", "placement", start + 3, word & 15, "0 to 3")
  const value: Feth = {
    selectivity: selectivity === 0 ? "range" : "region",
    globalVisibility: (word & 1) !== 0,
    persistence: (word & 2) !== 0,
  }
  const reserved = word >>> 6
  const faults = reserved === 0 ? NO_FAULTS : [wrong("ignored", "feth", "reserved", start, reserved, "0")]
  return parsed(value, start + FETH_BYTES, end, faults)
}

export const emitFeth = (value: Feth, octets: Uint8Array, start = 0): number => {
  space(octets, start, FETH_BYTES, "feth")
  const selectivity = value.selectivity === "range" ? 0 : 16
  put32(octets, start, selectivity | (value.persistence ? 2 : 0) | (value.globalVisibility ? 1 : 0))
  return start + FETH_BYTES
}
