import { Packet, PacketPool } from "@rdmakit/packet"
import type { LoadBalancer } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { EntropyEcmp, Flowlets, HashedSpray, LeastQueued, LoadBalancerFault, RoundRobinSpray } from "../src/index.ts"
import { lentPorts } from "./lentPorts.ts"

const pool = new PacketPool({ limit: 4 })
const packet = new Packet(pool).at(pool.alloc())
const flow = (source: number, destination: number, udpPorts = 49_152): Packet => {
  packet.setNodes(source, destination)
  packet.udpPorts = udpPorts
  return packet
}
/** Ports 10 to 13, of which the last three are the next hops to choose from. */
const table = Int32Array.of(10, 11, 12, 13)
const pickOf = (balancer: LoadBalancer, now: number, of = flow(1, 2), node = 7, from = 1, count = 3): number =>
  balancer.pick(now, of, node, count, table, from)
const times = (count: number, pick: (i: number) => number): Array<number> =>
  Array.from({ length: count }, (_, i) => pick(i))

describe("round-robin spraying", () => {
  it("takes the next hops in turn, each host's packets apart", () => {
    const balancer = new RoundRobinSpray(3)
    const first = pickOf(balancer, 0)
    expect(times(6, () => pickOf(balancer, 0))).toEqual([1, 2, 3, 4, 5, 6].map((i) => (first + i) % 3))
    // Another host's next hops stand elsewhere in the table: its turn is its own.
    const other = pickOf(balancer, 0, flow(1, 3), 7, 0)
    expect(pickOf(balancer, 0)).toBe((first + 7) % 3)
    expect(pickOf(balancer, 0, flow(1, 3), 7, 0)).toBe((other + 1) % 3)
  })

  it("begins at different next hops at different switches", () => {
    const starts = new Set(times(30, (node) => pickOf(new RoundRobinSpray(3), 0, flow(1, 2), node)))
    expect(starts).toEqual(new Set([0, 1, 2]))
  })
})

describe("hashed spraying", () => {
  it("spreads one flow evenly, the same for a seed", () => {
    const picks = (seed: number) => {
      const balancer = new HashedSpray(seed)
      return times(3000, () => pickOf(balancer, 0))
    }
    const one = picks(1)
    // A fair share is 1000, its standard deviation 26.
    for (let i = 0; i < 3; i++) expect(Math.abs(one.filter((pick) => pick === i).length - 1000)).toBeLessThan(110)
    expect(picks(1)).toEqual(one)
    expect(picks(2)).not.toEqual(one)
  })
})

describe("ECMP by entropy", () => {
  const ports = (entropy: number): number => (entropy | (4791 << 16)) >>> 0
  /** Next hops of the packets of one flow that have the ports 49,152, 49,153 … */
  const picksAt = (node: number, count: number, seed = 1) => {
    const balancer = new EntropyEcmp(seed)
    return times(4096, (i) => pickOf(balancer, 0, flow(1, 2, ports(0xc000 + i)), node, 0, count))
  }

  it("is a function of what the packet carries: the same port, the same way, whenever it comes", () => {
    const picks = picksAt(7, 3)
    expect(picksAt(7, 3)).toEqual(picks)
    const balancer = new EntropyEcmp(1)
    expect(times(4096, (i) => pickOf(balancer, i, flow(1, 2, ports(0xffff - i)), 7, 0, 3)).slice(-4096)).toEqual(
      times(4096, (i) => pickOf(new EntropyEcmp(1), 0, flow(1, 2, ports(0xffff - i)), 7, 0, 3)),
    )
    expect(picksAt(7, 3, 2)).not.toEqual(picks)
    expect(new Set(picks)).toEqual(new Set([0, 1, 2]))
  })

  it.each([2, 3, 4, 7, 16])("spreads ports evenly over %d next hops", (count) => {
    const share = 4096 / count
    for (let hop = 0; hop < count; hop++) {
      const found = picksAt(9, count).filter((pick) => pick === hop).length
      // Five standard deviations.
      expect(Math.abs(found - share)).toBeLessThan(5 * Math.sqrt(share))
    }
  })

  it("chooses at one switch regardless of its choice at another", () => {
    // Sixteen combinations of four at the first switch and four at the second: 256 each.
    for (const [first, second] of [
      [0, 1],
      [7, 8],
      [100, 612],
    ] as const) {
      const [here, there] = [picksAt(first, 4), picksAt(second, 4)]
      const together = new Map<number, number>()
      here.forEach((pick, i) => {
        const both = 4 * pick + there[i]!
        together.set(both, (together.get(both) ?? 0) + 1)
      })
      expect(together.size).toBe(16)
      for (const found of together.values()) expect(Math.abs(found - 256)).toBeLessThan(5 * 16)
    }
  })
})

