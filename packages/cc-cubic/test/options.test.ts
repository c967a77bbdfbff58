import { CongestionControl } from "@rdmakit/protocol/layer"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type TcpOptions, TcpOptionsError, tcp } from "../src/index.ts"
import { layer } from "../src/layer.ts"
import { path } from "./feedback.ts"

const failure = (make: () => unknown): unknown => {
  try {
    make()
  } catch (error) {
    return error
  }
  return undefined
}

describe("tcp, options", () => {
  const wrong: ReadonlyArray<readonly [string, TcpOptions]> = [
    ["variant", { variant: "bbr" as "cubic" }],
    ["initialWindowBytes", { variant: "cubic", initialWindowBytes: 0 }],
    ["maxWindowBytes", { variant: "cubic", maxWindowBytes: Number.NaN }],
    ["leastTimeoutPs", { variant: "newreno", leastTimeoutPs: 0 }],
    ["beta", { variant: "newreno", beta: 1 }],
    ["c", { variant: "cubic", c: 0 }],
    ["hyStart", { variant: "cubic", hyStart: "yes" as unknown as boolean }],
    ["c", { variant: "newreno", c: 0.4 }],
    ["fastConvergence", { variant: "newreno", fastConvergence: true }],
  ]
  it.each(wrong)("refuses a wrong %s", (option, options) => {
    const error = failure(() => tcp(options))
    expect(error).toBeInstanceOf(TcpOptionsError)
    expect(error).toMatchObject({ _tag: "TcpOptionsError", option })
  })

  const numbers = wrong.filter(([option, options]) => typeof new Map(Object.entries(options)).get(option) === "number")
  it.each(numbers)("refuses a %s that is no number", (option, options) => {
    for (const value of ["1", "0.5", [1], true, null, 1n, {}]) {
      const error = failure(() => tcp({ ...options, [option]: value } as TcpOptions))
      expect(error).toBeInstanceOf(TcpOptionsError)
      expect(error).toMatchObject({ option, value })
    }
  })

  it("refuses options that are none", () => {
    for (const options of [null, "paper", []]) {
      const error = failure(() => tcp(options as unknown as TcpOptions))
      expect(error).toBeInstanceOf(TcpOptionsError)
      expect(error).toMatchObject({ option: "options", value: options })
    }
    expect(failure(() => tcp(null as unknown as TcpOptions))).toMatchObject({
      message: "tcp: options is null, expected an object",
    })
  })

  it("refuses a path without a line rate, or a segment", () => {
    const factory = tcp({ variant: "cubic" })
    expect(failure(() => factory.make(0, { ...path, lineRateBps: 0 }))).toMatchObject({ option: "lineRateBps" })
    expect(failure(() => factory.make(0, { ...path, mtuBytes: 0 }))).toMatchObject({ option: "mtuBytes" })
  })

  it("is the congestion control of a world, or a typed error", () => {
    const name = (options: TcpOptions) =>
      Effect.map(CongestionControl, (factory) => factory.name).pipe(Effect.provide(layer(options)))
    expect(Effect.runSync(name({ variant: "newreno" }))).toBe("newreno")
    expect(Effect.runSync(Effect.flip(name({ variant: "cubic", beta: 0 })))).toBeInstanceOf(TcpOptionsError)
  })
})
