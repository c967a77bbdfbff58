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

  it("leave everything else alone", () => {
    for (const source of ["this.Flag.Telemetry", "Flag.None", "MyFlag.Pause", "Object.values(Flag)", "Layout.EXT.aeth"])
      expect(inlined(source)).toBe(source)
  })
})
