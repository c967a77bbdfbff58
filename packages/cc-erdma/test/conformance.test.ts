import { controllerSuite } from "@rdmakit/conformance"
import { hpccFamily } from "../src/index.ts"

controllerSuite(hpccFamily({ variant: "rtt" }))
controllerSuite(hpccFamily({ variant: "ecn" }))
controllerSuite(hpccFamily({ variant: "rtt", target: 1.5, additiveIncreaseBytes: 80 }))
