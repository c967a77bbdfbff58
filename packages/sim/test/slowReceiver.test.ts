import { describe, expect, it } from "vitest"
import { ImpairedKernel, LinkDown, type ReceiverLimit, ReceiverOverflow } from "../src/index.ts"
import { Bench, type BenchOptions, twoHosts } from "./bench.ts"

const SLOW = 3
/** A byte takes 1 ps on these links, and twice as long at this rate. */
const HALF_RATE_BPS = 4e12

type Step = readonly [time: number, limit: ReceiverLimit | undefined]

/** Twelve packets of 1,000 B to host 1, which arrive from 4,000 ps on, one each 1,000 ps; its limits change at times. */
const slowed = (steps: ReadonlyArray<Step>, options: Partial<BenchOptions> = {}) => {
  const script = steps.map(
    ([time, limit]) => [time, (kernel: unknown) => (kernel as ImpairedKernel).limitReceiver(1, limit)] as const,
  )
  const bench = new Bench({ ...twoHosts, ...options, script: [...script, ...(options.script ?? [])] }, ImpairedKernel)
  const kernel = bench.kernel as ImpairedKernel
  const { onCall } = kernel
  kernel.onSlow = (time, node) => kernel.callAt(time, SLOW, node)
  kernel.onCall = (now, target, argument) =>
    target === SLOW ? kernel.takeSlowly(argument) : onCall(now, target, argument)
  bench.send(0, 0, 1, {}, 12)
  bench.run()
  expect(bench.pool.alive).toBe(0)
  return { bench, kernel }
}

const times = (bench: Bench) => bench.delivered.map(({ now, psn }) => [now, psn])

describe("a slow receiver", () => {
  it("takes packets one after the other at its rate", () => {
    const { bench } = slowed([[0, { rateBps: HALF_RATE_BPS }]])
    expect(times(bench)).toEqual(Array.from({ length: 12 }, (_, psn) => [6000 + 2000 * psn, psn]))
  })

  it("loses what finds no room", () => {
    const { bench, kernel } = slowed([[0, { rateBps: HALF_RATE_BPS, bufferBytes: 3000 }]])
    // From 8,000 ps on three are there when another comes, and then one is taken.
    expect(times(bench)).toEqual([0, 1, 2, 3, 5, 7, 9, 11].map((psn, at) => [6000 + 2000 * at, psn]))
    expect(bench.dropped.map(({ now, psn }) => [now, psn])).toEqual([
      [8000, 4],
      [10_000, 6],
      [12_000, 8],
      [14_000, 10],
    ])
    expect(kernel.dropCounts[-ReceiverOverflow]).toBe(4)
  })

  it("stalls, and then takes at once all that has come", () => {
    const { bench } = slowed([
      [4500, { rateBps: 0 }],
      [10_000, undefined],
    ])
    const waited = [1, 2, 3, 4, 5, 6].map((psn) => [10_000, psn])
    const after = [7, 8, 9, 10, 11].map((psn) => [4000 + 1000 * psn, psn])
    expect(times(bench)).toEqual([[4000, 0], ...waited, ...after])
  })

  it("begins anew with a packet when its rate changes", () => {
    const { bench } = slowed([
      [0, { rateBps: HALF_RATE_BPS }],
      [5000, { rateBps: HALF_RATE_BPS / 2 }],
      [13_000, undefined],
    ])
    expect(times(bench).slice(0, 3)).toEqual([
      [9000, 0],
      [13_000, 1],
      [13_000, 2],
    ])
  })

  it("that pauses its sender loses nothing", () => {
    for (const fused of [false, true]) {
      const plainSwitch = { dequeue: "lazy" as const }
      const stall = { rateBps: 0, bufferBytes: 12_000, pauses: true }
      const steps: ReadonlyArray<Step> = [
        [0, stall],
        [50_000, undefined],
      ]
      const { bench, kernel } = slowed(steps, { fused, plainSwitch })
      // Number 6 fills more than half at 10,000 ps; the pause is there at 11,100, when number 9 is being sent.
      const waited = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((psn) => [50_000, psn])
      expect(times(bench)).toEqual([...waited, [53_100, 10], [54_100, 11]])
      expect(bench.dropped).toEqual([])
      expect(kernel.pauses.pauses).toBe(1)
    }
  })

  it("resumes as soon as a quarter of the buffer is left", () => {
    const limit = { rateBps: HALF_RATE_BPS, bufferBytes: 8000, pauses: true }
    const { bench, kernel } = slowed([[0, limit]])
    expect(times(bench)).toEqual(Array.from({ length: 12 }, (_, psn) => [6000 + 2000 * psn, psn]))
    expect(kernel.pauses.pauses).toBe(1)
  })

  it("forgets its pauses with its link", () => {
    const stall = { rateBps: 0, bufferBytes: 12_000, pauses: true }
    const script: BenchOptions["script"] = [
      [20_000, (kernel) => kernel.takeDown(1)],
      [30_000, (kernel) => kernel.bringUp(1)],
    ]
    const steps: ReadonlyArray<Step> = [
      [0, stall],
      [40_000, undefined],
    ]
    const { bench, kernel } = slowed(steps, { script })
    expect(bench.delivered.length).toBe(10)
    expect(bench.dropped.map(({ reason }) => reason)).toEqual([LinkDown, LinkDown])
    expect(kernel.pausedMask(3)).toBe(0)
  })
})
