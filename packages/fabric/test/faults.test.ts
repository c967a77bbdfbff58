import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { GraphBuilder, leafSpine, star } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import type { Fault, LinkFault } from "../src/index.ts"
import { incast, lineRate, runFlows } from "./runs.ts"

const controller = hpcc(hpccPresets.simulation)
const transport = { ackTimeoutPs: 100e6 }
const US = 1e6

/** Hosts 0 and 1 at switches 2 and 3, which two ways join: over 4 (links 2 and 3), and over 5 and 6, which is longer. */
const twoWays = () => {
  const builder = new GraphBuilder()
  const [a, b] = [builder.host(), builder.host()]
  const [left, right, short, first, second] = [0, 1, 2, 3, 4].map(() => builder.switch()) as [
    number,
    number,
    number,
    number,
    number,
  ]
  builder.link(a, left)
  builder.link(b, right)
  builder.link(left, short)
  builder.link(short, right)
  builder.link(left, first)
  builder.link(first, second)
  builder.link(second, right)
  return builder.build()
}

describe("a link that goes down", () => {
  it("makes flows take another way, one that is longer; what was cut off is sent again", () => {
    const faults = [{ time: 10 * US, link: 2, up: false }]
    const flows = [{ source: 0, destination: 1, size: 1_000_000 }]
    const { outcome, run } = runFlows({ graph: twoWays(), controller, transport, faults }, flows)
    expect(outcome).toMatchObject({ flowsFinished: 1, unfinished: [] })
    expect(outcome.dropsByReason["link-down"]).toBeGreaterThan(5)
    expect(outcome.retransmissions).toBeGreaterThan(0)
    const { kernel } = run.world
    // Links 4 to 6 carried the rest.
    expect(kernel.sentBytes(8)).toBeGreaterThan(700_000)
    expect(kernel.pool.alive).toBe(0)
    expect(outcome.idealPs[0]! / outcome.flows.completionTime(0)).toBeLessThan(1)
  })

  it("and comes up again: the shorter way is taken again", () => {
    const faults = [
      { time: 20 * US, link: 2, up: true },
      { time: 10 * US, link: 2, up: false },
    ]
    const flows = [{ source: 0, destination: 1, size: 1_000_000 }]
    const { outcome, run } = runFlows({ graph: twoWays(), controller, transport, faults }, flows)
    expect(outcome.flowsFinished).toBe(1)
    expect(run.world.kernel.sentBytes(8)).toBeLessThan(200_000)
  })

  it("leaves a flow without a way waiting until it is up", () => {
    const faults = [
      { time: 5 * US, link: 1, up: false },
      { time: 250 * US, link: 1, up: true },
    ]
    const flows = [{ source: 0, destination: 1, size: 100_000 }]
    const { outcome, run } = runFlows({ graph: star(2), controller, transport, faults }, flows)
    expect(outcome).toMatchObject({ flowsFinished: 1, unfinished: [] })
    // Timeouts at 100 and 200 µs after the last progress come to nothing, that at 300 finds the link up.
    expect(outcome.flows.completionTime(0)).toBeGreaterThan(300 * US)
    expect(outcome.flows.completionTime(0)).toBeLessThan(330 * US)
    expect(run.world.kernel.pool.alive).toBe(0)
  })

  it("for good: a flow without a way says so, and so does one that starts later", () => {
    const faults = [{ time: 5 * US, link: 1, up: false }]
    const flows = [
      { source: 0, destination: 1, size: 100_000 },
      { source: 0, destination: 1, size: 1000, start: 50 * US },
      { source: 0, destination: 2, size: 100_000 },
    ]
    const { outcome } = runFlows({ graph: star(3), controller, transport, faults }, flows)
    expect(outcome.flowsFinished).toBe(1)
    expect(outcome.unfinished.map(({ destination, reason }) => [destination, reason])).toEqual([
      [1, expect.stringMatching(/^no route from node 0 to node 1: no acknowledgement of packet \d+ after 8 timeouts$/)],
      [1, "no route from node 0 to node 1"],
    ])
  })

  it("and the run ends with the last flow, finished or failed, not with a timer that is left", () => {
    const faults = [
      { time: 0, link: 4, up: false },
      { time: 2 * US, link: 4, up: true },
    ]
    const flows = [0, 1, 2].map((source) => ({ source, destination: 3, size: 1_000_000 }))
    const wayless = { source: 4, destination: 3, size: 1000, start: US }
    const { outcome, run } = runFlows({ graph: star(5), controller, faults }, [...flows, wayless])
    expect(outcome.unfinished.map(({ reason }) => reason)).toEqual(["no route from node 4 to node 3"])
    expect(outcome.simulatedPs).toBe(Math.max(...[0, 1, 2].map((flow) => outcome.flows.finished[flow]!)))
    expect(run.progress().simulatedPs).toBe(outcome.simulatedPs)
    // A failure that comes last is the end, and a stop time after it changes nothing.
    const late = [{ source: 0, destination: 3, size: 1000 }, wayless]
    const down = [{ time: 0, link: 4, up: false }]
    const wayfaults = { graph: star(5), controller, faults: down }
    expect(runFlows(wayfaults, [late[0]!, { ...wayless, start: 50 * US }]).outcome.simulatedPs).toBe(50 * US)
    const stopped = runFlows(wayfaults, late, 1e9).outcome
    expect(stopped.simulatedPs).toBe(stopped.flows.finished[0]!)
  })

  it("moves queue pairs of a host with two links", () => {
    const builder = new GraphBuilder()
    const [a, b] = [builder.host(), builder.host()]
    const [left, right] = [builder.switch(), builder.switch()]
    for (const each of [left, right]) {
      builder.link(a, each)
      builder.link(b, each)
    }
    const faults = [{ time: 10 * US, link: 0, up: false }]
    const flows = Array.from({ length: 8 }, () => ({ source: a, destination: b, size: 200_000 }))
    const { outcome, run } = runFlows({ graph: builder.build(), controller, transport, faults }, flows)
    expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [] })
    expect(run.world.kernel.pool.alive).toBe(0)
  })

  it("gives buffers back, whatever waited there", () => {
    const faults = [
      { time: 30 * US, link: 8, up: false },
      { time: 60 * US, link: 8, up: true },
    ]
    const { outcome, run } = runFlows({ graph: star(9), controller, transport, faults }, incast(8, 200_000))
    expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [], deadlock: null })
    expect(run.world.kernel.pool.alive).toBe(0)
  })

  it("in a fabric with more ways leaves every flow finished", () => {
    const graph = leafSpine({ leaves: 4, spines: 4, hostsPerLeaf: 4 })
    const up = graph.links.findIndex(({ a, b }) => graph.isSwitch[a] === 1 && graph.isSwitch[b] === 1)
    const faults = [
      { time: 10 * US, link: up, up: false },
      { time: 12 * US, link: up + 1, up: false },
      { time: 40 * US, link: up, up: true },
    ]
    const flows = Array.from({ length: 16 }, (_, source) => ({ source, destination: (source + 5) % 16, size: 500_000 }))
    const { outcome, run } = runFlows({ graph, controller, transport, faults }, flows)
    expect(outcome).toMatchObject({ flowsFinished: 16, unfinished: [] })
    expect(run.world.kernel.pool.alive).toBe(0)
    const again = runFlows({ graph, controller, transport, faults }, flows)
    expect(again.outcome.digest).toBe(outcome.digest)
  })
})

