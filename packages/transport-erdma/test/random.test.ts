import { seedSuite } from "@rdmakit/conformance"
import { runSeed } from "./randomFlows.ts"

// Another 10,000: scripts/nightly/erdma.ts.
seedSuite("connections", runSeed)
