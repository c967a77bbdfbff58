import type { Crc } from "./Crc32.ts"
import { DATA_AT, NIBBLES_AT, OCTETS_AT, simdProgram } from "./SimdProgram.ts"
import { nibbleTables, STEP_BYTES } from "./SimdTables.ts"
import { crcTables, LITTLE_ENDIAN } from "./Tables.ts"

type Whole = (at: number, left: number, crc: number) => number

/** What is used of WebAssembly, whose types come only with those of browsers. */
interface WithWebAssembly {
  readonly WebAssembly?: {
    readonly validate: (octets: Uint8Array) => boolean
    readonly Memory: new (pages: { readonly initial: number }) => { readonly buffer: ArrayBuffer }
    readonly Module: new (octets: Uint8Array) => object
    readonly Instance: new (module: object, imports: object) => { readonly exports: object }
  }
}

/** Below so many octets the copy costs more than is saved. */
const SIMD_FROM = 320
const PAGE_BYTES = 1 << 16
const DATA_BYTES = PAGE_BYTES
const PAGES = 2

/** The program, and where its data goes. */
interface Engine {
  readonly whole: Whole
  readonly data: Uint8Array
}

const start = (polynomial: number): Engine | undefined => {
  const { WebAssembly } = globalThis as WithWebAssembly
  if (WebAssembly === undefined || !LITTLE_ENDIAN) return undefined
  const program = [simdProgram(true), simdProgram(false)].find((octets) => WebAssembly.validate(octets))
  if (program === undefined) return undefined
  try {
    const memory = new WebAssembly.Memory({ initial: PAGES })
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(program), { m: { m: memory } })
    new Uint8Array(memory.buffer).set(nibbleTables(polynomial), NIBBLES_AT)
    new Int32Array(memory.buffer).set(crcTables(polynomial).subarray(0, 2048), OCTETS_AT / 4)
    return { whole: (exports as { whole: Whole }).whole, data: new Uint8Array(memory.buffer, DATA_AT, DATA_BYTES) }
  } catch {
    // A page may not run code, or there is no room for the memory's guard pages.
    return undefined
  }
}

/** The CRC of a reflected polynomial, all ones before and after; `plain` for what is short, and where there are no vectors. */
export const makeSimdCrc = (polynomial: number, plain: Crc): Crc => {
  let engine: Engine | undefined
  let started = false
  return (octets, from = 0, to = octets.length, previous = 0) => {
    const isThere = Number.isInteger(from) && from >= 0 && to <= octets.length
    if (!isThere || to - from < SIMD_FROM) return plain(octets, from, to, previous)
    if (!started) {
      started = true
      engine = start(polynomial)
    }
    if (engine === undefined) return plain(octets, from, to, previous)
    const { whole, data } = engine
    let crc = ~previous
    let at = from
    while (to - at >= SIMD_FROM) {
      const bytes = Math.min(to - at, DATA_BYTES)
      data.set(at === 0 && bytes === octets.length ? octets : octets.subarray(at, at + bytes))
      // Zeros in front of a CRC's octets, with zeros as its state, change nothing.
      const zeros = (STEP_BYTES - (bytes % STEP_BYTES)) % STEP_BYTES
      crc = whole(DATA_AT - zeros, zeros + bytes, crc)
      at += bytes
    }
    return at === to ? ~crc >>> 0 : plain(octets, at, to, ~crc >>> 0)
  }
}
