/**
 * Messages, RMA and atomics through shuffled packets:
 * `node --conditions=@rdmakit/source scripts/nightly/ulp.ts [FIRST [COUNT]]`, by default 10,000 seeds from 1000 on; the
 * tests have those below 200. What is wrong is told with its seed, and the seed alone replays it.
 */
import { runMessages } from "../../packages/ulp/test/randomMessages.ts"
import { runSeeds } from "../seeds.ts"

await runSeeds("ulp", { messages: runMessages })
