import { type ControllerFactory, unpaced } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { efaGenerations, SrdOptionsError, srdConfig, srdFlows, srdVerbs } from "../src/index.ts"

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

const makers = [
  ["srdConfig", srdConfig],
  ["srdFlows", srdFlows],
  ["srdVerbs", srdVerbs],
] as const

describe.each(makers)("%s, of values of a wrong type", (_name, make) => {
  const refused = (options: unknown): unknown => refusal(() => make(options as never))

  it("refuses options that are none", () => {
    for (const options of [null, "rc", [], 1]) {
      const error = refused(options)
      expect(error).toBeInstanceOf(SrdOptionsError)
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
      expect(error).toBeInstanceOf(SrdOptionsError)
      expect(error).toMatchObject({ option, message: expect.stringContaining(`${option} is `) })
    }
  })

  it("refuses each option of a wrong type, and names it", () => {
    const taken: Array<string> = []
    for (const option of Object.keys(srdConfig({ controller })))
      for (const value of WRONG) {
        const error = refused({ controller, [option]: value })
        if (!(error instanceof SrdOptionsError) || error.option.split(".")[0] !== option)
          taken.push(`${option}: ${String(error)}`)
      }
    expect(taken).toEqual([])
  })
})

it("srdVerbs refuses what a device cannot be of a wrong type, and names it", () => {
  const v3 = efaGenerations.v3
  const given = (options: object): unknown => refusal(() => srdVerbs({ controller, ...options }))
  for (const value of [null, "1", [1], {}, () => 0]) {
    for (const option of ["rnrDelayPs", "unsolicitedWrites", "seed", "datagrams"])
      expect(given({ [option]: value })).toMatchObject({ _tag: "SrdOptionsError", option, value })
    for (const field of Object.keys(v3)) {
      const error = given({ capabilities: { ...v3, [field]: value } })
      expect(error).toMatchObject({ _tag: "SrdOptionsError", option: `capabilities.${field}`, value })
    }
  }
  for (const value of [null, "v3", [v3]])
    expect(given({ capabilities: value })).toMatchObject({ option: "capabilities", value })
})
