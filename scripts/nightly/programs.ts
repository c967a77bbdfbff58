/**
 * Random programs of verbs on simulated networks with faults:
 * `node --conditions=@rdmakit/source scripts/nightly/programs.ts [FIRST [COUNT]]`, by default 10,000 seeds from 1000 on;
 * the tests have those below 200. Each seed is two programs: one against devices, of all services, shared receive queues,
 * windows, congestion control, links that fail; and one in Effect by `verbs`. What is wrong is told with its seed, and the
 * seed alone replays it.
 */
import { runSeed } from "../../packages/fabric/test/random/randomProgram.ts"
import { runSeed as runVerbsSeed } from "../../packages/verbs/test/seededProgram.ts"
import { runSeeds } from "../seeds.ts"

await runSeeds("programs", {
  devices: (seed) => runSeed(seed).wrong,
  verbs: async (seed) => (await runVerbsSeed(seed)).wrong,
})
