import { describe, expect, it } from "vitest"
import { Flag, Layout } from "../../packages/packet/src/index.ts"
import { inlined } from "../build/inlineConstants.ts"

describe("constants in the bundle", () => {
  it("are numbers where sources name them", () => {
    expect(inlined("words[record | Layout.META]! & Flag.Telemetry")).toBe(
      `words[record | (${Layout.META})]! & (${Flag.Telemetry})`,
    )
    expect(inlined("state | P.Busy.Silent")).toBe("state | (2)")
  })

  it("are a module's own, where code names them", () => {
    const source = [
      "const SLOTS = 1 << 12 // a power of two",
      "export const MASK = SLOTS - 1",
      "const Kind = { Wake: 0, Timer: 1 } as const",
      "slot & MASK; kind === Kind.Timer; type Of = typeof SLOTS",
      "const at = { MASK: this.SLOTS } // SLOTS",
      'const text = "SLOTS" + `SLOTS`; export const LATER = MASKS',
    ].join("\n")
    expect(inlined(source).split("\n")).toEqual([
      "const SLOTS = 1 << 12 // a power of two",
      "export const MASK = (4096) - 1",
      "const Kind = { Wake: 0, Timer: 1 } as const",
      "slot & (4095); kind === (1); type Of = typeof SLOTS",
      "const at = { MASK: this.SLOTS } // SLOTS",
      'const text = "SLOTS" + `SLOTS`; export const LATER = MASKS',
    ])
  })

  it("leave everything else alone", () => {
    for (const source of ["this.Flag.Telemetry", "Flag.None", "MyFlag.Pause", "Object.values(Flag)", "Layout.EXT.aeth"])
      expect(inlined(source)).toBe(source)
  })
})
