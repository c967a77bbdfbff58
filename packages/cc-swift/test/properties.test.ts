import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type SwiftOptions, swift } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

const variants = fc.constantFrom<SwiftOptions>(
  { variant: "paper" },
  { variant: "paper", baseTargetPs: 10e6, hops: 5, beta: 0.3 },
  { variant: "paper", endpointTargetPs: 20e6, endpointDelayPs: ({ rttPs }) => rttPs / 3 },
)
const rttUs = fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 30, max: 5000 }))
const step = fc.record({ rttUs, gapUs: fc.integer({ min: 0, max: 200 }), loss: fc.integer({ min: 0, max: 20 }) })

describe("swift, properties", () => {
  it("rate and window stay in bounds; a window of a packet or more is whole packets at line rate", () => {
    fc.assert(
      fc.property(variants, fc.array(step, { maxLength: 80 }), (options, given) => {
        const controller = swift(options).make(0, path)
        let now = 0
        for (const each of given) {
          now += each.gapUs * 1e6
          if (each.loss < 2) controller.onLoss(now, each.loss === 0)
          else controller.onAck(now, ack(each.rttUs))
          expect(controller.rate > 0 && controller.rate <= 100e9 && controller.window >= 1).toBe(true)
          if (controller.window >= 1000) {
            expect([controller.window % 1000, controller.rate]).toEqual([0, 100e9])
          }
        }
      }),
      { numRuns: 200 },
    )
  })

  it("a longer delay after the same past, longer ago than an RTT, never gives a larger window", () => {
    fc.assert(
      fc.property(variants, fc.array(rttUs, { maxLength: 20 }), rttUs, rttUs, (options, past, a, b) => {
        const window = (last: number): number => {
          const controller = swift(options).make(0, path)
          for (const [i, each] of [...past, last].entries()) controller.onAck(i * 1e10, ack(each))
          const { fabricWindowPackets = 0, endpointWindowPackets = Infinity } = controller.metrics()
          return Math.min(fabricWindowPackets, endpointWindowPackets)
        }
        expect(window(Math.max(a, b))).toBeLessThanOrEqual(window(Math.min(a, b)))
      }),
      { numRuns: 200 },
    )
  })

  it("no call takes more than max_mdf of a window, timeouts in a row aside", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (given) => {
        const controller = swift({ variant: "paper", minWindowPackets: 1e-9, maxMdf: 0.5 }).make(0, path)
        let now = 0
        let before = 100
        for (const each of given) {
          now += each.gapUs * 1e6
          if (each.loss === 0) controller.onLoss(now, false)
          else controller.onAck(now, ack(each.rttUs))
          const { fabricWindowPackets = 0 } = controller.metrics()
          expect(fabricWindowPackets).toBeGreaterThanOrEqual(before * 0.5)
          before = fabricWindowPackets
        }
      }),
      { numRuns: 200 },
    )
  })
})
