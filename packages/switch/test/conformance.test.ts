import { switchSuite } from "@rdmakit/conformance"
import { sharedBufferSwitch } from "../examples/incast.ts"

switchSuite({ name: "a lossless shared-buffer switch", make: sharedBufferSwitch(true) })
switchSuite({ name: "a lossy shared-buffer switch", make: sharedBufferSwitch(false) }, { lossless: false })
