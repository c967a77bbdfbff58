import { controllerSuite } from "@rdmakit/conformance"
import { hpcc, hpccPresets } from "../src/index.ts"

controllerSuite(hpcc(hpccPresets.paper))
controllerSuite(hpcc(hpccPresets["later-advice"]))
controllerSuite(hpcc(hpccPresets["ns3-config"]))
controllerSuite(hpcc({ variant: "ns3", multiRate: true, sampleFeedback: true, maxStage: 5, varWin: false }))
