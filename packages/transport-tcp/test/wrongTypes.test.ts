import { type ControllerFactory, unpaced } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { TcpTransportError, tcpConfig, tcpFlows } from "../src/index.ts"

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
  ["tcpConfig", tcpConfig],
  ["tcpFlows", tcpFlows],
] as const

describe.each(makers)("%s, of values of a wrong type", (_name, make) => {
  const refused = (options: unknown): unknown => refusal(() => make(options as never))

  it("refuses options that are none", () => {
    for (const options of [null, "rc", [], 1]) {
      const error = refused(options)
      expect(error).toBeInstanceOf(TcpTransportError)
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
      expect(error).toBeInstanceOf(TcpTransportError)
      expect(error).toMatchObject({ option, message: expect.stringContaining(`${option} is `) })
    }
  })

  it("refuses each option of a wrong type, and names it", () => {
    const taken: Array<string> = []
    for (const option of Object.keys(tcpConfig({ controller })))
      for (const value of WRONG) {
        const error = refused({ ...tcpConfig({ controller }), [option]: value })
        if (!(error instanceof TcpTransportError) || error.option.split(".")[0] !== option)
          taken.push(`${option}: ${String(error)}`)
      }
    expect(taken).toEqual([])
  })
})
