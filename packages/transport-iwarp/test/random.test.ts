import { expect, it } from "vitest"
import { runQueuePairSeed, runSeed } from "./randomFlows.ts"

/** Another 10,000: scripts/nightly/iwarp.ts. */
const SEEDS = 200

it.each([
  ["connections that carry flows", runSeed],
  ["queue pairs over TCP", runQueuePairSeed],
])(
  `${SEEDS} random %s through random faults: nothing lost, nothing twice, everything told`,
  {
    timeout: 60_000,
  },
  (_kind, run) => {
    const wrong: Array<string> = []
    for (let seed = 0; seed < SEEDS; seed++) for (const each of run(seed)) wrong.push(`seed ${seed}: ${each}`)
    expect(wrong).toEqual([])
  },
)
