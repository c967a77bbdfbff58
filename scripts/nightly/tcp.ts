/**
 * TCP through random faults:
 * `node --conditions=@rdmakit/source scripts/nightly/tcp.ts [FIRST [COUNT]]`, by default 10,000 seeds from 1000 on; the
 * tests have those below 200. Each seed is a connection that carries messages both ways. What is wrong is told with its
 * seed, and the seed alone replays it.
 */
import { runSeed } from "../../packages/transport-tcp/test/randomFlows.ts"
import { runSeeds } from "../seeds.ts"

await runSeeds("tcp", { messages: runSeed })
