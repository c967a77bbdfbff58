import { PacketPool } from "@rdmakit/packet"
import { uniform } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { Inboxes } from "../src/Inboxes.ts"

const WIDTH = 83_840
const NODES = 7

/** As many packets on their way as asked for, in time; few different times, so that ties abound. */
const filled = (count: number, nodes = NODES) => {
  const pool = new PacketPool({ capacity: count })
  const inboxes = new Inboxes(pool, nodes, WIDTH, 8)
  const sent = Array.from({ length: count }, (_, i) => {
    const node = Math.floor(uniform(1, i, 0) * nodes)
    const arrival = WIDTH + Math.floor(uniform(2, i, 0) * 500) * Math.floor((5 * WIDTH) / 500)
    const handle = pool.alloc()
    inboxes.put(node, arrival, i, handle)
    return { node, arrival, from: i, handle }
  })
  return { inboxes, sent }
}

const taken = (inboxes: Inboxes, node: number) => {
  const count = inboxes.gather(node)
  return Array.from(inboxes.handles.subarray(0, count), (handle, i) => {
    return { node, arrival: inboxes.start + inboxes.offsets[i]!, from: inboxes.fromOf(handle), handle }
  })
}

describe("boxes of what is on its way", () => {
  it.each([3, 100, 5000])("give %i packets of each window and node, by time and port", (count) => {
    const { inboxes, sent } = filled(count)
    for (let window = 1; window < 7; window++) {
      inboxes.advance(1)
      for (let node = 0; node < NODES; node++) {
        const expected = sent
          .filter((each) => each.node === node && Math.floor(each.arrival / WIDTH) === window)
          .sort((a, b) => a.arrival - b.arrival || a.from - b.from)
        expect(inboxes.has(node)).toBe(expected.length > 0)
        expect(taken(inboxes, node)).toEqual(expected)
        expect(inboxes.has(node)).toBe(false)
      }
    }
    expect(inboxes.ahead()).toBe(Number.POSITIVE_INFINITY)
  })

  it("have room for any number, in one box too", () => {
    const { inboxes, sent } = filled(600_000, 1)
    const got = Array.from({ length: 6 }, () => {
      inboxes.advance(1)
      return taken(inboxes, 0)
    }).flat()
    expect(got.length).toBe(sent.length)
    const inOrder = got.every(({ arrival }, i) => i === 0 || got[i - 1]!.arrival <= arrival)
    expect(inOrder).toBe(true)
    expect(new Set(got.map(({ handle }) => handle)).size).toBe(sent.length)
  })

  it("say in how many windows the next packet comes", () => {
    const pool = new PacketPool()
    const inboxes = new Inboxes(pool, NODES, WIDTH, 8)
    inboxes.put(3, 4 * WIDTH, 0, pool.alloc())
    expect(inboxes.ahead()).toBe(4)
    inboxes.advance(3)
    expect(inboxes.ahead()).toBe(1)
    inboxes.advance(1)
    expect(taken(inboxes, 3).map(({ arrival }) => arrival)).toEqual([4 * WIDTH])
    // Far on, windows are found again.
    inboxes.advance(1_000_003)
    inboxes.put(0, inboxes.start + 2 * WIDTH + 1, 5, pool.alloc())
    inboxes.advance(2)
    expect(taken(inboxes, 0).map(({ arrival, from }) => [arrival - inboxes.start, from])).toEqual([[1, 5]])
  })

  it("take back what a turn that ended early did not come to", () => {
    const { inboxes, sent } = filled(200, 1)
    inboxes.advance(1)
    const all = taken(inboxes, 0)
    inboxes.putBack(0, 5, all.length)
    expect(taken(inboxes, 0)).toEqual(all.slice(5))
    expect(all.length).toBe(sent.filter(({ arrival }) => arrival < 2 * WIDTH).length)
  })
})
