import { idleController, optionsSuite } from "@rdmakit/conformance"
import { TcpTransportError, tcpConfig, tcpFlows } from "../src/index.ts"

const options = Object.keys(tcpConfig({ controller: idleController }))

for (const [name, make] of Object.entries({ tcpConfig, tcpFlows }))
  optionsSuite(name, { make, errors: [TcpTransportError], options })
