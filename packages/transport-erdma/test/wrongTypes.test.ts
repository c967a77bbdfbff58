import { type ControllerFactory, unpaced } from "@rdmakit/protocol"
import { TcpTransportError } from "@rdmakit/transport-tcp"
import { describe, expect, it } from "vitest"
import { ErdmaError, erdmaFlows, erdmaStream, erdmaVerbs, throughVxlan } from "../src/index.ts"

/** What programs that no compiler has checked hand in. */
const WRONG: ReadonlyArray<unknown> = [null, "0.5", "1", [1], 1n, {}, Number.NaN, () => 0]

const controller: ControllerFactory = { name: "idle", needs: [], make: () => unpaced }

const refusal = (make: () => unknown): unknown => {
  try {
    return make()
  } catch (error) {
    return error
  }
}

const OPTIONS = [
  "underlayMtuBytes",
  "overlay",
  "timeoutSlackPs",
  "initialTimeoutPs",
  "mostTimeoutPs",
  "retryCount",
  "ackEvery",
]

const makers = [
  ["erdmaStream", erdmaStream],
  ["erdmaFlows", erdmaFlows],
  ["erdmaVerbs", erdmaVerbs],
] as const

describe.each(makers)("%s, of values of a wrong type", (_name, make) => {
  const refused = (options: unknown): unknown => refusal(() => make(options as never))

  it("refuses options that are none", () => {
    for (const options of [null, "rc", [], 1]) {
      const error = refused(options)
      expect(error).toBeInstanceOf(ErdmaError)
      expect(error).toMatchObject({ option: "options", value: options, expected: "an object" })
    }
  })

  it("refuses a controller that is none, and names the field", () => {
    const wrong: ReadonlyArray<readonly [string, unknown]> = [
      ["controller", null],
      ["controller", "cubic"],
      ["controller", () => controller],
      ["controller.name", {}],
      ["controller.needs", { ...controller, needs: undefined }],
      ["controller.needs", { ...controller, needs: "rtt" }],
      ["controller.make", { ...controller, make: unpaced }],
    ]
    for (const [option, given] of wrong) {
      const error = refused({ controller: given })
      expect(error).toBeInstanceOf(ErdmaError)
      expect(error).toMatchObject({ option, message: expect.stringContaining(`${option} is `) })
    }
  })

  it("refuses each option of a wrong type, and names it", () => {
    const taken: Array<string> = []
    for (const option of OPTIONS)
      for (const value of WRONG) {
        const error = refused({ controller, [option]: value })
        const isTyped = error instanceof ErdmaError || error instanceof TcpTransportError
        if (!isTyped || error.option !== option) taken.push(`${option}: ${String(error)}`)
      }
    expect(taken).toEqual([])
  })
})

describe("erdmaVerbs, of a negotiation of a wrong type", () => {
  const refused = (negotiation: unknown): unknown => refusal(() => erdmaVerbs({ controller, negotiation } as never))
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
      expect(refusal(() => erdmaVerbs({ controller, datagrams } as never))).toMatchObject({ option: "datagrams" })
  })
})

it("throughVxlan refuses what is no transport of flows", () => {
  const flows = erdmaFlows({ controller, overlay: "none" })
  const refused = (transport: unknown): unknown => refusal(() => throughVxlan(transport as never))
  expect(refused(null)).toMatchObject({ _tag: "ErdmaError", option: "transport" })
  expect(refused({})).toMatchObject({ _tag: "ErdmaError", option: "framing" })
  expect(refused(flows)).toMatchObject({ _tag: "ErdmaError", option: "framing", value: "erdma" })
})
