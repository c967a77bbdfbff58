import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type DctcpOptions, dctcp } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

const variants = fc.constantFrom<DctcpOptions>(
  { variant: "paper" },
  { variant: "paper", start: "slow-start", pacing: true },
  { variant: "ns3" },
  { variant: "ns3", window: "variable" },
)
const step = fc.record({ marked: fc.boolean(), packets: fc.integer({ min: 1, max: 20 }), flight: fc.nat(100_000) })
const steps = fc.array(step, { maxLength: 80 })

describe("dctcp, properties", () => {
  it("rate and window stay in bounds, α between 0 and 1; ns3 rates are whole", () => {
    fc.assert(
      fc.property(variants, steps, (options, given) => {
        const controller = dctcp(options).make(0, path)
        let sequence = 0
        for (const { marked, packets, flight } of given) {
          sequence += 1000 * packets
          controller.onAck(0, ack(sequence, sequence + flight, marked, 1000 * packets))
          const { alpha = -1 } = controller.metrics()
          expect(alpha >= 0 && alpha <= 1).toBe(true)
          expect(controller.rate > 0 && controller.rate <= 100e9 && controller.window >= 1).toBe(true)
          if (options.variant === "ns3") expect(Number.isInteger(controller.rate)).toBe(true)
          else expect(Number.isInteger(controller.window)).toBe(true)
        }
      }),
      { numRuns: 100 },
    )
  })

  it("more marks after the same past never give a higher rate or a larger window", () => {
    fc.assert(
      fc.property(variants, steps, fc.nat(79), (options, given, at) => {
        const replay = (extra: number): ReadonlyArray<number> => {
          const controller = dctcp(options).make(0, path)
          let sequence = 0
          given.forEach(({ packets, flight }, i) => {
            sequence += 1000 * packets
            controller.onAck(0, ack(sequence, sequence + flight, i === extra, 1000 * packets))
          })
          return [controller.rate, controller.window]
        }
        const [none, one] = [replay(-1), replay(at)]
        expect(one[0]!).toBeLessThanOrEqual(none[0]!)
        expect(one[1]!).toBeLessThanOrEqual(none[1]!)
      }),
      { numRuns: 100 },
    )
  })
})
