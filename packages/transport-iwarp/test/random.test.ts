import { seedSuite } from "@rdmakit/conformance"
import { runQueuePairSeed, runSeed } from "./randomFlows.ts"

// Another 10,000: scripts/nightly/iwarp.ts.
seedSuite("connections that carry flows", runSeed)
seedSuite("queue pairs over TCP", runQueuePairSeed)