describe("routes that take time to converge", () => {
  const faults = [{ time: 10 * US, link: 2, up: false }]
  const flows = [{ source: 0, destination: 1, size: 1_000_000 }]

  it("lose what goes by the old ones, and then follow", () => {
    const convergencePs = 550 * US
    const options = { graph: twoWays(), controller, transport, faults, convergencePs }
    const early = runFlows(options, flows, 560 * US)
    expect(early.outcome.flowsFinished).toBe(0)
    expect(early.run.world.kernel.sentBytes(8)).toBe(0)
    const { outcome, run } = runFlows(options, flows)
    expect(outcome).toMatchObject({ flowsFinished: 1, unfinished: [] })
    // Timeouts at 100 to 500 µs after the last progress are in vain, that at 600 is not; what is left takes 85 µs.
    expect(outcome.flows.completionTime(0)).toBeGreaterThan(610 * US)
    expect(outcome.flows.completionTime(0)).toBeLessThan(730 * US)
    expect(run.world.kernel.sentBytes(8)).toBeGreaterThan(700_000)
    expect(run.world.kernel.pool.alive).toBe(0)
    expect(run.world.routes.isUp(2)).toBe(false)
  })

  it("leave flows of other ways alone, and hold no buffer for those that are lost", () => {
    const graph = leafSpine({ leaves: 2, spines: 2, hostsPerLeaf: 8 })
    const spine = graph.links.findIndex(({ a, b }) => graph.isSwitch[a] === 1 && graph.isSwitch[b] === 1)
    const flows = Array.from({ length: 8 }, (_, source) => ({ source, destination: 8 + source, size: 500_000 }))
    const dead = [{ time: 10 * US, link: spine, up: false }]
    const run = (kernel: "exact" | "fused") =>
      runFlows({ graph, controller, transport, faults: dead, convergencePs: 550 * US, kernel }, flows).outcome
    const outcome = run("fused")
    expect(outcome).toMatchObject({ flowsFinished: 8, pfcPauses: 0 })
    const times = flows.map((_, flow) => outcome.flows.completionTime(flow))
    expect(times.filter((time) => time < 300 * US).length).toBeGreaterThan(0)
    expect(times.filter((time) => time > 560 * US).length).toBeGreaterThan(0)
    expect(times.filter((time) => time >= 300 * US && time <= 560 * US)).toEqual([])
    expect(run("exact").digest).toBe(outcome.digest)
  })

  it("see a link that came up again as long after that", () => {
    const flap = [...faults, { time: 20 * US, link: 2, up: true }]
    const { outcome, run } = runFlows(
      { graph: twoWays(), controller, transport, faults: flap, convergencePs: 30 * US },
      flows,
    )
    expect(outcome.flowsFinished).toBe(1)
    // By the longer way from 40 to 50 µs alone, which is 125 kB at 100 Gb/s.
    expect(run.world.kernel.sentBytes(8)).toBeLessThanOrEqual(125_000)
    expect(run.world.kernel.sentBytes(8)).toBeGreaterThanOrEqual(0)
  })
})

