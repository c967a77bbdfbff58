/**
 * Runs programs of verbs on a simulated network that loses, damages, repeats and reorders:
 * `node --conditions=@rdmakit/source scripts/nightly/verbs.ts [FIRST [COUNT]]`, by default 10,000 from seed 1000 on; the
 * tests have those below 200. What is wrong is told with its seed, which alone repeats it.
 */
import { runSeed } from "../../packages/verbs/test/seededProgram.ts"
import { runSeeds } from "../seeds.ts"

await runSeeds("verbs", { programs: async (seed) => (await runSeed(seed)).wrong })
