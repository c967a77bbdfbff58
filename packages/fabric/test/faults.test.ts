import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { GraphBuilder, leafSpine, star } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { incast, runFlows } from "./runs.ts"

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
  const convergence = (convergencePs: number) => () =>
    runFlows({ graph: star(2), controller, faults: [], convergencePs }, [])
  expect(convergence(-1)).toThrow("convergencePs is -1: expected a whole number of picoseconds, at least 0")
  expect(convergence(Number.NaN)).toThrow("convergencePs is NaN")
})
