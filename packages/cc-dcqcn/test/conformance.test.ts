import { controllerSuite } from "@rdmakit/conformance"
import { dcqcn, dcqcnPresets } from "../src/index.ts"

// R_HAI is 20 Mb/s at 10 Gb/s there, once in 300 µs: 5.5 Gb/s, from a fair share to 80 % of the link, take 83 ms.
const slow = { settlePs: 60e9 }

controllerSuite(dcqcn(dcqcnPresets.paper))
controllerSuite(dcqcn({ ...dcqcnPresets.paper, notification: "cnp" }))
controllerSuite(dcqcn(dcqcnPresets.vendor), slow)
controllerSuite(dcqcn({ ...dcqcnPresets.vendor, notification: "cnp" }), slow)
controllerSuite(dcqcn(dcqcnPresets.simulation), slow)
controllerSuite(dcqcn(dcqcnPresets["simulation+w"]), slow)
controllerSuite(dcqcn(dcqcnPresets["simulation-paper"]))
