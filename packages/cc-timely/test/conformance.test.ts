import { controllerSuite } from "@rdmakit/conformance"
import { timely, timelyPresets } from "../src/index.ts"

// Clocked by its own segments and starting at line rate, which is not how its authors start it, it falls far and comes
// back one δ at a time.
controllerSuite(timely({ ...timelyPresets.paper, segmentBytes: 16_384 }), { settlePs: 40e9 })
controllerSuite(timely(timelyPresets.simulation))
controllerSuite(timely(timelyPresets["simulation+w"]))
controllerSuite(timely(timelyPresets.patched))
