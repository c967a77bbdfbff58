import { Layout, PacketPool } from "@rdmakit/packet"
import { describe, expect, it } from "vitest"
import * as P from "../src/PortTable.ts"
import { WeightedQueues } from "../src/WeightedQueues.ts"
import { Bench } from "./bench.ts"

const FRAME = 1000

/** Port 1 of two, with these weights of its queues 1 to 7. */
const queuesOf = (weights: ReadonlyArray<number>) => {
  const ports = new Int32Array(2 << P.PORT_SHIFT)
  const pool = new PacketPool({ limit: 1024 })
  const all = [...new Array(8).fill(1), 1, ...weights]
  const words = new Int32Array(2 << P.QUEUES_SHIFT)
  const queues = new WeightedQueues(ports, words, pool, { weights: all }, FRAME)
  const add = (queue: number, bytes = FRAME, count = 1): void => {
    for (let i = 0; i < count; i++) {
      const handle = pool.alloc()
      pool.words[(handle << Layout.RECORD_SHIFT) | Layout.WIRE_BYTES] = bytes
      queues.append(1, queue, handle)
    }
  }
  /** Queues in the order in which `count` packets leave, as far as any may. */
  const served = (count: number): string => {
    let order = ""
    for (let i = 0; i < count; i++) {
      const queue = queues.next(1)
      if (queue < 0) return `${order}-`
      pool.release(queues.dequeue(1, queue))
      order += queue
    }
    return order
  }
  const pause = (mask: number): void => {
    ports[(1 << P.PORT_SHIFT) | P.PAUSED] = mask
  }
  return { add, served, pause, queues }
}

describe("deficit round robin", () => {
  it("serves frames of one size by weight: 1, 2 and 3", () => {
    const { add, served } = queuesOf([1, 2, 3, 1, 1, 1, 1])
    for (const queue of [1, 2, 3]) add(queue, FRAME, 20)
    expect(served(12)).toBe("122333122333")
  })

  it("counts bytes, not frames, and keeps what is left of a turn", () => {
    const { add, served } = queuesOf([1, 1, 1, 1, 1, 1, 1])
    add(1, 600, 5)
    add(2, 1000, 5)
    // A quantum of 1,000: queue 1 has 1,000, sends 600 and keeps 400; then 1,400: two; then 200 + 1,000: two and none left.
    expect(served(8)).toBe("12112112")
  })

  it("weights need not be whole: 1.5 to 1 is three frames to two", () => {
    const { add, served } = queuesOf([1.5, 1, 1, 1, 1, 1, 1])
    add(1, FRAME, 20)
    add(2, FRAME, 20)
    expect(served(10)).toBe("1211212112")
  })

  it("an empty queue keeps nothing, and a lone one has it all", () => {
    const { add, served } = queuesOf([4, 1, 1, 1, 1, 1, 1])
    add(1, 500)
    expect(served(2)).toBe("1-")
    // Had it kept 3,500 B of its turn, four frames would follow, and then four of the next turn.
    add(1, FRAME, 9)
    add(2, FRAME, 2)
    expect(served(11)).toBe("21111211111")
  })

  it("control comes first, and passes a paused queue by", () => {
    const { add, served, pause } = queuesOf([2, 1, 1, 1, 1, 1, 1])
    for (const queue of [0, 1, 2]) add(queue, FRAME, 4)
    pause(1 << 1)
    expect(served(6)).toBe("000022")
    pause(0)
    expect(served(1)).toBe("1")
    // Paused within its turn, it loses the rest of it.
    pause(1 << 1)
    expect(served(1)).toBe("2")
    pause(0)
    expect(served(4)).toBe("1121")
    expect(served(1)).toBe("-")
  })

  it("refuses weights that are none, and ports without", () => {
    expect(() => queuesOf([1, 1, 0, 1, 1, 1, 1])).toThrow(RangeError)
    expect(() => queuesOf([1, 1, 1])).toThrow("expected 8 for each port")
  })
})

it("shares a link in proportion to the weights", () => {
  // Two hosts send to a third over one port each at the same rate; priority 1 has three times the weight of 2.
  const weights = Float64Array.from({ length: 6 * 8 }, (_, at) => (at % 8 === 1 ? 3 : 1))
  const bench = new Bench({
    hosts: 3,
    switches: 1,
    links: [0, 1, 2].map((host) => ({ between: [host, 3] })),
    discipline: { weights },
  })
  bench.send(0, 0, 2, { priority: 1 }, 400)
  bench.send(0, 1, 2, { priority: 2 }, 400)
  bench.run()
  const first = bench.delivered.slice(0, 400)
  expect(bench.delivered).toHaveLength(800)
  expect(first.filter(({ priority }) => priority === 1).length).toBeGreaterThanOrEqual(298)
  expect(first.filter(({ priority }) => priority === 1).length).toBeLessThanOrEqual(302)
})
