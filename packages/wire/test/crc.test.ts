import { crc32 as zlibCrc32 } from "node:zlib"
import fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import { type Crc, crc16, crc32, crc32c } from "../src/Crc.ts"
import { crc32 as nodeCrc32 } from "../src/node.ts"

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
  ["crc32c", crc32c, 0x82f6_3b78, 0xffff_ffff, 0xe306_9283],
  ["crc16", crc16, 0xd008, 0xffff, 0x0a3d],
]

describe.each(all)("%s", (_, crc, polynomial, ones, check) => {
  it("the check value of 123456789", () => {
    expect(slow(new TextEncoder().encode("123456789"), polynomial, ones)).toBe(check)
    expect(crc(new TextEncoder().encode("123456789"))).toBe(check)
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
  }
})
