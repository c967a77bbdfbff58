import { describe, expect, it } from "vitest"
import { runSrdSeed } from "./srdProgram.ts"

const SEEDS = 200
const GROUP = 50

describe("random programs over SRD, on a network with faults", { timeout: 60_000 }, () => {
  // A seed that fails is replayed by scripts/nightly/srd.ts SEED 1.
  it.each(Array.from({ length: SEEDS / GROUP }, (_, group) => group * GROUP))(
    "seeds from %i on: every message once, the right octets, and nothing left behind",
    (first) => {
      for (let seed = first; seed < first + GROUP; seed++) expect(runSrdSeed(seed).wrong, `seed ${seed}`).toEqual([])
    },
  )

  it("are the same again, packet for packet", () => {
    for (const seed of [0, 8, 107]) expect(runSrdSeed(seed)).toEqual(runSrdSeed(seed))
  })
})