describe("a rate of loss", () => {
  it("that changes during a run", () => {
    const faults = [
      { time: 10 * US, link: 0, lossRate: 0.05 },
      { time: 100 * US, link: 0, lossRate: 0 },
    ]
    const flows = [{ source: 0, destination: 1, size: 2_000_000 }]
    const { outcome } = runFlows({ graph: star(2), controller, transport, faults }, flows)
    expect(outcome.flowsFinished).toBe(1)
    expect(outcome.dropsByReason["link-loss"]).toBeGreaterThan(5)
  })
})

describe("impairments of a link", () => {
  const one = [{ source: 0, destination: 1, size: 1_000_000 }]
  const on = (fault: Omit<LinkFault, "time" | "link">, until?: number) =>
    runFlows({ graph: star(2), controller, transport, faults: [{ time: 0, link: 0, ...fault }], seed: 5 }, one, until)

  it("damage, repeat and delay packets, and the flow ends all the same", () => {
    const { outcome } = on({ impairment: { corruption: 0.02, duplication: 0.02, reordering: 0.02, reorderPs: 5 * US } })
    expect(outcome).toMatchObject({ flowsFinished: 1, unfinished: [] })
    expect(outcome.dropsByReason.corruption).toBeGreaterThan(5)
    expect(outcome.retransmissions).toBeGreaterThan(5)
    const clean = on({ impairment: {} }).outcome
    expect(clean.dropsByReason).toEqual({})
    expect(outcome.flows.completionTime(0)).toBeGreaterThan(clean.flows.completionTime(0))
  })

  it("in one direction alone: acknowledgements that vanish let packets through", () => {
    const back = on({ impairment: { blackHole: 1 }, direction: "backward" })
    expect(back.outcome.flowsFinished).toBe(0)
    expect(back.outcome.unfinished[0]!.reason).toMatch(/^no acknowledgement of packet 0 after 8 timeouts$/)
    // Port 3 is the switch's, to host 1; the first window and each of the timeouts' repetitions got there.
    expect(back.run.world.kernel.sentBytes(3)).toBeGreaterThan(8 * 1000)
    const there = on({ impairment: { blackHole: 1 }, direction: "forward" })
    expect(there.run.world.kernel.sentBytes(3)).toBe(0)
  })

  it("add to each other, and end one by one", () => {
    const faults: ReadonlyArray<LinkFault> = [
      { time: 0, link: 0, impairment: { corruption: 0.05 } },
      { time: 0, link: 0, impairment: { blackHole: 1 } },
      { time: 150 * US, link: 0, impairment: { blackHole: 0 } },
    ]
    const { outcome } = runFlows({ graph: star(2), controller, transport, faults }, one)
    expect(outcome.flowsFinished).toBe(1)
    expect(outcome.dropsByReason["black-hole"]).toBeGreaterThan(10)
    expect(outcome.dropsByReason.corruption).toBeGreaterThan(10)
  })

  it("are the same with either kernel", () => {
    const faults: ReadonlyArray<Fault> = [
      { time: 0, link: 8, impairment: { loss: 0.01, reordering: 0.05, reorderPs: 3 * US, delayPs: [0, US] } },
      { time: 20 * US, link: 3, impairment: { blackHole: 0.5 } },
      { time: 60 * US, link: 3, impairment: { blackHole: 0 } },
      { time: 30 * US, host: 8, receiver: { rateBps: 10e9, pauses: true } },
      { time: 90 * US, host: 8, receiver: undefined },
    ]
    const digest = (kernel: "exact" | "fused") =>
      runFlows({ graph: star(9), controller, transport, faults, kernel }, incast(8, 200_000)).outcome.digest
    expect(digest("exact")).toBe(digest("fused"))
  })
})

