import { expect, it } from "vitest"
import { runSeed } from "./randomFlows.ts"

/** Another 10,000: scripts/nightly/iwarp.ts. */
const SEEDS = 200

it(`${SEEDS} random connections through random faults: nothing lost, nothing twice, everything told`, {
  timeout: 60_000,
}, () => {
  const wrong: Array<string> = []
  for (let seed = 0; seed < SEEDS; seed++) for (const each of runSeed(seed)) wrong.push(`seed ${seed}: ${each}`)
  expect(wrong).toEqual([])
})
