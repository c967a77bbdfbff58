import { describe, expect, it } from "vitest"
import { runSeed } from "./seededProgram.ts"

const SEEDS = 200
const GROUP = 25

describe("programs on a network that loses, damages, repeats and reorders", () => {
  const groups = Array.from({ length: SEEDS / GROUP }, (_, at) => at * GROUP)
  it.each(groups)(
    "seeds from %i on: exactly once, in order, the right octets, and nothing left behind",
    async (first) => {
      for (let seed = first; seed < first + GROUP; seed++) {
        expect((await runSeed(seed)).wrong, `seed ${seed}`).toEqual([])
      }
    },
    60_000,
  )

  it("a seed repeats its run", async () => {
    expect((await runSeed(7)).digest).toBe((await runSeed(7)).digest)
    expect((await runSeed(7)).digest).not.toBe((await runSeed(8)).digest)
  })
})