describe("a silent black hole", () => {
  it("takes the flows of a hash, and routes stay as they are", () => {
    const graph = leafSpine({ leaves: 2, spines: 2, hostsPerLeaf: 16 })
    const flows = Array.from({ length: 16 }, (_, source) => ({ source, destination: 16 + source, size: 100_000 }))
    const links = graph.links.flatMap(({ a, b }, link) =>
      graph.isSwitch[a] === 1 && graph.isSwitch[b] === 1 ? [link] : [],
    )
    const half = links.map((link) => ({ time: 0, link, impairment: { blackHole: 0.3 } }))
    const { outcome, run } = runFlows({ graph, controller, transport, faults: half }, flows)
    // Each flow crosses two such links there and two back: it gets through with a chance of 0.7^4 = 0.24.
    expect(outcome.flowsFinished).toBeGreaterThan(0)
    expect(outcome.flowsFinished).toBeLessThan(12)
    for (const { reason } of outcome.unfinished) expect(reason).toMatch(/^no acknowledgement of packet 0 after/)
    expect(links.every((link) => run.world.routes.isUp(link))).toBe(true)
    expect(run.world.kernel.pool.alive).toBe(0)
  })
})

describe("a slow receiver", () => {
  const flows = [
    { source: 0, destination: 2, size: 1_000_000 },
    { source: 1, destination: 2, size: 1_000_000 },
  ]
  const graph = star(3)

  it("bounds the rate of what it receives", () => {
    const faults = [{ time: 0, host: 2, receiver: { rateBps: 10e9, pauses: true } }]
    const { outcome } = runFlows({ graph, controller: lineRate, transport: { ackTimeoutPs: 100e9 }, faults }, flows)
    expect(outcome).toMatchObject({ flowsFinished: 2, unfinished: [], dropsByReason: {} })
    expect(outcome.pfcPauses).toBeGreaterThan(0)
    // 2,000 packets of 1,048 B are 1,676.8 µs at 10 Gb/s; the last acknowledgement takes 2 µs more.
    expect(outcome.simulatedPs).toBeGreaterThan(1676.8 * US)
    expect(outcome.simulatedPs).toBeLessThan(1690 * US)
  })

  it("that stalls holds its flows until it goes on", () => {
    const faults = [
      { time: 20 * US, host: 2, receiver: { rateBps: 0, pauses: true } },
      { time: 500 * US, host: 2, receiver: undefined },
    ]
    const { outcome } = runFlows({ graph, controller: lineRate, transport: { ackTimeoutPs: 100e9 }, faults }, flows)
    expect(outcome).toMatchObject({ flowsFinished: 2, dropsByReason: {}, retransmissions: 0 })
    expect(outcome.simulatedPs).toBeGreaterThan(500 * US)
    // 2,096,000 B are 168 µs at line rate, of which 20 came before; by half of its MiB the buffer took some more.
    expect(outcome.simulatedPs).toBeLessThan(650 * US)
  })

  it("without pauses loses what finds no room", () => {
    const faults = [
      { time: 20 * US, host: 2, receiver: { rateBps: 0, bufferBytes: 50_000 } },
      { time: 200 * US, host: 2, receiver: undefined },
    ]
    const { outcome } = runFlows({ graph, controller, transport, faults }, flows)
    expect(outcome).toMatchObject({ flowsFinished: 2, unfinished: [] })
    expect(outcome.dropsByReason["receiver-overflow"]).toBeGreaterThan(10)
  })

  it("for good: its flows say who pauses them", () => {
    const faults = [{ time: 20 * US, host: 2, receiver: { rateBps: 0, pauses: true } }]
    const options = { graph, controller: lineRate, transport: { ackTimeoutPs: 100e9 }, faults }
    const { outcome } = runFlows(options, flows, 2000 * US)
    expect(outcome.unfinished.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("paused by node 2 (priority 3)"),
      expect.stringContaining("paused by node 2 (priority 3)"),
    ])
  })
})

