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
  it.each<readonly [string, TcpOptions]>([
    ["variant", { variant: "bbr" as "cubic" }],
    ["initialWindowBytes", { variant: "cubic", initialWindowBytes: 0 }],
    ["maxWindowBytes", { variant: "cubic", maxWindowBytes: Number.NaN }],
    ["beta", { variant: "newreno", beta: 1 }],
    ["c", { variant: "cubic", c: 0 }],
    ["hyStart", { variant: "cubic", hyStart: 1 as unknown as boolean }],
    ["c", { variant: "newreno", c: 0.4 }],
    ["fastConvergence", { variant: "newreno", fastConvergence: true }],
  ])("refuses a wrong %s", (option, options) => {
    const error = failure(() => tcp(options))
    expect(error).toBeInstanceOf(TcpOptionsError)
    expect(error).toMatchObject({ _tag: "TcpOptionsError", option })
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
