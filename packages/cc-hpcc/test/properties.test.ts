import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type HpccOptions, hpcc } from "../src/index.ts"
import { ack, type Hop, path } from "./feedback.ts"

const options: ReadonlyArray<HpccOptions> = [
  { variant: "paper" },
  { variant: "paper", maxStage: 0, reaction: "per-ack" },
  { variant: "ns3" },
  { variant: "ns3", multiRate: true, sampleFeedback: true },
]

/** One step of a path: time that passed (ns), bytes that were sent and the queue, for each of two hops. */
const step = fc.record({
  timeNs: fc.integer({ min: 1, max: 20_000 }),
  bytes: fc.tuple(fc.integer({ min: 0, max: 200_000 }), fc.integer({ min: 0, max: 800_000 })),
  queue: fc.tuple(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 0, max: 1_000_000 })),
  inflight: fc.integer({ min: 0, max: 200_000 }),
})
const steps = fc.array(step, { minLength: 1, maxLength: 60 })
const option = fc.constantFrom(...options)

type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

/** Rates and windows after each acknowledgement, with counters that start anywhere and wrap, or never do. */
const replay = (
  hpccOptions: HpccOptions,
  given: ReadonlyArray<Step>,
  startNs: number,
  startBytes: number,
  wrap: boolean,
): ReadonlyArray<readonly [number, number, boolean]> => {
  const moduli = wrap ? {} : { timeModulusPs: Infinity, bytesModulus: Infinity }
  const controller = hpcc(hpccOptions).make(0, { ...path, ...moduli })
  const [timeModulusNs, bytesModulus] = wrap ? [2 ** 24, path.bytesModulus] : [Infinity, Infinity]
  let timeNs = startNs
  const sent = [startBytes, startBytes]
  return given.map((each, i) => {
    timeNs += each.timeNs
    const hops = [0, 1].map((k): Hop => {
      sent[k] = sent[k]! + each.bytes[k as 0 | 1]
      return [timeNs % timeModulusNs, sent[k]! % bytesModulus, each.queue[k as 0 | 1], k === 0 ? 100e9 : 400e9]
    })
    const sequence = 1000 * (i + 1)
    const ran = controller.onAck(0, ack(sequence, sequence + each.inflight, hops))
    return [controller.rate, controller.window, ran]
  })
}

describe("hpcc, properties", () => {
  it("rate and window stay in bounds; ns3 rates are whole", () => {
    fc.assert(
      fc.property(option, steps, (hpccOptions, given) => {
        for (const [rate, window] of replay(hpccOptions, given, 0, 0, true)) {
          expect(rate >= 1e9 && rate <= 100e9 && window >= 1000 && window <= 100_000).toBe(true)
          expect(Number.isInteger(window)).toBe(true)
          if (hpccOptions.variant === "ns3") expect(Number.isInteger(rate)).toBe(true)
        }
      }),
      { numRuns: 100 },
    )
  })

  it("counters that wrap and counters that do not give the same rates", () => {
    fc.assert(
      fc.property(option, steps, fc.nat(2 ** 24 - 1), fc.nat(2 ** 20 - 1), (hpccOptions, given, startNs, units) => {
        const wrapped = replay(hpccOptions, given, startNs, units * 512, true)
        expect(wrapped).toEqual(replay(hpccOptions, given, 0, 0, false))
      }),
      { numRuns: 100 },
    )
  })

  // From one byte on: in ns3 a hop with u = 0 is no measurement, as in the reference.
  it("a busier link never gets a higher rate", () => {
    fc.assert(
      fc.property(
        option,
        fc.integer({ min: 1, max: 200_000 }),
        fc.integer({ min: 1, max: 200_000 }),
        fc.integer({ min: 1, max: 16_000 }),
        (hpccOptions, a, b, ns) => {
          const rate = (bytes: number): number => {
            const controller = hpcc(hpccOptions).make(0, path)
            controller.onAck(0, ack(1000, 100_000, [[0, 0, 0, 100e9]]))
            controller.onAck(0, ack(2000, 100_000, [[ns, bytes, 0, 100e9]]))
            return controller.rate
          }
          expect(rate(Math.max(a, b))).toBeLessThanOrEqual(rate(Math.min(a, b)))
        },
      ),
      { numRuns: 200 },
    )
  })
})
