/**
 * iWARP through random faults:
 * `node --conditions=@rdmakit/source scripts/nightly/iwarp.ts [FIRST [COUNT]]`, by default 10,000 seeds from 1000 on; the
 * tests have those below 200. Each seed is a connection that carries flows, and two queue pairs whose octets TCP carries. What
 * is wrong is told with its seed, and the seed alone replays it.
 */
import { runQueuePairSeed, runSeed } from "../../packages/transport-iwarp/test/randomFlows.ts"
import { runSeeds } from "../seeds.ts"

await runSeeds("iwarp", { flows: runSeed, "queue pairs": runQueuePairSeed })
