import { controllerSuite } from "@rdmakit/conformance"
import { srd } from "../src/index.ts"

controllerSuite(srd())