it("faults that change nothing make no difference", () => {
  const plain = runFlows({ graph: star(9), controller, transport }, incast(8, 100_000)).outcome
  const faults = [{ time: 0, link: 0, lossRate: 0 }]
  const { outcome } = runFlows({ graph: star(9), controller, transport, faults }, incast(8, 100_000))
  expect(outcome).toMatchObject({ digest: plain.digest, packetHops: plain.packetHops })
})

it("faults of links that do not exist, and shares that are none, are refused", () => {
  const make = (fault: object) => () =>
    runFlows({ graph: star(2), controller, faults: [{ time: 0, link: 0, ...fault }] }, [])
  expect(make({ link: 2, up: false })).toThrow("link 2 does not exist")
  expect(make({ lossRate: 1.5 })).toThrow("loss rate 1.5 is not between 0 and 1")
  expect(make({ impairment: { blackHole: -0.1 } })).toThrow("blackHole -0.1 is not between 0 and 1")
  expect(make({ impairment: { delayPs: [2, 1] } })).toThrow("the least at most the most")
  const host = (node: number, receiver: object) => () =>
    runFlows(
      { graph: star(2), controller, faults: [{ time: 0, host: node, receiver: { rateBps: 1, ...receiver } }] },
      [],
    )
  expect(host(2, {})).toThrow("node 2 is not a host")
  expect(host(1, { rateBps: -1 })).toThrow("host 1 receives at -1 bit/s: expected at least 0")
  expect(host(1, { bufferBytes: 0 })).toThrow("host 1 has a buffer of 0 bytes: expected at least 1")
  const convergence = (convergencePs: number) => () =>
    runFlows({ graph: star(2), controller, faults: [], convergencePs }, [])
  expect(convergence(-1)).toThrow("convergencePs is -1: expected a whole number of picoseconds, at least 0")
  expect(convergence(Number.NaN)).toThrow("convergencePs is NaN")
})
