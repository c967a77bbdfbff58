import fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import { crc32c } from "../src/Crc.ts"
import { FpduFramer, FpduStream, type MpaMode, type StreamFpdu, type StreamGap } from "../src/Mpa.ts"
import { emitRdmap, rdmapBytes } from "../src/Rdmap.ts"
import { rdmap } from "./formats/Iwarp.ts"
import { unitsOf } from "./mpaUnits.ts"

const message = fc.uint8Array({ minLength: 0, maxLength: 1500 }).chain((payload) =>
  rdmap.map((value) => {
    const octets = new Uint8Array(rdmapBytes(value) + payload.length)
    octets.set(payload, emitRdmap(value, octets))
    return octets
  }),
)
const mode: fc.Arbitrary<MpaMode> = fc.record({ markers: fc.boolean(), crc: fc.boolean() })

const framed = (messages: ReadonlyArray<Uint8Array>, each: MpaMode): Uint8Array => {
  const framer = new FpduFramer(each)
  return Uint8Array.from(messages.flatMap((one) => [...framer.frame(one)]))
}

describe("a stream of MPA", () => {
  it("gives back what was framed, however TCP cuts it", () => {
    const property = fc.property(
      fc.array(message, { maxLength: 8 }),
      mode,
      fc.integer({ min: 1, max: 2000 }),
      (messages, each, cut) => {
        const octets = framed(messages, each)
        const stream = new FpduStream(each)
        const found: Array<StreamFpdu | StreamGap> = []
        for (let at = 0; at < octets.length; at += cut) {
          stream.push(octets.slice(at, at + cut))
          found.push(...unitsOf(stream))
        }
        expect(
          found.map((unit) => (unit.kind === "fpdu" ? [unit.crc, unit.wrongMarkers, ...unit.ulpdu] : unit)),
        ).toEqual(messages.map((one) => [each.crc ? "right" : "absent", 0, ...one]))
      },
    )
    fc.assert(property, { numRuns: 200 })
  })

  test("a marker stands at every 512th octet and points at its unit's header (RFC 5044 §4.3)", () => {
    const octets = framed([new Uint8Array(600).fill(1), new Uint8Array(500).fill(2)], { markers: true, crc: true })
    const view = new DataView(octets.buffer)
    // The first header stands behind the first marker, at 4; the second behind 608 octets and two markers.
    expect([view.getUint32(0), view.getUint32(512), view.getUint32(1024)]).toEqual([0, 508, 1024 - 616])
    expect(view.getUint16(4)).toBe(600)
    expect(view.getUint16(616)).toBe(500)
    expect(view.getUint32(612, true)).toBe(crc32c(octets, 0, 612))
  })

  test("a marker may stand between padding and CRC, and between two units", () => {
    // 4 + 2 + 506 = 512: the CRC of the first unit comes behind the second marker.
    const octets = framed([new Uint8Array(506).fill(1), new Uint8Array(496), new Uint8Array(20)], {
      markers: true,
      crc: true,
    })
    const view = new DataView(octets.buffer)
    expect(view.getUint32(512)).toBe(508)
    expect(view.getUint32(516, true)).toBe(crc32c(octets, 0, 516))
    // 520 + 2 + 496 + 2 + 4 = 1024: the third unit begins with a marker, which its CRC covers.
    expect(view.getUint32(1024)).toBe(0)
    expect(view.getUint32(1024 + 4 + 24, true)).toBe(crc32c(octets, 1024, 1024 + 4 + 24))
  })

  const tagged = (bytes: number, fill: number): Uint8Array => {
    const octets = new Uint8Array(14 + bytes).fill(fill)
    emitRdmap({ kind: "write", last: true, sinkStag: 7, sinkOffset: 0n }, octets)
    return octets
  }

  test.each<MpaMode>([
    { markers: true, crc: true },
    { markers: true, crc: false },
    { markers: false, crc: true },
    { markers: false, crc: false },
  ])("finds the units again behind octets that are missing, %o", (each) => {
    const messages = Array.from({ length: 12 }, (_, index) => tagged(700 + 4 * index, index))
    const framer = new FpduFramer(each)
    const segments = messages.map((one) => framer.frame(one))
    const stream = new FpduStream(each)
    const found: Array<StreamFpdu | StreamGap> = []
    for (const [index, segment] of segments.entries()) {
      if (index === 3 || index === 4) stream.lose(segment.length)
      else stream.push(segment)
      found.push(...unitsOf(stream))
    }
    stream.end()
    found.push(...unitsOf(stream))
    const position = segments.slice(0, 3).reduce((sum, { length }) => sum + length, 0)
    expect(found.filter(({ kind }) => kind === "gap")[0]).toEqual({
      kind: "gap",
      position,
      bytes: segments[3]!.length,
      reason: "lost",
    })
    const fills = found.flatMap((unit) => (unit.kind === "fpdu" ? [unit.ulpdu.at(-1)!] : []))
    // A marker may lie behind the first unit after the loss, which then cannot be found by it.
    expect(fills.slice(0, 3)).toEqual([0, 1, 2])
    expect(fills.slice(-6)).toEqual([6, 7, 8, 9, 10, 11])
    if (!each.markers) expect(fills).toEqual([0, 1, 2, 5, 6, 7, 8, 9, 10, 11])
  })

  test("without alignment and markers, a right CRC is found at any multiple of four", () => {
    const each: MpaMode = { markers: false, crc: true }
    const octets = framed([tagged(300, 1), tagged(301, 2), tagged(302, 3)], each)
    const stream = new FpduStream(each)
    stream.lose(100)
    stream.push(octets.subarray(100, 401))
    const found = unitsOf(stream)
    stream.push(octets.subarray(401))
    stream.end()
    found.push(...unitsOf(stream))
    expect(found.map((unit) => (unit.kind === "fpdu" ? unit.ulpdu.at(-1) : unit.reason))).toEqual([
      "lost",
      "unaligned",
      2,
      3,
    ])
  })

  test("a wrong CRC is told, and the next unit is found; a wrong length is a gap", () => {
    const each: MpaMode = { markers: false, crc: true }
    const octets = framed([tagged(40, 1), tagged(40, 2), tagged(40, 3)], each)
    const size = octets.length / 3
    const damaged = octets.slice()
    damaged[size + 20]! ^= 1
    const stream = new FpduStream(each)
    stream.push(damaged)
    expect(unitsOf(stream).map((unit) => unit.kind === "fpdu" && unit.crc)).toEqual(["right", "wrong", "right"])
    damaged.set(octets)
    damaged[size + 1]! ^= 8
    const other = new FpduStream(each)
    other.push(damaged)
    other.end()
    expect(unitsOf(other)).toMatchObject([
      { kind: "fpdu", crc: "right" },
      { kind: "gap", position: size, bytes: size, reason: "unaligned" },
      { kind: "fpdu", position: 2 * size, crc: "right" },
    ])
  })

  test("a marker that points elsewhere is counted", () => {
    const octets = framed([tagged(600, 1)], { markers: true, crc: false })
    octets[515]! ^= 4
    const stream = new FpduStream({ markers: true, crc: false })
    stream.push(octets)
    expect(unitsOf(stream)).toMatchObject([{ kind: "fpdu", wrongMarkers: 1 }])
  })

  test("octets that look like headers everywhere cost no more than their share", () => {
    for (const cut of [4, 1448]) {
      const octets = new Uint8Array(500_000)
      for (let at = 0; at < octets.length; at += 4) octets.set([0xff, 0xff, 0x41, 0x40], at)
      const stream = new FpduStream({ markers: false, crc: true })
      stream.lose(4)
      let bytes = 0
      for (let at = 0; at < octets.length; at += cut) {
        stream.push(octets.subarray(at, at + cut))
        for (const unit of unitsOf(stream)) bytes += unit.bytes
      }
      stream.end()
      for (const unit of unitsOf(stream)) bytes += unit.bytes
      expect(bytes).toBe(octets.length + 4)
    }
  })

  test("arbitrary octets end, account for every octet and throw nothing", () => {
    const step = fc.tuple(fc.uint8Array({ maxLength: 400 }), fc.option(fc.nat(600)))
    const near = fc.tuple(fc.constantFrom(0x41, 0xc1, 0x00), fc.constantFrom(0x40, 0x43)).map(([ddp, opcode]) => {
      const octets = new Uint8Array(64).fill(opcode)
      for (let at = 0; at < 64; at += 4) octets.set([0, 14 + at, ddp, opcode], at)
      return octets
    })
    const property = fc.property(
      fc.array(
        fc.oneof(
          step,
          near.map((octets) => [octets, null] as const),
        ),
        { maxLength: 12 },
      ),
      mode,
      (steps, each) => {
        const stream = new FpduStream(each)
        const found: Array<StreamFpdu | StreamGap> = []
        let total = 0
        for (const [octets, lost] of steps) {
          stream.push(octets)
          total += octets.length
          found.push(...unitsOf(stream))
          if (lost === null) continue
          stream.lose(lost)
          total += lost
        }
        stream.end()
        found.push(...unitsOf(stream))
        let position = 0
        for (const unit of found) {
          expect(unit.position).toBe(position)
          position += unit.bytes
        }
        expect(position).toBe(total)
      },
    )
    fc.assert(property, { numRuns: 1000 })
  })
})
