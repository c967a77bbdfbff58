import { WcStatus } from "@rdmakit/protocol"
import { LinkCorruption, LinkDown, LinkLoss } from "@rdmakit/sim"
import { GraphBuilder } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { VerbsNetwork } from "../../src/index.ts"
import { connect, destroy, type End, fill, makeEnd, outcomes, polled, twoHosts, write } from "./connected.ts"

const us = 1e6

describe("faults of links", { timeout: 30_000 }, () => {
  const both = { loss: 0.02, duplication: 0.02, corruption: 0.01, reordering: 0.05, reorderPs: 5 * us } as const

  it("lose, damage, repeat and reorder packets, and every WRITE is right all the same", () => {
    const network = new VerbsNetwork({ graph: twoHosts(), seed: 3 })
    const [a, b] = network.devices.map((device) => makeEnd(device, "rc", 1 << 20)) as [End, End]
    connect(a, b, { timeout: 5 })
    fill(a)
    for (const link of [0, 1]) network.links.impair(link, both)
    for (let id = 0; id < 20; id++) write(a, b, 50_000, id)
    network.run()
    expect(outcomes(a)).toEqual(Array.from({ length: 20 }, (_, id) => [id, WcStatus.Success]))
    expect(b.memory.octets.subarray(0, 50_000)).toEqual(a.memory.octets.subarray(0, 50_000))
    const { dropCounts, pool } = network.kernel
    expect(dropCounts[-LinkLoss]).toBeGreaterThan(5)
    expect(dropCounts[-LinkCorruption]).toBeGreaterThan(2)
    expect(network.kernel.stragglerCount).toBe(0)
    expect(pool.alive).toBe(0)
    expect(pool.payloads.alive).toBe(0)
  })

  it("leave nothing behind when queue pairs are destroyed in the midst of it", () => {
    for (const recovery of ["go-back-n", "selective-repeat"] as const) {
      const network = new VerbsNetwork({ graph: twoHosts(), seed: 3, queuePairs: { recovery } })
      const [a, b] = network.devices.map((device) => makeEnd(device, "rc", 1 << 20)) as [End, End]
      connect(a, b)
      network.links.impair(0, { loss: 0.1, reordering: 0.1 })
      for (let id = 0; id < 20; id++) write(a, b, 50_000, id)
      network.run(150 * us)
      expect(network.kernel.pool.payloads.alive).toBeGreaterThan(0)
      destroy(a)
      destroy(b)
      network.run()
      expect(network.kernel.pool.alive).toBe(0)
      expect(network.kernel.pool.payloads.alive).toBe(0)
      expect(network.packetsUnclaimed).toBeGreaterThan(0)
    }
  })

  it("delay every packet by what they are told, one way alone", () => {
    const timeOf = (delayPs?: readonly [number, number]): number => {
      const network = new VerbsNetwork({ graph: twoHosts() })
      const [a, b] = network.devices.map((device) => makeEnd(device, "rc")) as [End, End]
      connect(a, b)
      if (delayPs !== undefined) network.links.impair(0, { delayPs }, "forward")
      write(a, b, 100)
      let at = 0
      a.cq.arm("next", () => {
        at = network.now
      })
      network.run()
      return at
    }
    expect(timeOf([10 * us, 10 * us]) - timeOf()).toBe(10 * us)
  })

  it("take a link down: a host with one is alone until it is up again", () => {
    const network = new VerbsNetwork({ graph: twoHosts() })
    const [a, b] = network.devices.map((device) => makeEnd(device, "rc", 1 << 20)) as [End, End]
    connect(a, b, { timeout: 5 })
    fill(a)
    write(a, b, 1 << 20)
    network.run(20 * us)
    network.links.set(1, false)
    network.run(500 * us)
    expect(network.devices[1]!.queryPort(1).state).toBe("down")
    expect(network.devices[1]!.pollAsyncEvent()).toMatchObject({ type: "PORT_ERR" })
    expect(network.kernel.dropCounts[-LinkDown]).toBeGreaterThan(0)
    expect(polled(a)).toEqual([])
    network.links.set(1, true)
    network.run()
    expect(network.devices[1]!.pollAsyncEvent()).toMatchObject({ type: "PORT_ACTIVE" })
    expect(outcomes(a)).toEqual([[1, WcStatus.Success]])
    expect(b.memory.octets).toEqual(a.memory.octets)
  })

  it("take a link down: a host with two goes on by the other, and switches route around", () => {
    const builder = new GraphBuilder()
    const [x, y] = [builder.host(), builder.host()]
    const [s, t] = [builder.switch(), builder.switch()]
    for (const host of [x, y]) for (const node of [s, t]) builder.link(host, node, { rate: "100Gbps", delay: "1us" })
    const network = new VerbsNetwork({ graph: builder.build() })
    const [a, b] = network.devices.map((device) => makeEnd(device, "rc", 1 << 20)) as [End, End]
    connect(a, b, { timeout: 5 })
    fill(a)
    for (let id = 0; id < 4; id++) write(a, b, 1 << 20, id)
    network.run(100 * us)
    const used = network.kernel.sentBytes(0) > 0 ? 0 : 1
    network.links.set(used, false)
    network.run()
    expect(outcomes(a).map(([, status]) => status)).toEqual([0, 0, 0, 0])
    expect(network.kernel.sentBytes(2 * (1 - used))).toBeGreaterThan(2 << 20)
    expect(network.devices[0]!.queryPort(1).state).toBe("active")
    expect(b.memory.octets).toEqual(a.memory.octets)
  })

  it("are found out by routes when these have converged: until then retries are in vain", () => {
    const builder = new GraphBuilder()
    const [x, y] = [builder.host(), builder.host()]
    const [s, t, u, v] = [0, 1, 2, 3].map(() => builder.switch()) as [number, number, number, number]
    const link = { rate: "100Gbps", delay: "1us" } as const
    // Links 2 and 3 are the way by u, 4 and 5 that by v.
    for (const [a, b] of [
      [x, s],
      [y, t],
      [s, u],
      [u, t],
      [s, v],
      [v, t],
    ] as const)
      builder.link(a, b, link)
    // Both ways are equal: the one that is taken goes down, whichever it is.
    for (const used of [2, 4]) {
      const plan = [
        { time: 20 * us, link: used, up: false },
        { time: 2000 * us, link: used, up: true },
      ]
      const network = new VerbsNetwork({ graph: builder.build(), faults: plan, convergencePs: 500 * us })
      const [a, b] = network.devices.map((device) => makeEnd(device, "rc", 1 << 20)) as [End, End]
      // A timeout of 4.096 us times 2^5 is 131 us.
      connect(a, b, { timeout: 5 })
      fill(a)
      write(a, b, 1 << 20)
      network.run()
      expect(outcomes(a)).toEqual([[1, WcStatus.Success]])
      expect(b.memory.octets).toEqual(a.memory.octets)
      const lost = network.kernel.dropCounts[-LinkDown]!
      // The other way was taken all along, or what went by this one was lost until the routes knew.
      if (network.kernel.sentBytes(2 * used) === 0) expect(lost).toBe(0)
      else expect(lost).toBeGreaterThan(0)
    }
  })

  it("make hosts slow: they take packets no faster than that, and stall", () => {
    const network = new VerbsNetwork({ graph: twoHosts() })
    const [a, b] = network.devices.map((device) => makeEnd(device, "rc", 1 << 20)) as [End, End]
    connect(a, b, { timeout: 0 })
    fill(a)
    network.links.limitReceiver(1, { rateBps: 10e9, pauses: true })
    write(a, b, 1 << 20)
    network.run()
    expect(outcomes(a)).toEqual([[1, WcStatus.Success]])
    // More than its octets take at 10 Gb/s, 839 us, and not more than a tenth for headers.
    expect(network.now).toBeGreaterThan(839 * us)
    expect(network.now).toBeLessThan(839 * 1.1 * us)
    expect(network.kernel.dropCounts.every((count) => count === 0)).toBe(true)
    expect(() => network.links.limitReceiver(2, undefined)).toThrow(/node 2 is not a host/)
  })

  it("are refused where they make no sense", () => {
    const { links } = new VerbsNetwork({ graph: twoHosts() })
    expect(() => links.set(2, false)).toThrow(/link 2 does not exist/)
    expect(() => links.impair(0, { loss: 1.5 })).toThrow(/loss 1.5 is not between 0 and 1/)
    expect(() => links.impair(0, { delayPs: [2, 1] })).toThrow(/the least at most the most/)
    expect(links.ofHost(1)).toBe(1)
    expect(() => links.ofHost(7)).toThrow(/node 7 has no link/)
    const graph = twoHosts()
    expect(() => new VerbsNetwork({ graph, faults: [{ time: 5, link: 9, up: false }] })).toThrow(
      /link 9 does not exist/,
    )
    expect(() => new VerbsNetwork({ graph, mtuBytes: 9000 })).toThrow(/mtuBytes is 9000/)
  })
})
