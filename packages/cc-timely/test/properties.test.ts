import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type TimelyOptions, timely } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

const variants = fc.constantFrom<TimelyOptions>(
  { variant: "paper", segmentBytes: 1000 },
  { variant: "ns3", window: "variable" },
  { variant: "patched", window: "fixed", highThresholdPs: 500e6 },
  { variant: "patched", law: "gradient", highThresholdPs: 500e6 },
)

const rttNs = fc.oneof(
  fc.integer({ min: 2000, max: 49_999 }),
  fc.integer({ min: 50_000, max: 500_000 }),
  fc.integer({ min: 500_001, max: 10_000_000 }),
)

describe("timely, properties", () => {
  it("rate and window stay in bounds; ns3 rates are whole", () => {
    fc.assert(
      fc.property(variants, fc.array(rttNs, { maxLength: 60 }), (options, rtts) => {
        const controller = timely(options).make(0, path)
        rtts.forEach((each, i) => {
          controller.onAck(i * 8e6, ack(1000 * (i + 1), 1000 * (i + 1), each))
          expect(controller.rate >= 100e6 && controller.rate <= 100e9 && controller.window >= 1).toBe(true)
          if (options.variant === "ns3") expect(Number.isInteger(controller.rate)).toBe(true)
        })
      }),
      { numRuns: 100 },
    )
  })

  it("a longer RTT after the same past never gives a higher rate", () => {
    fc.assert(
      fc.property(variants, fc.array(rttNs, { minLength: 1, maxLength: 20 }), rttNs, rttNs, (options, past, a, b) => {
        const rate = (last: number): number => {
          const controller = timely(options).make(0, path)
          for (const [i, each] of [...past, last].entries()) {
            controller.onAck(i * 8e6, ack(1000 * (i + 1), 1000 * (i + 1), each))
          }
          return controller.rate
        }
        // Within one region of the law: at T_high the law may jump upward.
        const region = (each: number): number => (each < 50_000 ? 0 : each <= 500_000 ? 1 : 2)
        fc.pre(region(a) === region(b))
        expect(rate(Math.max(a, b))).toBeLessThanOrEqual(rate(Math.min(a, b)))
      }),
      { numRuns: 200 },
    )
  })

  it("RTTs that stay below T_low only ever raise the rate", () => {
    fc.assert(
      fc.property(
        variants,
        fc.array(fc.integer({ min: 2000, max: 49_999 }), { minLength: 2, maxLength: 40 }),
        (options, rtts) => {
          const controller = timely(options).make(0, path)
          // Down first: an RTT of 10 ms after one of 60 µs.
          controller.onAck(0, ack(1000, 1000, 60_000))
          controller.onAck(8e6, ack(2000, 2000, 10_000_000))
          let before = controller.rate
          rtts.forEach((each, i) => {
            controller.onAck((i + 2) * 8e6, ack(1000 * (i + 3), 1000 * (i + 3), each))
            expect(controller.rate).toBeGreaterThanOrEqual(before)
            before = controller.rate
          })
        },
      ),
      { numRuns: 50 },
    )
  })
})
