import { describe, expect, it } from "vitest"
import { runSeed } from "./randomProgram.ts"

const SEEDS = 200
const GROUP = 25

describe("random programs on a network with faults", { timeout: 60_000 }, () => {
  // A seed that fails is replayed by scripts/nightly/programs.ts SEED 1.
  it.each(Array.from({ length: SEEDS / GROUP }, (_, group) => group * GROUP))(
    "seeds from %i on: exactly once, in order, the right octets, and nothing left behind",
    (first) => {
      for (let seed = first; seed < first + GROUP; seed++) expect(runSeed(seed).wrong, `seed ${seed}`).toEqual([])
    },
  )

  it("are the same again, packet for packet", () => {
    for (const seed of [0, 8, 106, 146]) expect(runSeed(seed)).toEqual(runSeed(seed))
    expect(new Set([0, 8, 106, 146].map((seed) => runSeed(seed).digest)).size).toBe(4)
  })
})
