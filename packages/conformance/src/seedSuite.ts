import { expect, it } from "vitest"

/** What is wrong with what a seed decides, in words; nothing: all is well. */
export type RunSeed = (seed: number) => ReadonlyArray<string>

/**
 * Registers, with vitest, a test that runs seeds 0 to `seeds` less one, 200 unless it is said. What is wrong is told with its
 * seed, which alone replays it.
 *
 * @param what is tried, as "connections"
 */
export const seedSuite = (what: string, runSeed: RunSeed, seeds = 200): void => {
  it(`${seeds} random ${what} through random faults: nothing lost, nothing twice, everything told`, {
    timeout: 60_000,
  }, () => {
    const wrong: Array<string> = []
    for (let seed = 0; seed < seeds; seed++) for (const each of runSeed(seed)) wrong.push(`seed ${seed}: ${each}`)
    expect(wrong).toEqual([])
  })
}
