import { controllerSuite } from "@rdmakit/conformance"
import { tcp } from "../src/index.ts"

controllerSuite(tcp({ variant: "cubic" }))
controllerSuite(tcp({ variant: "newreno" }))
controllerSuite(tcp({ variant: "cubic", hyStart: false, maxWindowBytes: 200_000 }))
