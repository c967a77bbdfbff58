/**
 * Runs ten million inputs through every parser of `wire`: `node --conditions=@rdmakit/source scripts/nightly/wire.ts
 * [SEED [COUNT]]`. Arbitrary octets, and captured packets with bits flipped, lengths lied about, cut and lengthened: no
 * throw, no hang, each an error with an offset or octets that emit to themselves. It prints its seed and ends with a line
 * of counts.
 */
import { fuzz } from "../../packages/wire/test/fuzz.ts"

const BATCH = 1_000_000
const seed = Number(process.argv[2] ?? Date.now() % 0x1_0000_0000)
const count = Number(process.argv[3] ?? 10 * BATCH)
console.log(`seed ${seed}`)

let passed = 0
let failed = 0
for (let batch = 0; batch * BATCH < count; batch++) {
  const inputs = Math.min(BATCH, count - batch * BATCH)
  try {
    await fuzz(seed + batch, inputs)
    passed += inputs
    console.log(`${passed} inputs`)
  } catch (error) {
    failed += 1
    console.error(error)
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
