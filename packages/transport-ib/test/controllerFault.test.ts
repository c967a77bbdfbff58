import { ControllerFault } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { connection } from "./connection.ts"

const broken = [
  ["rate", Number.NaN, "its rate is NaN bit/s, expected a finite number above 0"],
  ["rate", 0, "its rate is 0 bit/s, expected a finite number above 0"],
  ["rate", Number.POSITIVE_INFINITY, "its rate is Infinity bit/s, expected a finite number above 0"],
  ["window", 0, "its window is 0 bytes, expected at least 1"],
  ["window", Number.NaN, "its window is NaN bytes, expected at least 1"],
] as const

describe("a controller that breaks its contract", () => {
  it.each(broken)("is refused when it starts with a %s of %d", (field, value, message) => {
    expect(() => connection({ fixed: { [field]: value } })).toThrow(message)
  })

  it.each(broken)("is stopped when an acknowledgement makes its %s %d", (field, value, message) => {
    const { controller, pair, requester } = connection()
    controller.onAck = () => {
      controller[field] = value
      return true
    }
    requester.command(0, { message: 0, writeBytes: 3000 })
    // A microsecond each way: the first acknowledgement comes back after two.
    const fault = (() => {
      try {
        pair.run()
      } catch (error) {
        return error
      }
      return undefined
    })()
    expect(fault).toBeInstanceOf(ControllerFault)
    expect(fault).toMatchObject({ _tag: "ControllerFault", flow: 0, time: 2e6 })
    expect((fault as ControllerFault).message).toBe(`controller of flow 0, at 2 us: ${message}`)
  })
})
