import { seedSuite } from "@rdmakit/conformance"
import { runSeed } from "./randomFlows.ts"

// Another 10,000: scripts/nightly/tcp.ts.
seedSuite("connections", runSeed)
