import { formatTime, MICROSECOND, MILLISECOND, NEVER } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { ackTimeout, rnrTimer } from "../src/Timing.ts"
import { VerbsError } from "../src/VerbsError.ts"

/** IBTA 1.7 table 45, in milliseconds, as it is printed. */
const TABLE_45 = [
  655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92, 2.56, 3.84, 5.12,
  7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
]

const refusal = (run: () => unknown): VerbsError => {
  try {
    run()
  } catch (error) {
    if (error instanceof VerbsError) return error
    throw error
  }
  throw new Error("it was not refused")
}

describe("the RNR timer", () => {
  it("has the 32 spans of table 45", () => {
    for (const [code, milliseconds] of TABLE_45.entries()) {
      const timer = rnrTimer({ code })
      expect(timer).toMatchObject({ code, delayPs: Math.round(milliseconds * 100) * 10 * MICROSECOND })
      expect(rnrTimer(timer.text)).toEqual(timer)
    }
  })

  it("is longest with code 0 (B20)", () => {
    expect(rnrTimer({ code: 0 }).text).toBe("655.36ms")
    expect(rnrTimer("500ms").code).toBe(0)
    expect([12, 13, 14].map((code) => rnrTimer({ code }).text)).toEqual(["640us", "960us", "1.28ms"])
    expect(rnrTimer({ code: 25 }).text).toBe("61.44ms")
  })

  it("rounds up to the next span, and says which", () => {
    expect(rnrTimer("640us")).toEqual({ code: 12, delayPs: 640 * MICROSECOND, text: "640us" })
    expect(rnrTimer("640.000001us")).toMatchObject({ code: 13, text: "960us" })
    expect(rnrTimer("0s").code).toBe(1)
    expect(rnrTimer("655.36ms").code).toBe(0)
  })

  it("refuses what has no code", () => {
    expect(refusal(() => rnrTimer("656ms"))).toMatchObject({ errno: "EINVAL", attribute: "minRnrTimer" })
    expect(refusal(() => rnrTimer("640")).message).toContain("10us to 655.36ms")
    for (const code of [-1, 32, 1.5, Number.NaN]) expect(refusal(() => rnrTimer({ code })).message).toContain("0 to 31")
    expect(refusal(() => rnrTimer("never")).errno).toBe("EINVAL")
  })
})

describe("the local ACK timeout", () => {
  it("is 4.096 µs · 2^code (B21)", () => {
    for (let code = 1; code < 32; code++) {
      const timeout = ackTimeout({ code })
      expect(timeout.delayPs).toBe(4_096_000 * 2 ** code)
      expect(ackTimeout(formatTime(timeout.delayPs))).toEqual(timeout)
    }
    expect([14, 18, 20].map((code) => ackTimeout({ code }).delayPs / MILLISECOND)).toEqual([
      67.108864, 1073.741824, 4294.967296,
    ])
  })

  it("is never with code 0", () => {
    expect(ackTimeout({ code: 0 })).toEqual({ code: 0, delayPs: NEVER, text: "never" })
    expect(ackTimeout("never").code).toBe(0)
  })

  it("rounds up to the next span, and says which", () => {
    expect(ackTimeout("67.1ms")).toMatchObject({ code: 14, text: "67.108864ms" })
    expect(ackTimeout("67.2ms")).toMatchObject({ code: 15, text: "134.217728ms" })
    expect(ackTimeout("1ns").code).toBe(1)
  })

  it("refuses what has no code", () => {
    expect(refusal(() => ackTimeout("2.45h")).message).toContain("at most 8796.093022208s")
    expect(refusal(() => ackTimeout("soon"))).toMatchObject({ errno: "EINVAL", attribute: "timeout" })
    expect(refusal(() => ackTimeout({ code: 32 })).message).toContain("0 to 31")
  })
})
