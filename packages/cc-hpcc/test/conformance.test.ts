import { controllerSuite } from "@rdmakit/conformance"
import { hpcc, hpccPresets } from "../src/index.ts"

// HPCC settles within a few hundred round trips, and keeps η of the link.
const expectations = { settlePs: 4e9, utilisation: 0.9, fairness: 0.6 }

controllerSuite(hpcc(hpccPresets.paper), expectations)
controllerSuite(hpcc(hpccPresets["later-advice"]), expectations)
controllerSuite(hpcc(hpccPresets["ns3-config"]), expectations)
controllerSuite(hpcc({ variant: "ns3", multiRate: true, sampleFeedback: true, varWin: false }), expectations)
