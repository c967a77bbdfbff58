import { idleController, optionsSuite, refusalOf, WRONG_VALUES } from "@rdmakit/conformance"
import { describe, expect, it } from "vitest"
import { RcOptionsError, rcConfig, rcFlows, verbsTransport } from "../src/index.ts"

/** All of them, with those that have no default. */
const options = [
  ...Object.keys(rcConfig({ controller: idleController })),
  ...["ns3AckBytes", "ns3AckChunkBytes", "ns3BackToZero", "restartBytes", "bdpPackets"],
]

for (const [name, make] of Object.entries({ rcConfig, rcFlows }))
  optionsSuite(name, { make, errors: [RcOptionsError], options, functions: ["pacePs"] })

describe("verbsTransport, of values of a wrong type", () => {
  const refused = (options: unknown): unknown => refusalOf(() => verbsTransport(options as never))

  it("refuses options that are none, and a controller that is none", () => {
    for (const options of [null, "rc", [], 1])
      expect(refused(options)).toMatchObject({ _tag: "RcOptionsError", option: "options", value: options })
    expect(refused({ controller: null })).toMatchObject({ _tag: "RcOptionsError", option: "controller" })
    expect(refused({ controller: {} })).toMatchObject({ _tag: "RcOptionsError", option: "controller.name" })
  })

  it.each([
    ...["recovery", "ackEvery", "inFlightPackets", "reorderPackets", "cnpIntervalPs", "endToEndCredits"],
    ...["earlyRetransmissionPs", "seed"],
  ])("refuses a wrong %s", (option) => {
    for (const value of WRONG_VALUES) {
      const error = refused({ [option]: value })
      expect(error).toBeInstanceOf(RcOptionsError)
      expect(error).toMatchObject({ option, value })
    }
  })
})
