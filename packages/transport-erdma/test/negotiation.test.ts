import { describe, expect, it } from "vitest"
import { CcAlgorithm, ErdmaError, negotiate, negotiatedController } from "../src/index.ts"
import { fixedWindow } from "./connection.ts"

describe("congestion control of a connection", () => {
  it("is what both ask for, and CUBIC where they differ (erdma_cm.c: COMPROMISE_CC)", () => {
    for (let ours = 0; ours < 16; ours++)
      for (let theirs = 0; theirs < 16; theirs++)
        expect(negotiate(ours, theirs)).toBe(ours === theirs ? ours : CcAlgorithm.Cubic)
  })

  it("has the driver's numbers (erdma.h: enum erdma_cc_alg)", () => {
    expect(CcAlgorithm).toEqual({ NewReno: 0, Cubic: 1, HpccRtt: 2, HpccEcn: 3, HpccInt: 4 })
  })

  it("is refused where it does not fit four bits", () => {
    for (const wrong of [-1, 16, 1.5, Number.NaN]) {
      expect(() => negotiate(wrong, 1)).toThrow(ErdmaError)
      expect(() => negotiate(1, wrong)).toThrow(ErdmaError)
    }
  })

  it("takes the controller from a list", () => {
    const controllers = { [CcAlgorithm.Cubic]: fixedWindow(1), [CcAlgorithm.HpccRtt]: fixedWindow(2) }
    expect(negotiatedController(controllers, CcAlgorithm.HpccRtt, CcAlgorithm.HpccRtt)).toBe(controllers[2])
    expect(negotiatedController(controllers, CcAlgorithm.HpccRtt, CcAlgorithm.HpccInt)).toBe(controllers[1])
    expect(() => negotiatedController(controllers, 4, 4)).toThrow(/number 4/)
  })
})
