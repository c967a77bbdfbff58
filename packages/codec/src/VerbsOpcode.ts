import { type ExtendedHeader, opcodeOf } from "@rdmakit/wire/infiniband"
import { srdShapeOf } from "./SrdHeaders.ts"

/** The headers after a BTH that a packet record has room for, a bit each, and whether a payload may follow. */
export const Header = {
  Deth: 1,
  Xrceth: 2,
  Reth: 4,
  AtomicEth: 8,
  Aeth: 16,
  AtomicAckEth: 32,
  /** ImmDt or IETH: they are four octets that never come together. */
  Immediate: 64,
  Cnp: 128,
  Payload: 256,
  Known: 512,
  /** The whole header of SRD's model, by the opcode. */
  Srd: 1024,
} as const

const bits: Readonly<Partial<Record<ExtendedHeader, readonly [bit: number, bytes: number]>>> = {
  deth: [Header.Deth, 8],
  xrceth: [Header.Xrceth, 4],
  reth: [Header.Reth, 16],
  atomicEth: [Header.AtomicEth, 28],
  aeth: [Header.Aeth, 4],
  atomicAckEth: [Header.AtomicAckEth, 8],
  immDt: [Header.Immediate, 4],
  ieth: [Header.Immediate, 4],
  cnp: [Header.Cnp, 16],
}

/** Native InfiniBand's congestion notification: on RoCEv2 it is no opcode (IBTA 1.7 §A17.9.3). */
const CNP_NATIVE = 0x80

/** What the opcode has after the BTH: bits, and octets; 0 when a packet record cannot say it. */
const wordOf = (code: number): number => {
  const srd = srdShapeOf(code)
  if (srd !== undefined)
    return Header.Known | Header.Srd | (srd.payload ? Header.Payload : 0) | (srd.bytes << BYTES_SHIFT)
  const opcode = code === CNP_NATIVE ? undefined : opcodeOf(code)
  if (opcode === undefined) return 0
  let word: number = Header.Known | (opcode.payload ? Header.Payload : 0)
  for (const name of opcode.headers) {
    const known = bits[name]
    if (known === undefined) return 0
    word = (word | known[0]) + (known[1] << BYTES_SHIFT)
  }
  return word
}

/** Where the octets of the headers begin in a word of `opcodeHeaders`. */
export const BYTES_SHIFT = 16
/** For each opcode the bits of its headers, and from `BYTES_SHIFT` on their octets; 0: a packet record cannot say it. */
export const opcodeHeaders: Int32Array = /* @__PURE__ */ Int32Array.from({ length: 256 }, (_, code) => wordOf(code))
