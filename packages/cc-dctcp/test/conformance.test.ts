import { controllerSuite } from "@rdmakit/conformance"
import { dctcp, dctcpPresets } from "../src/index.ts"

// The suite's switch marks little until four bandwidth-delay products wait, so windows stand that high.
controllerSuite(dctcp(dctcpPresets.paper))
controllerSuite(dctcp(dctcpPresets.tcp))
controllerSuite(dctcp({ ...dctcpPresets.paper, pacing: true }))
controllerSuite(dctcp(dctcpPresets.simulation))
controllerSuite(dctcp({ ...dctcpPresets.simulation, window: "none" }))
