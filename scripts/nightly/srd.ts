/**
 * SRD through random faults:
 * `node --conditions=@rdmakit/source scripts/nightly/srd.ts [FIRST [COUNT]]`, by default 10,000 seeds from 1000 on; the
 * tests have those below 200. Each seed is a context that carries messages both ways, and a program of verbs on a network.
 * What is wrong is told with its seed, and the seed alone replays it.
 */
import { runSrdSeed } from "../../packages/fabric/test/random/srdProgram.ts"
import { runSeed } from "../../packages/transport-srd/test/randomFlows.ts"

const [first = 1000, count = 10_000] = process.argv.slice(2).map(Number)
if (!(Number.isInteger(first) && Number.isInteger(count) && first >= 0 && count >= 1)) {
  console.error("srd: expected a first seed and a count of seeds, whole numbers")
  process.exit(2)
}
let failed = 0
console.log(`srd: seeds ${first} to ${first + count - 1}`)
const judge = (kind: string, seed: number, wrong: ReadonlyArray<string>): void => {
  if (wrong.length === 0) return
  failed++
  console.log(`${kind}, seed ${seed}: srd.ts ${seed} 1 replays it\n  ${wrong.join("\n  ")}`)
}
for (let seed = first; seed < first + count; seed++) {
  judge("messages", seed, runSeed(seed))
  judge("verbs", seed, runSrdSeed(seed).wrong)
}
console.log(`${2 * count - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
