/**
 * SRD through random faults:
 * `node --conditions=@rdmakit/source scripts/nightly/srd.ts [FIRST [COUNT]]`, by default 10,000 seeds from 1000 on; the
 * tests have those below 200. Each seed is a context that carries messages both ways, and a program of verbs on a network.
 * What is wrong is told with its seed, and the seed alone replays it.
 */
import { runSrdSeed } from "../../packages/fabric/test/random/srdProgram.ts"
import { runSeed } from "../../packages/transport-srd/test/randomFlows.ts"
import { runSeeds } from "../seeds.ts"

await runSeeds("srd", { messages: runSeed, verbs: (seed) => runSrdSeed(seed).wrong })
