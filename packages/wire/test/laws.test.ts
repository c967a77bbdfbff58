import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Parse, WireError } from "../src/Result.ts"
import { type Format, readFormats } from "./format.ts"

/** Room on the wire for any payload. */
const FAR = 1 << 20
const emitted = (format: Format, value: unknown, start: number): Uint8Array => {
  const octets = new Uint8Array(start + format.bytesMax).fill(0xa5)
  const end = format.emit!(value as never, octets, start)
  expect(octets.subarray(0, start)).toEqual(new Uint8Array(start).fill(0xa5))
  return octets.subarray(0, end)
}
const read = (outcome: Parse<unknown>): Parse<unknown> & { ok: true } => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error))
  return outcome
}

/** A fault lies in its header, and what is ignored is not 0. */
const expectFault = ({ what, offset, found }: WireError, start: number, end: number): void => {
  expect(offset).toBeGreaterThanOrEqual(start)
  expect(offset).toBeLessThan(end)
  if (what === "ignored") expect(Number(found)).toBeGreaterThan(0)
}

describe.each(await readFormats())("$name", (format) => {
  const { name, parse, emit, arbitrary, layout, bytesMax } = format
  const anyOctets = fc.uint8Array({ maxLength: bytesMax + 8 })

  it("arbitrary octets give a header that emits to the same octets, or a typed error with an offset", () => {
    fc.assert(
      fc.property(anyOctets, fc.nat(4), fc.boolean(), (octets, start, far) => {
        const end = far ? FAR : octets.length
        const outcome = parse(octets, Math.min(start, octets.length), end)
        if (!outcome.ok) {
          expect(outcome.error.format).toMatch(/^[a-z]/)
          expect(outcome.error.offset).toBeGreaterThanOrEqual(0)
          expect(outcome.error.offset).toBeLessThanOrEqual(octets.length)
          return
        }
        const from = Math.min(start, octets.length)
        expect(outcome.payloadStart).toBeGreaterThanOrEqual(from)
        expect(outcome.payloadStart).toBeLessThanOrEqual(octets.length)
        expect(outcome.payloadEnd).toBeGreaterThanOrEqual(outcome.payloadStart)
        expect(outcome.payloadEnd).toBeLessThanOrEqual(end)
        for (const fault of outcome.faults) expectFault(fault, from, outcome.payloadStart)
        if (emit === undefined || outcome.faults.length > 0) return
        const again = new Uint8Array(outcome.payloadStart)
        expect(emit(outcome.value as never, again, from)).toBe(outcome.payloadStart)
        expect(again.subarray(from)).toEqual(octets.subarray(from, outcome.payloadStart))
      }),
      { numRuns: 300 },
    )
  })

  if (emit !== undefined && arbitrary !== undefined) {
    it("what is emitted is read back", () => {
      fc.assert(
        fc.property(arbitrary, fc.nat(3), (value, start) => {
          const octets = emitted(format, value, start)
          const outcome = read(parse(octets, start, FAR))
          expect(outcome.value).toEqual(value)
          expect(outcome.faults).toEqual([])
          expect(outcome.payloadStart).toBe(octets.length)
        }),
      )
    })

    it("a header that is cut says where it ends", () => {
      fc.assert(
        fc.property(arbitrary, fc.nat(), (value, cut) => {
          const octets = emitted(format, value, 0)
          const size = cut % octets.length
          const onWire = parse(octets.subarray(0, size), 0, FAR)
          expect(onWire).toMatchObject({ ok: false, error: { what: "truncated", format: name, offset: size } })
          expect(parse(octets.subarray(0, size)).ok).toBe(false)
        }),
        { numRuns: 50 },
      )
    })

    it("a buffer too small is refused", () => {
      fc.assert(
        fc.property(arbitrary, (value) => {
          const { length } = emitted(format, value, 0)
          expect(() => emit(value as never, new Uint8Array(length - 1))).toThrow("room for")
        }),
        { numRuns: 10 },
      )
    })
  }

  if (layout !== undefined && arbitrary !== undefined && emit !== undefined) {
    it("the layout says what the parser says", () => {
      expect(layout.format).toBe(name)
      const compared = new Set<string>()
      fc.assert(
        fc.property(arbitrary, (value) => {
          const view = layout.view(emitted(format, value, 0))
          if (!view.ok) throw new Error(JSON.stringify(view.error))
          const seen = view.value as unknown as Readonly<Record<string, unknown>>
          for (const [field, said] of Object.entries(value as object)) {
            if (!layout.fields.some((each) => each.name === field) || typeof said !== typeof seen[field]) continue
            expect(seen[field], field).toEqual(said)
            compared.add(field)
          }
        }),
      )
      expect(compared.size).toBeGreaterThan(0)
    })
  }
})
