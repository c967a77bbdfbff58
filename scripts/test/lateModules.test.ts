import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { LateSegmenter } from "../build/LateSegmenter.ts"
import { lateModule, withLateSegmenter } from "../build/lateModules.ts"

describe("modules that are loaded late", () => {
  it("do what Node's do", async () => {
    const late = await import(
      /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(lateModule("node:crypto"))}`
    )
    const hashOf = (make: typeof createHash): string => make("sha256").update("rdmakit").digest("hex")
    expect(hashOf(late.createHash)).toBe(hashOf(createHash))
    expect(late.randomBytes(6)).toHaveLength(6)
  })
})

describe("the segmenter that is made late", () => {
  it("gives the graphemes that Intl's gives", () => {
    for (const text of ["", "rdmakit run FILE", "25.0 µs", "e\u0301", "a\r\nb", "👩‍👩‍👧 x"]) {
      const graphemes = (segmenter: Pick<LateSegmenter, "segment">): ReadonlyArray<string> =>
        Array.from(segmenter.segment(text), ({ segment }) => segment)
      const options = [undefined, { granularity: "grapheme" }] as const
      expect(graphemes(new LateSegmenter(...options))).toEqual(graphemes(new Intl.Segmenter(...options)))
    }
  })

  it("takes the place of Intl's, or the build fails", () => {
    expect(withLateSegmenter("const s = new Intl.Segmenter()")).toContain("const s = new LateSegmenter()")
    expect(() => withLateSegmenter("const s = 1")).toThrow("no segmenter")
  })
})
