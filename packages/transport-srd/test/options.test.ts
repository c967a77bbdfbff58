import { describe, expect, it } from "vitest"
import { type SrdOptions, SrdOptionsError, srdConfig } from "../src/index.ts"
import { connect, fixedWindow } from "./connection.ts"

const controller = fixedWindow(20_000)
const failure = (options: Partial<SrdOptions>): unknown => {
  try {
    return srdConfig({ controller, ...options })
  } catch (error) {
    return error
  }
}

describe("srdConfig", () => {
  it.each<readonly [keyof SrdOptions, Partial<SrdOptions>]>([
    ["mtuBytes", { mtuBytes: 0 }],
    ["mtuBytes", { mtuBytes: 1.5 }],
    ["paths", { paths: 0 }],
    ["paths", { paths: 1025 }],
    ["renewAfterPackets", { renewAfterPackets: 0 }],
    ["overloadFactor", { overloadFactor: 1 }],
    ["overloadFactor", { overloadFactor: Number.NaN }],
    ["deadAfterLosses", { deadAfterLosses: 0 }],
    ["windowPackets", { windowPackets: 2 ** 15 + 1 }],
    ["initialTimeoutPs", { initialTimeoutPs: 0 }],
    ["overloadFactor", { overloadFactor: Number.POSITIVE_INFINITY }],
    ["leastTimeoutPs", { leastTimeoutPs: -1 }],
    ["leastTimeoutPs", { leastTimeoutPs: "5" as unknown as number }],
    ["mostTimeoutPs", { mostTimeoutPs: Number.POSITIVE_INFINITY }],
    ["mostTimeoutPs", { leastTimeoutPs: 2e9, mostTimeoutPs: 1e9 }],
    ["unresponsiveAfterPs", { unresponsiveAfterPs: Number.NaN }],
    ["ecn", { ecn: 4 }],
  ])("refuses a wrong %s: %o", (option, options) => {
    const error = failure(options)
    expect(error).toBeInstanceOf(SrdOptionsError)
    expect(error).toMatchObject({ _tag: "SrdOptionsError", option, value: options[option] })
    expect((error as Error).message).toMatch(new RegExp(`^srd: ${option} is .*, expected `))
  })

  it("has the code point that the controller needs", () => {
    expect(srdConfig({ controller }).ecn).toBe(0)
    expect(srdConfig({ controller: { ...controller, needs: ["ecn"] } }).ecn).toBe(2)
  })
})

it.each([-1, 1.5, Number.NaN, 2 ** 53])("a message of %d bytes is refused", (writeBytes) => {
  const { pair } = connect()
  expect(() => pair.command(0, { message: 0, writeBytes })).toThrow(RangeError)
})
