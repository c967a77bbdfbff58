import type { Ack, ControllerFactory } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { dumbbell } from "../src/index.ts"
import { RecordQueue } from "../src/RecordQueue.ts"

/** A fixed share of the line rate and a fixed window; what it is told is kept. */
const fixed = (share: number, window = Infinity) => {
  const acks: Array<readonly [now: number, ack: Ack]> = []
  const told: Array<string> = []
  const factory: ControllerFactory = {
    name: "fixed",
    needs: ["rtt", "ecn", "cnp", "int"],
    make: (_now, path) => ({
      rate: path.lineRateBps * share,
      window,
      nextTimer: Infinity,
      onSent: () => {},
      onAck: (now, ack) => {
        acks.push([now, { ...ack, telemetry: ack.telemetry.slice() }])
        return false
      },
      onCnp: (now) => {
        told.push(`cnp ${now}`)
        return false
      },
      onLoss: (now, timeout) => {
        told.push(`${timeout ? "timeout" : "nak"} ${now}`)
        return false
      },
      onTimer: () => false,
      metrics: () => ({}),
    }),
  }
  return { factory, acks, told }
}

describe("dumbbell", () => {
  it("takes one packet through empty queues in the base RTT", () => {
    const { factory, acks } = fixed(1)
    const { finishedPs, sent } = dumbbell(factory, { flows: [{ bytes: 1000 }], durationPs: 100e6, slices: 1 })
    expect(acks).toHaveLength(1)
    expect(acks[0]![0]).toBe(10e6)
    expect(acks[0]![1]).toMatchObject({ sequence: 1000, sent: 1000, bytes: 1000, rttPs: 10e6, hops: 1 })
    expect([...finishedPs, sent[0]]).toEqual([10e6, 1000])
  })

  it("queues behind the link, and tells of it by INT, RTT and marks", () => {
    // Two senders at 10 Gb/s, one link of 10 Gb/s: a packet of 1000 bytes takes 800 ns.
    const { factory, acks } = fixed(1)
    dumbbell(factory, { flows: [{ bytes: 3000 }, { bytes: 3000 }], durationPs: 100e6 })
    // Sent at 0, 0, 0.8, 0.8, 1.6, 1.6 µs; on the link from 0, 0.8, … 4 µs: the last waited 2.4 µs.
    expect(acks.map(([, { rttPs }]) => rttPs / 1e6)).toEqual([10, 10.8, 10.8, 11.6, 11.6, 12.4])
    const hops = acks.map(([, { telemetry }]) => [...telemetry])
    // Stamp, bytes sent before, bytes left behind, rate. Time and bytes count on; the queue grows and drains.
    expect(hops.map(([time]) => time! / 1e6)).toEqual([0, 0.8, 1.6, 2.4, 3.2, 4])
    expect(hops.map(([, bytes]) => bytes)).toEqual([0, 1000, 2000, 3000, 4000, 5000])
    expect(hops.at(-1)).toEqual([4e6, 5000, 0, 10e9])
  })

  it("marks a long queue, and notifies a flow every 50 µs at most", () => {
    const { factory, acks, told } = fixed(1)
    dumbbell(factory, { flows: [{}, {}], durationPs: 1e9 })
    expect(acks[0]![1].congestion).toBe(false)
    expect(acks.at(-1)![1].congestion).toBe(true)
    expect(told.length).toBeGreaterThan(10)
    expect(told.length).toBeLessThanOrEqual(40)
  })

  it("goes back to what a full buffer dropped", () => {
    const { factory, told } = fixed(1)
    const { finishedPs, dropped } = dumbbell(factory, {
      flows: [{ bytes: 100_000 }],
      durationPs: 100e9,
      linkRateBps: 5e9,
      bufferBytes: 5000,
    })
    expect(dropped).toBeGreaterThan(0)
    expect(told.some((each) => each.startsWith("nak"))).toBe(true)
    for (const each of finishedPs) expect(each).toBeLessThan(100e9)
  })

  it("times out when the last packet is lost", () => {
    const { factory, told } = fixed(1)
    // Seeded: with every second packet lost, some flow loses its last.
    const flows = Array.from({ length: 8 }, () => ({ bytes: 2000 }))
    const { finishedPs } = dumbbell(factory, { flows, durationPs: 1e12, lossRate: 0.5 })
    expect(told.some((each) => each.startsWith("timeout"))).toBe(true)
    for (const each of finishedPs) expect(each).toBeLessThan(1e12)
  })

  it("paces by the rate and stops at the window", () => {
    const half = dumbbell(fixed(0.5).factory, { flows: [{}], durationPs: 1e9, slices: 1 })
    expect(half.sent[0]! / 625_000).toBeCloseTo(1, 2)
    // 2500 bytes a round trip: the third packet starts below the window and overshoots it.
    const windowed = dumbbell(fixed(1, 2500).factory, { flows: [{}], durationPs: 1e9, slices: 1 })
    expect(windowed.sent[0]! / 300_000).toBeCloseTo(1, 1)
  })

  it("supplies nothing that is not asked for", () => {
    const { factory, acks, told } = fixed(1)
    dumbbell({ ...factory, needs: [] }, { flows: [{}, {}], durationPs: 1e9 })
    expect(told).toEqual([])
    for (const [, { rttPs, congestion, hops }] of acks)
      expect([rttPs, congestion, hops]).toEqual([Number.NaN, false, 0])
  })
})

it("RecordQueue keeps its order while it grows and turns", () => {
  const queue = new RecordQueue(2)
  let next = 0
  let oldest = 0
  for (let turn = 0; turn < 500; turn++) {
    for (let i = 0; i < 7; i++) {
      const at = queue.push()
      queue.ring[at] = next
      queue.ring[at + 1] = -next++
    }
    for (let i = 0; i < (turn < 100 ? 3 : 8) && queue.length > 0; i++) {
      expect([queue.ring[queue.head], queue.ring[queue.head + 1]]).toEqual([oldest, -oldest])
      oldest++
      queue.shift()
    }
  }
  expect(next - oldest).toBe(queue.length)
})
