import { describe, expect, it } from "vitest"
import { kernelDifference, played } from "./kernelDifference.ts"

describe("exact and fused kernel", () => {
  it.each(Array.from({ length: 10 }, (_, tens) => tens))(
    "give the same on random networks %i0 to %i9",
    (tens) => {
      const differences = Array.from({ length: 10 }, (_, i) => kernelDifference(10 * tens + i))
      expect(differences.filter((text) => text !== undefined)).toEqual([])
    },
    60_000,
  )

  it("is asked of networks that pause, drop, mark, lose and fail", () => {
    const outcomes = Array.from({ length: 40 }, (_, seed) => played(seed, "fused").outcome)
    const reasons = new Set(outcomes.flatMap(({ dropsByReason }) => Object.keys(dropsByReason)))
    expect([...reasons].sort()).toEqual(
      expect.arrayContaining(["egress-full", "ingress-full", "link-down", "link-loss"]),
    )
    expect(outcomes.filter(({ pfcPauses }) => pfcPauses > 0).length).toBeGreaterThan(5)
    expect(outcomes.filter(({ pfcPauses }) => pfcPauses === 0).length).toBeGreaterThan(5)
    expect(outcomes.filter(({ retransmissions }) => retransmissions > 0).length).toBeGreaterThan(5)
    expect(new Set(outcomes.map(({ controller }) => controller)).size).toBeGreaterThan(5)
  })
})
