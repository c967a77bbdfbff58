import { CaptureError, CaptureReader, PcapngWriter } from "@rdmakit/pcap"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { captureOf, enhancedPacket, interfaceBlock, join, order, sectionHeader } from "./octets.ts"

/** Reads everything, touching all of it, and answers how it ended. Whatever is thrown but the typed error is ours. */
const outcome = (octets: Uint8Array, chunk: number): string => {
  const reader = new CaptureReader()
  let said = ""
  const buffer = new Uint8Array(chunk)
  const drain = (): void => {
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      said += record.kind
      if (record.kind !== "packet") continue
      expect(record.data.length).toBe(record.capturedOctets)
      said += `${record.timePs}${record.data.reduce((sum, octet) => (sum * 31 + octet) >>> 0, 0)}`
      said += record.options.map(({ value }) => value.length).join()
    }
  }
  try {
    // One buffer for all chunks, as files are read: a view kept too long would show.
    for (let at = 0; at < octets.length; at += chunk) {
      const part = octets.subarray(at, at + chunk)
      buffer.set(part)
      reader.push(buffer.subarray(0, part.length))
      drain()
      buffer.fill(0xee)
    }
    reader.end()
    drain()
  } catch (error) {
    if (!(error instanceof CaptureError)) throw error
    expect(error.offset).toBeGreaterThanOrEqual(0)
    expect(error.offset).toBeLessThanOrEqual(octets.length)
    return `${said} ${error.message}`
  }
  return said
}

const o = order(true)
const chunks: Array<Uint8Array> = []
const writer = new PcapngWriter({ littleEndian: false }, (octets) => chunks.push(octets))
writer.packet(writer.interface({ linkType: 1, snapLength: 90 }), 5n, new Uint8Array(90), 100)
writer.simplePacket(new Uint8Array(70))
writer.names([{ type: 2, address: new Uint8Array(16), names: ["six"] }])
writer.statistics(0, 5n)
writer.secrets(1, new Uint8Array(9))
writer.flush()

const seeds = [
  captureOf("v_badrkey"),
  join(
    sectionHeader(o),
    interfaceBlock(o, 0),
    enhancedPacket(o, 0, 1n, new Uint8Array(50)),
    enhancedPacket(o, 0, 2n, new Uint8Array(3)),
  ),
  join(...chunks),
]

describe("nothing but the typed error is thrown, and chunks of any size end alike", () => {
  test("arbitrary octets", () => {
    const magic = fc.constantFrom(...seeds.map((seed) => seed.subarray(0, 28)))
    const property = fc.property(
      fc.option(magic),
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1, max: 64 }),
      (head, tail, chunk) => {
        const octets = head === null ? tail : join(head, tail)
        expect(outcome(octets, chunk)).toBe(outcome(octets, octets.length + 1))
      },
    )
    fc.assert(property, { numRuns: 5000 })
  })

  test("flipped bits, lengths lied about, ends cut", () => {
    const flip = fc.tuple(fc.nat(), fc.constantFrom(1, 2, 4, 8, 16, 32, 64, 128, 255))
    const property = fc.property(
      fc.constantFrom(...seeds),
      fc.array(flip, { minLength: 1, maxLength: 4 }),
      fc.nat(),
      fc.integer({ min: 1, max: 3000 }),
      (seed, flips, length, chunk) => {
        const octets = seed.slice(0, length % 5 === 0 ? length % seed.length : seed.length)
        for (const [at, bits] of flips) if (octets.length > 0) octets[at % octets.length]! ^= bits
        expect(outcome(octets, chunk)).toBe(outcome(octets, octets.length + 1))
      },
    )
    fc.assert(property, { numRuns: 5000 })
  })
})
