/**
 * Analyses spoiled captures: `node --conditions=@rdmakit/source scripts/nightly/analysis.ts [SEED [ROUNDS]]`. In a round
 * each of the test captures has bits flipped, packets cut, doubled, dropped and out of order: every reader of `analysis`
 * gives an answer that adds up. It prints its seed and ends with a line of counts.
 */
import { captures, readPackets } from "../../packages/analysis/test/capture.ts"
import { analyseSpoiled } from "../../packages/analysis/test/fuzz.ts"
import { framesOf } from "../../packages/analysis/test/synthetic.ts"

const seed = Number(process.argv[2] ?? Date.now() % 0x1_0000_0000)
const rounds = Number(process.argv[3] ?? 2000)
console.log(`seed ${seed}`)

const named = captures.map((name) => ({ name, frames: framesOf(readPackets(name)) }))
let passed = 0
let failed = 0
for (let round = 0; round < rounds; round++) {
  for (const { name, frames } of named) {
    try {
      analyseSpoiled(frames, (seed + round) >>> 0)
      passed++
    } catch (error) {
      failed++
      console.error(`${name}, seed ${seed + round}:`, error)
    }
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
