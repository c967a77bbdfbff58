import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type DcqcnOptions, dcqcn } from "../src/index.ts"
import { Clockwork, path } from "./feedback.ts"

const variants = fc.constantFrom<DcqcnOptions>(
  { variant: "paper", cnpIntervalPs: 0, byteCounterBytes: 50_000 },
  { variant: "paper", cnpIntervalPs: 0, order: "alpha-first", window: "fixed" },
  { variant: "vendor", cnpIntervalPs: 0, rpgByteResetBytes: 50_000, rpgAiRateBps: 50e6 },
  { variant: "vendor", cnpIntervalPs: 0, order: "cut-first", window: "variable", rpgAiRateBps: 50e6 },
  { variant: "ns3", window: "variable" },
  { variant: "ns3", rateOnFirstCnp: 0.5, clampTargetRate: true },
)

/** Time since the last thing, ns, and whether it was a notification or a packet that left. */
const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 400_000 }), fc.boolean()), { maxLength: 80 })

describe("dcqcn, properties", () => {
  it("rate, window and α stay in bounds; ns3 rates are whole; nothing falls due in the past", () => {
    fc.assert(
      fc.property(variants, steps, (options, script) => {
        const clock = new Clockwork(dcqcn(options).make(0, path))
        const { controller } = clock
        let now = 0
        for (const [afterNs, marked] of script) {
          now += afterNs * 1000
          if (marked) clock.mark(now)
          else clock.runTo(now).controller.onSent(now, 1000)
          const { alpha = -1, targetRateBps = -1 } = controller.metrics()
          expect(controller.rate > 0 && controller.rate <= 100e9 && controller.window >= 1).toBe(true)
          expect(alpha >= 0 && alpha <= 1 && targetRateBps > 0 && targetRateBps <= 100e9).toBe(true)
          expect(controller.nextTimer).toBeGreaterThanOrEqual(now)
          if (options.variant === "ns3") expect(Number.isInteger(controller.rate)).toBe(true)
        }
      }),
      { numRuns: 100 },
    )
  })

  it("without notifications the rate only rises, and comes back to the line", () => {
    fc.assert(
      fc.property(variants, fc.integer({ min: 1, max: 30 }), (options, marks) => {
        const clock = new Clockwork(dcqcn(options).make(0, path))
        for (let i = 0; i < marks; i++) clock.mark(i * 1e6)
        // A cut may still be due.
        let before = clock.runTo(marks * 1e6 + 10e6).controller.rate
        for (let step = 1; step <= 50; step++) {
          const { rate } = clock.runTo(marks * 1e6 + 10e6 + step * 3e9).controller
          expect(rate).toBeGreaterThanOrEqual(before)
          before = rate
        }
        // 150 ms. Whole halves may stop a few bit/s short.
        expect(before).toBeGreaterThan(99e9)
      }),
      { numRuns: 12 },
    )
  })

  it("the vendor's α, worked out late, is that of a timer", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 40 }), (gapsNs) => {
        const clock = new Clockwork(dcqcn({ variant: "vendor", cnpIntervalPs: 0 }).make(0, path))
        clock.cnp(0)
        const weight = 1019 / 1024
        let [alpha, notified, ended, now] = [1023 / 1024, false, 0, 0]
        const to = (time: number): void => {
          for (; ended + 1e6 <= time; ended += 1e6) {
            alpha = weight * alpha + (notified ? 1 - weight : 0)
            notified = false
          }
        }
        for (const gapNs of gapsNs) {
          now += gapNs * 1000
          clock.cnp(now)
          to(now)
          notified = true
        }
        // Every 4 µs a cut may be due: run to the last of them.
        const last = (Math.floor(now / 4e6) + 1) * 4e6
        clock.runTo(last)
        to(last)
        expect(clock.controller.metrics().alpha).toBeCloseTo(alpha, 12)
      }),
      { numRuns: 100 },
    )
  })
})