describe("the least queued next hop", () => {
  it("is taken, all queues of an egress counted; others' queues do not matter", () => {
    const { ports, queueBytes } = lentPorts(14)
    const balancer = new LeastQueued(1, ports)
    queueBytes[11]![3] = 2000
    queueBytes[12]![3] = 1000
    queueBytes[12]![4] = 999
    queueBytes[13]![5] = 1998
    expect(pickOf(balancer, 0)).toBe(2)
    queueBytes[13]![5] = 2000
    expect(pickOf(balancer, 0)).toBe(1)
  })

  it("among equals a hash decides", () => {
    const { ports, queueBytes } = lentPorts(14)
    const balancer = new LeastQueued(1, ports)
    queueBytes[12]![3] = 1
    const picks = times(2000, () => pickOf(balancer, 0))
    expect(new Set(picks)).toEqual(new Set([0, 2]))
    expect(Math.abs(picks.filter((pick) => pick === 0).length - 1000)).toBeLessThan(110)
    const again = new LeastQueued(1, ports)
    expect(times(2000, () => pickOf(again, 0))).toEqual(picks)
  })
})

describe("flowlets", () => {
  /** Chooses 0, 1, 2, 0, … */
  const inTurn = (): LoadBalancer => {
    let turn = -1
    return { perPacket: true, pick: (_now, _packet, _node, count) => ++turn % count }
  }

  it("a flow changes its next hop after a gap longer than the timer, and only then", () => {
    const balancer = new Flowlets({ inner: inTurn(), gapPs: 100 })
    const at = [0, 50, 150, 250, 351, 400, 501, 602]
    // Gaps of 50, 100, 100, 101, 49, 101, 101.
    expect(at.map((now) => pickOf(balancer, now))).toEqual([0, 0, 0, 0, 1, 1, 2, 0])
    expect(balancer.flowlets).toBe(4)
  })

  it("with a gap that never comes each flow keeps its first choice", () => {
    const balancer = new Flowlets({ inner: inTurn(), gapPs: Infinity })
    const ports = [1, 2, 3, 1, 2, 3]
    expect(ports.map((port, i) => pickOf(balancer, i * 1e12, flow(1, 2, port)))).toEqual([0, 1, 2, 0, 1, 2])
    expect(balancer.flowlets).toBe(3)
  })

  it("flows and switches have flowlets of their own", () => {
    const balancer = new Flowlets({ inner: inTurn(), gapPs: 100 })
    expect(pickOf(balancer, 0)).toBe(0)
    expect(pickOf(balancer, 0, flow(1, 2, 49_153))).toBe(1)
    expect(pickOf(balancer, 0, flow(1, 2), 8)).toBe(2)
    expect(pickOf(balancer, 10)).toBe(0)
    expect(pickOf(balancer, 10, flow(1, 2, 49_153))).toBe(1)
    expect(pickOf(balancer, 10, flow(1, 2), 8)).toBe(2)
  })

  it("flows of one entry share it", () => {
    const balancer = new Flowlets({ inner: inTurn(), gapPs: 100, entries: 1 })
    expect(times(5, (i) => pickOf(balancer, i * 60, flow(i, 9)))).toEqual([0, 0, 0, 0, 0])
    // With fewer next hops than the flow before had.
    expect(pickOf(balancer, 1000, flow(1, 2), 7, 1, 3)).toBe(1)
    expect(pickOf(balancer, 1000, flow(1, 2), 7, 1, 1)).toBe(0)
  })

  it("refuses what makes no table", () => {
    for (const gapPs of [0, Number.NaN, -Infinity, "1us" as never])
      expect(() => new Flowlets({ inner: inTurn(), gapPs })).toThrow("expected a time above 0, ps")
    for (const entries of [3, 0, Number.NaN, 0.5])
      expect(() => new Flowlets({ inner: inTurn(), gapPs: 1, entries })).toThrow("power of 2")
    expect(() => new Flowlets({ inner: {} as never, gapPs: 1 })).toThrow(
      "switch: balancer is an object, expected a load",
    )
  })

  it.each([2, -1, 0.5, Number.NaN, undefined as never])("a choice of %s among two is none", (choice) => {
    const balancer = new Flowlets({ inner: { pick: () => choice }, gapPs: 100 })
    expect(() => pickOf(balancer, 0, flow(1, 2), 7, 1, 2)).toThrow(LoadBalancerFault)
  })
})
