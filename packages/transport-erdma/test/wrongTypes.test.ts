import { idleController as controller, optionsSuite, refusalOf } from "@rdmakit/conformance"
import { TcpTransportError } from "@rdmakit/transport-tcp"
import { describe, expect, it } from "vitest"
import { ErdmaError, erdmaFlows, erdmaStream, erdmaVerbs, throughVxlan } from "../src/index.ts"

const options = [
  "underlayMtuBytes",
  "overlay",
  "timeoutSlackPs",
  "initialTimeoutPs",
  "mostTimeoutPs",
  "retryCount",
  "ackEvery",
]

for (const [name, make] of Object.entries({ erdmaStream, erdmaFlows, erdmaVerbs }))
  optionsSuite(name, { make, errors: [ErdmaError, TcpTransportError], options })

describe("erdmaVerbs, of a negotiation of a wrong type", () => {
  const refused = (negotiation: unknown): unknown => refusalOf(() => erdmaVerbs({ controller, negotiation } as never))
  const controllers = { 1: controller }

  it("names the field", () => {
    const option = "negotiation.congestionControl"
    expect(refused(null)).toMatchObject({ _tag: "ErdmaError", option: "negotiation" })
    for (const congestionControl of [null, "1", 16, [1]])
      expect(refused({ controllers, congestionControl })).toMatchObject({ option, value: congestionControl })
    expect(refused({ controllers: null, congestionControl: 1 })).toMatchObject({ option: "controllers" })
    const wrong = { 1: { ...controller, make: 1 } }
    expect(refused({ controllers: wrong, congestionControl: 1 })).toMatchObject({
      option: "negotiation.controllers.1.make",
    })
    expect(refused({ controllers, congestionControl: 4 })).toMatchObject({
      message: "erdma: controllers.4 is nothing, expected the controller with number 4, beside [1]",
    })
  })

  it("and of datagrams", () => {
    for (const datagrams of [null, {}, "ud"])
      expect(refusalOf(() => erdmaVerbs({ controller, datagrams } as never))).toMatchObject({ option: "datagrams" })
  })
})

it("throughVxlan refuses what is no transport of flows", () => {
  const flows = erdmaFlows({ controller, overlay: "none" })
  const refused = (transport: unknown): unknown => refusalOf(() => throughVxlan(transport as never))
  expect(refused(null)).toMatchObject({ _tag: "ErdmaError", option: "transport" })
  expect(refused({})).toMatchObject({ _tag: "ErdmaError", option: "framing" })
  expect(refused(flows)).toMatchObject({ _tag: "ErdmaError", option: "framing", value: "erdma" })
})
