/**
 * Compares the fused kernel with the exact one on random networks:
 * `node --conditions=@rdmakit/source scripts/nightly/kernels.ts [FIRST [COUNT]]`, by default 2,000 from seed 1000 on; the
 * tests have those below. Each network comes as it is, as one whose nodes take turns, and as one whose flows another
 * transport carries, by turns of the seed. A difference is told with its seed and the first flow that differs; the seed
 * alone repeats it.
 */
import { carriedBy, carriers } from "../../packages/scenario/test/carried.ts"
import { kernelDifference } from "../../packages/scenario/test/kernelDifference.ts"
import { takingTurns } from "../../packages/scenario/test/randomNetwork.ts"

const [first = 1000, count = 2000] = process.argv.slice(2).map(Number)
if (!(Number.isInteger(first) && Number.isInteger(count) && first >= 0 && count >= 1)) {
  console.error("kernels: expected a first seed and a count of seeds, whole numbers")
  process.exit(2)
}
let failed = 0
console.log(`kernels: seeds ${first} to ${first + count - 1}`)
for (let seed = first; seed < first + count; seed++) {
  const carrier = carriers[seed % carriers.length]!
  const ways: ReadonlyArray<readonly [string, Parameters<typeof kernelDifference>[1]]> = [
    ["", undefined],
    ["with turns, ", takingTurns],
    [`carried by ${carrier}, `, carriedBy(carrier)],
    [`with turns, carried by ${carrier}, `, (random) => carriedBy(carrier)(takingTurns(random))],
  ]
  let differs = false
  for (const [what, change] of ways) {
    const difference = kernelDifference(seed, change)
    if (difference === undefined) continue
    differs = true
    console.log(`${what}${difference}`)
  }
  if (differs) failed++
}
console.log(`${count - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
