/**
 * eRDMA through random faults:
 * `node --conditions=@rdmakit/source scripts/nightly/erdma.ts [FIRST [COUNT]]`, by default 10,000 seeds from 1000 on; the
 * tests have those below 200. Each seed is a connection that carries flows, and a program of verbs on a network. What is
 * wrong is told with its seed, and the seed alone replays it.
 */
import { runErdmaSeed } from "../../packages/fabric/test/random/erdmaProgram.ts"
import { runSeed } from "../../packages/transport-erdma/test/randomFlows.ts"
import { runSeeds } from "../seeds.ts"

await runSeeds("erdma", { flows: runSeed, verbs: (seed) => runErdmaSeed(seed).wrong })
