/**
 * Random programs of verbs on simulated networks with faults:
 * `node --conditions=@rdmakit/source scripts/nightly/programs.ts [FIRST [COUNT]]`, by default 10,000 seeds from 1000 on;
 * the tests have those below 200. Each seed is two programs: one against devices, of all services, shared receive queues,
 * windows, congestion control, links that fail; and one in Effect by `verbs`. What is wrong is told with its seed, and the
 * seed alone replays it.
 */
import { runSeed } from "../../packages/fabric/test/random/randomProgram.ts"
import { runSeed as runVerbsSeed } from "../../packages/verbs/test/seededProgram.ts"

const [first = 1000, count = 10_000] = process.argv.slice(2).map(Number)
if (!(Number.isInteger(first) && Number.isInteger(count) && first >= 0 && count >= 1)) {
  console.error("programs: expected a first seed and a count of seeds, whole numbers")
  process.exit(2)
}
let failed = 0
console.log(`programs: seeds ${first} to ${first + count - 1}`)
const judge = (kind: string, seed: number, wrong: ReadonlyArray<string>): void => {
  if (wrong.length === 0) return
  failed++
  console.log(`${kind}, seed ${seed}: programs.ts ${seed} 1 replays it\n  ${wrong.join("\n  ")}`)
}
for (let seed = first; seed < first + count; seed++) {
  judge("devices", seed, runSeed(seed).wrong)
  judge("verbs", seed, (await runVerbsSeed(seed)).wrong)
}
console.log(`${2 * count - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
