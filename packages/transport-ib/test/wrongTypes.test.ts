import { type ControllerFactory, unpaced } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { RcOptionsError, rcConfig, rcFlows, verbsTransport } from "../src/index.ts"

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

/** All of them, with those that have no default. */
const FIELDS = [
  ...Object.keys(rcConfig({ controller })),
  ...["ns3AckBytes", "ns3AckChunkBytes", "ns3BackToZero", "restartBytes", "bdpPackets"],
]

const makers = [
  ["rcConfig", rcConfig],
  ["rcFlows", rcFlows],
] as const

describe.each(makers)("%s, of values of a wrong type", (_name, make) => {
  const refused = (options: unknown): unknown => refusal(() => make(options as never))

  it("refuses options that are none", () => {
    for (const options of [null, "rc", [], 1]) {
      const error = refused(options)
      expect(error).toBeInstanceOf(RcOptionsError)
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
      expect(error).toBeInstanceOf(RcOptionsError)
      expect(error).toMatchObject({ option, message: expect.stringContaining(`${option} is `) })
    }
  })

  it("refuses each option of a wrong type, and names it", () => {
    const taken: Array<string> = []
    for (const option of FIELDS)
      for (const value of WRONG.filter((value) => option !== "pacePs" || typeof value !== "function")) {
        const error = refused({ controller, [option]: value })
        if (!(error instanceof RcOptionsError) || error.option.split(".")[0] !== option)
          taken.push(`${option}: ${String(error)}`)
      }
    expect(taken).toEqual([])
  })
})

describe("verbsTransport, of values of a wrong type", () => {
  const refused = (options: unknown): unknown => refusal(() => verbsTransport(options as never))

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
    for (const value of WRONG) {
      const error = refused({ [option]: value })
      expect(error).toBeInstanceOf(RcOptionsError)
      expect(error).toMatchObject({ option, value })
    }
  })
})
