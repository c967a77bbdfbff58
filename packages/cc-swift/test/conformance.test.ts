import { controllerSuite } from "@rdmakit/conformance"
import { swift, swiftPresets } from "../src/index.ts"

controllerSuite(swift(swiftPresets.testbed))
controllerSuite(swift(swiftPresets.production))
controllerSuite(swift(swiftPresets.htsim))
controllerSuite(swift({ ...swiftPresets.production, endpointDelayPs: (ack) => ack.rttPs / 2 }))
