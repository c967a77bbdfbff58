import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { GraphBuilder, leafSpine } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { balancerNames, type SwitchSettings, sharedBufferSwitches } from "../src/index.ts"
import { lineRate, runFlows } from "./runs.ts"

/** Two leaves with four hosts each, four spines; as much above as below. */
const graph = leafSpine({ leaves: 2, spines: 4, hostsPerLeaf: 4 })
const LEAF = 8

const run = (settings: SwitchSettings, size = 400_000) =>
  runFlows(
    { graph, controller: lineRate, seed: 3, switches: sharedBufferSwitches(settings) },
    // Every host of the first leaf to one of the second.
    [0, 1, 2, 3].map((source) => ({ source, destination: 4 + source, size })),
  )

/** Shares of the bytes that the first leaf sent up by each of its four uplinks. */
const shares = ({ run: { world } }: ReturnType<typeof run>): Array<number> => {
  const up = [...world.ports.portsOf(LEAF)].filter((port) => world.ports.peerNode(port) > LEAF)
  const sent = up.map((port) => world.kernel.sentBytes(port))
  return sent.map((bytes) => bytes / sent.reduce((a, b) => a + b))
}

describe("load balancers of a leaf-spine network", () => {
  it.each(balancerNames)("%s: every flow finishes, twice the same, none quicker than alone", (loadBalancer) => {
    const [one, other] = [run({ loadBalancer }), run({ loadBalancer })]
    expect(one.outcome.flowsFinished).toBe(4)
    expect(one.outcome.digest).toBe(other.outcome.digest)
    expect(one.outcome.events).toBe(other.outcome.events)
    expect(one.run.world.kernel.pool.alive).toBe(0)
    for (let flow = 0; flow < 4; flow++) {
      expect(one.outcome.flows.completionTime(flow)).toBeGreaterThanOrEqual(one.outcome.idealPs[flow]!)
    }
  })

  it("spraying in turn spreads one flow's packets over all uplinks alike", () => {
    for (const share of shares(run({ loadBalancer: "spray" }))) expect(share).toBeCloseTo(0.25, 1)
    for (const share of shares(run({ loadBalancer: "spray-hashed" }))) expect(Math.abs(share - 0.25)).toBeLessThan(0.05)
    for (const share of shares(run({ loadBalancer: "adaptive" }))) expect(Math.abs(share - 0.25)).toBeLessThan(0.05)
  })

  it("a flow without gaps is one flowlet, so nothing is out of order; with a gap of nothing it is sprayed", () => {
    expect(run({ loadBalancer: "flowlet" }).outcome.retransmissions).toBe(0)
    expect(run({ loadBalancer: "flowlet", flowletGapPs: Infinity }).outcome.digest).toBe(
      run({ loadBalancer: "flowlet" }).outcome.digest,
    )
    // Packets of 1,048 B at 100 Gb/s come every 83.84 ns.
    const sprayed = run({ loadBalancer: "flowlet", flowletGapPs: 83_000 })
    expect(Math.min(...shares(sprayed))).toBeGreaterThan(0.2)
    expect(Math.min(...shares(run({ loadBalancer: "flowlet", flowletGapPs: 84_000 })))).toBeLessThan(0.2)
  })

  it("adaptive routing follows the queues: a link of a quarter of the rate gets less than half", () => {
    // In turn both get the same; by their queues the slow one gets about a fifth.
    expect(slowShare("spray")).toBeCloseTo(0.5, 2)
    expect(slowShare("adaptive")).toBeLessThan(0.35)
  })
})

/** Two hosts behind one switch, two ways to the other two hosts: the share that the one of a quarter of the rate gets. */
const slowShare = (loadBalancer: "spray" | "adaptive"): number => {
  const builder = new GraphBuilder()
  const hosts = builder.hosts(4)
  const [near, slow, fast, far] = builder.switches(4)
  for (const host of hosts) builder.link(host, host < 2 ? near! : far!)
  for (const [middle, rate] of [
    [slow!, "25Gbps"],
    [fast!, "100Gbps"],
  ] as const) {
    builder.link(near!, middle, { rate })
    builder.link(middle, far!, { rate })
  }
  const { run } = runFlows(
    { graph: builder.build(), controller: lineRate, switches: sharedBufferSwitches({ loadBalancer }) },
    [0, 1].map((source) => ({ source, destination: 2 + source, size: 500_000 })),
  )
  const { kernel, ports } = run.world
  const [bySlow, byFast] = [slow!, fast!].map((middle) => {
    const port = [...ports.portsOf(near!)].find((each) => ports.peerNode(each) === middle)!
    return kernel.sentBytes(port)
  })
  return bySlow! / (bySlow! + byFast!)
}

describe("a transport that goes back N, under spraying", () => {
  // Half of the ways are a microsecond longer, twelve packets' time at 100 Gb/s: sprayed packets overtake each other.
  const builder = new GraphBuilder()
  const hosts = builder.hosts(2)
  const [near, far, ...middle] = builder.switches(6)
  for (const host of hosts) builder.link(host, host === 0 ? near! : far!)
  for (const [index, each] of middle.entries()) {
    builder.link(near!, each, { delay: index < 2 ? "1us" : "2us" })
    builder.link(each, far!)
  }
  const uneven = builder.build()
  const size = 1_000_000
  const once = (loadBalancer: SwitchSettings["loadBalancer"] & string, controller = lineRate) =>
    runFlows({ graph: uneven, controller, switches: sharedBufferSwitches({ loadBalancer }) }, [
      { source: 0, destination: 1, size },
    ]).outcome

  it("sends again what only overtook, and takes longer for it; nothing was lost", () => {
    const ecmp = once("ecmp")
    expect(ecmp.retransmissions).toBe(0)
    for (const loadBalancer of ["spray", "spray-hashed", "adaptive"] as const) {
      const sprayed = once(loadBalancer)
      expect(sprayed.flowsFinished).toBe(1)
      expect(sprayed.dropsByReason).toEqual({})
      // More than a tenth of the thousand packets.
      expect(sprayed.retransmissions).toBeGreaterThan(100)
      expect(sprayed.flows.completionTime(0)).toBeGreaterThan(1.1 * ecmp.flows.completionTime(0))
    }
  })

  it("and HPCC, whose telemetry jumps from path to path, still finishes", () => {
    const sprayed = once("spray", hpcc(hpccPresets.simulation))
    expect(sprayed.flowsFinished).toBe(1)
    expect(sprayed.retransmissions).toBeGreaterThan(0)
  })
})
