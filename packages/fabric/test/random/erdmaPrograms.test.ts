import { describe, expect, it } from "vitest"
import { runErdmaSeed } from "./erdmaProgram.ts"

const SEEDS = 200
const GROUP = 50

describe("random programs over eRDMA, on a network with faults", { timeout: 60_000 }, () => {
  // A seed that fails is replayed by scripts/nightly/erdma.ts SEED 1.
  it.each(Array.from({ length: SEEDS / GROUP }, (_, group) => group * GROUP))(
    "seeds from %i on: exactly once, in order, the right octets, and nothing left behind",
    (first) => {
      for (let seed = first; seed < first + GROUP; seed++) expect(runErdmaSeed(seed).wrong, `seed ${seed}`).toEqual([])
    },
  )

  it("are the same again, packet for packet", () => {
    for (const seed of [0, 8, 107]) expect(runErdmaSeed(seed)).toEqual(runErdmaSeed(seed))
  })
})
