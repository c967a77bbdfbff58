/**
 * Runs programs of verbs on a simulated network that loses, damages, repeats and reorders:
 * `node --conditions=@rdmakit/source scripts/nightly/verbs.ts [FIRST [COUNT]]`, by default 10,000 from seed 1000 on; the
 * tests have those below 200. What is wrong is told with its seed, which alone repeats it.
 */
import { runSeed } from "../../packages/verbs/test/seededProgram.ts"

const [first = 1000, count = 10_000] = process.argv.slice(2).map(Number)
if (!(Number.isInteger(first) && Number.isInteger(count) && first >= 0 && count >= 1)) {
  console.error("verbs: expected a first seed and a count of seeds, whole numbers")
  process.exit(2)
}
let failed = 0
console.log(`verbs: seeds ${first} to ${first + count - 1}`)
for (let seed = first; seed < first + count; seed++) {
  const { wrong } = await runSeed(seed)
  if (wrong.length === 0) continue
  failed++
  console.log(`seed ${seed}: ${wrong.join("\n  ")}`)
}
console.log(`${count - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
