import { crc32 as zlibCrc32 } from "node:zlib"
import fc from "fast-check"
import { afterEach, describe, expect, it, test, vi } from "vitest"
import { type Crc, crc16, crc32, crc32c } from "../src/Crc.ts"
import { makeSimdCrc } from "../src/crc/Simd.ts"
import { nibbleTables } from "../src/crc/SimdTables.ts"
import { crc32 as nodeCrc32 } from "../src/node.ts"
import { crc32 as simdCrc32, crc32c as simdCrc32c } from "../src/simd.ts"

/** The definition, bit by bit. */
const slow = (octets: Uint8Array, polynomial: number, ones: number): number => {
  let crc = ones
  for (const octet of octets) {
    crc ^= octet
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ polynomial : crc >>> 1
  }
  return (crc ^ ones) >>> 0
}

const all: ReadonlyArray<readonly [string, Crc, number, number, number]> = [
  ["crc32", crc32, 0xedb8_8320, 0xffff_ffff, 0xcbf4_3926],
  ["crc32 in Node", nodeCrc32, 0xedb8_8320, 0xffff_ffff, 0xcbf4_3926],
  ["crc32 by vectors", simdCrc32, 0xedb8_8320, 0xffff_ffff, 0xcbf4_3926],
  ["crc32c by vectors", simdCrc32c, 0x82f6_3b78, 0xffff_ffff, 0xe306_9283],
  ["crc32c", crc32c, 0x82f6_3b78, 0xffff_ffff, 0xe306_9283],
  ["crc16", crc16, 0xd008, 0xffff, 0x0a3d],
]

describe.each(all)("%s", (_, crc, polynomial, ones, check) => {
  it("the check value of 123456789", () => {
    expect(slow(new TextEncoder().encode("123456789"), polynomial, ones)).toBe(check)
    expect(crc(new TextEncoder().encode("123456789"))).toBe(check)
  })

  it("refuses octets that are not there", () => {
    const octets = new Uint8Array(1000)
    for (const [start, end] of [
      [0, 1001],
      [-5, 900],
      [900, 1010],
      [0, Number.POSITIVE_INFINITY],
      [0.5, 900],
      [Number.NaN, 900],
    ] as const)
      expect(() => crc(octets, start, end)).toThrow(RangeError)
    for (const other of ["abc", undefined, null, 7]) {
      expect(() => crc(other as unknown as Uint8Array, 0, 0)).toThrow(TypeError)
    }
  })

  it("any octets, at any place, in any parts", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 700, size: "max" }), fc.nat(20), fc.nat(700), (octets, start, cut) => {
        const from = Math.min(start, octets.length)
        const middle = Math.min(from + cut, octets.length)
        const whole = crc(octets, from)
        expect(whole).toBe(slow(octets.subarray(from), polynomial, ones))
        expect(crc(octets, middle, octets.length, crc(octets, from, middle))).toBe(whole)
        expect(crc(octets.subarray(from))).toBe(whole)
      }),
    )
  })
})

test("CRC-32 is zlib's, for long input too", () => {
  const octets = Uint8Array.from({ length: 70_001 }, (_, at) => (at * 2_654_435_761) >>> 24)
  for (const start of [0, 1, 2, 3, 7]) {
    expect(crc32(octets, start)).toBe(zlibCrc32(octets.subarray(start)))
    expect(nodeCrc32(octets, start)).toBe(zlibCrc32(octets.subarray(start)))
    expect(simdCrc32(octets, start)).toBe(zlibCrc32(octets.subarray(start)))
  }
})

describe("by vectors", () => {
  const octets = Uint8Array.from({ length: 4096 }, (_, at) => (at * 2_654_435_761) >>> 24)
  const none: Crc = () => {
    throw new Error("in plain JavaScript")
  }
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  it("takes packets without the plain way, of every length and from every place", () => {
    const crc = makeSimdCrc(0xedb8_8320, none)
    for (let bytes = 320; bytes < 620; bytes++) {
      const start = bytes % 17
      expect(crc(octets, start, start + bytes, bytes)).toBe(zlibCrc32(octets.subarray(start, start + bytes), bytes))
    }
    expect(() => crc(octets, 0, 100)).toThrow("in plain JavaScript")
  })

  it("without relaxed swizzles as with them", () => {
    const { WebAssembly } = globalThis as unknown as { WebAssembly: { validate: (program: Uint8Array) => boolean } }
    const { validate } = WebAssembly
    let asked = 0
    vi.spyOn(WebAssembly, "validate").mockImplementation((program) => asked++ > 0 && validate(program))
    expect(makeSimdCrc(0x82f6_3b78, none)(octets)).toBe(crc32c(octets))
    expect(asked).toBe(2)
    vi.restoreAllMocks()
  })

  it("where there are none, or no memory for them, in plain JavaScript", () => {
    vi.stubGlobal("WebAssembly", undefined)
    expect(makeSimdCrc(0xedb8_8320, crc32)(octets)).toBe(zlibCrc32(octets))
    vi.stubGlobal("WebAssembly", {
      validate: () => true,
      Memory: class {
        constructor() {
          throw new RangeError("could not allocate memory")
        }
      },
    })
    expect(makeSimdCrc(0xedb8_8320, crc32)(octets)).toBe(zlibCrc32(octets))
  })

  it("a polynomial of sixteen bits is refused: its CRCs are not of 32 bits", () => {
    expect(() => nibbleTables(0xd008)).toThrow(RangeError)
  })
})
