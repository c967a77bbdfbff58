/**
 * TCP through random faults:
 * `node --conditions=@rdmakit/source scripts/nightly/tcp.ts [FIRST [COUNT]]`, by default 10,000 seeds from 1000 on; the
 * tests have those below 200. Each seed is a connection that carries messages both ways. What is wrong is told with its
 * seed, and the seed alone replays it.
 */
import { runSeed } from "../../packages/transport-tcp/test/randomFlows.ts"

const [first = 1000, count = 10_000] = process.argv.slice(2).map(Number)
if (!(Number.isInteger(first) && Number.isInteger(count) && first >= 0 && count >= 1)) {
  console.error("tcp: expected a first seed and a count of seeds, whole numbers")
  process.exit(2)
}
let failed = 0
console.log(`tcp: seeds ${first} to ${first + count - 1}`)
for (let seed = first; seed < first + count; seed++) {
  const wrong = runSeed(seed)
  if (wrong.length === 0) continue
  failed++
  console.log(`seed ${seed}: tcp.ts ${seed} 1 replays it\n  ${wrong.join("\n  ")}`)
}
console.log(`${count - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
