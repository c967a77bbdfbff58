/** What is wrong with a seed of a test, in words. */
export type RunSeed = (seed: number) => ReadonlyArray<string> | Promise<ReadonlyArray<string>>

/**
 * A nightly script that runs seeds of tests: `<name>.ts [FIRST [COUNT]]`, by default 10,000 seeds from 1000 on. Each kind of
 * test runs each seed; what is wrong is told with its seed, which alone replays it. The last line has the counts, and the
 * process fails where a seed did.
 */
export const runSeeds = async (name: string, kinds: Readonly<Record<string, RunSeed>>): Promise<never> => {
  const [first = 1000, count = 10_000] = process.argv.slice(2).map(Number)
  if (!(Number.isInteger(first) && Number.isInteger(count) && first >= 0 && count >= 1)) {
    console.error(`${name}: expected a first seed and a count of seeds, whole numbers`)
    process.exit(2)
  }
  console.log(`${name}: seeds ${first} to ${first + count - 1}`)
  const tests = Object.entries(kinds)
  let failed = 0
  for (let seed = first; seed < first + count; seed++) {
    for (const [kind, runSeed] of tests) {
      const wrong = await runSeed(seed)
      if (wrong.length === 0) continue
      failed++
      console.log(`${kind}, seed ${seed}: ${name}.ts ${seed} 1 replays it\n  ${wrong.join("\n  ")}`)
    }
  }
  console.log(`${tests.length * count - failed} passed, ${failed} failed`)
  process.exit(failed === 0 ? 0 : 1)
}
