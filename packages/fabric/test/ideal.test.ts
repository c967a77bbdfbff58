import { tcp } from "@rdmakit/cc-cubic"
import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { srd } from "@rdmakit/cc-srd"
import { GraphBuilder, leafSpine } from "@rdmakit/topology"
import { srdConfig, srdFlows } from "@rdmakit/transport-srd"
import { tcpConfig, tcpFlows } from "@rdmakit/transport-tcp"
import { describe, expect, it } from "vitest"
import { type LinkFault, type NativeOptions, sharedBufferSwitches } from "../src/index.ts"
import { runFlows } from "./runs.ts"

/** Two hosts, each behind a leaf of its own; slowdown of one flow by SRD alone. */
const srdAlone = (spines: number, hostGbps: number, fabricGbps: number, size: number): number => {
  const [host, fabric] = [hostGbps, fabricGbps].map((rate) => ({ rate: `${rate}Gbps`, delay: "100ns" }))
  const graph = leafSpine({ leaves: 2, spines, hostsPerLeaf: 1 }, { host: host!, fabric: fabric! })
  const { outcome } = runFlows(
    {
      graph,
      controller: srd(),
      makeTransport: (controller) => srdFlows(srdConfig({ controller })),
      switches: sharedBufferSwitches({ loadBalancer: "entropy", lossless: false }),
    },
    [{ source: 0, destination: 1, size }],
  )
  expect(outcome.unfinished).toEqual([])
  return outcome.flows.completionTime(0) / outcome.idealPs[0]!
}

describe("the ideal of a sprayed flow", () => {
  it.each([
    [4, 10, 10],
    [4, 100, 25],
    [3, 100, 25],
    [2, 25, 100],
    [4, 100, 7],
  ])(
    "%d spines, hosts of %d Gb/s, %d Gb/s above: no flow is quicker, and few packets take just so long",
    (...network) => {
      // Packets hold 4,096 B: a short last one overtakes the others.
      for (const size of [1, 4000, 4096, 4097, 6000, 8192]) expect(srdAlone(...network, size)).toBe(1)
      for (const size of [9000, 20_000, 50_000, 300_000]) expect(srdAlone(...network, size)).toBeGreaterThanOrEqual(1)
    },
  )

  it("over a single way is that of packets in a row", () => {
    for (const size of [1, 6000, 8192, 20_000]) expect(srdAlone(1, 100, 40, size)).toBe(1)
    // The acknowledgement of a last packet this short waits for the one before.
    for (const size of [4097, 9000]) expect(srdAlone(1, 100, 40, size)).toBeGreaterThan(1)
  })
})

const US = 1e6
const fast = { rate: "100Gbps", delay: "1us" }
const slow = { rate: "1Gbps", delay: "1us" }

/** Hosts 0 and 1 at switches 2 and 3, which link 2 joins, and a detour of 1 Gb/s over 4 (links 3 and 4). */
const detour = () => {
  const builder = new GraphBuilder()
  const hosts = builder.hosts(2)
  const [left, right, middle] = [builder.switch(), builder.switch(), builder.switch()]
  builder.link(hosts[0]!, left, fast)
  builder.link(hosts[1]!, right, fast)
  builder.link(left, right, fast)
  builder.link(left, middle, slow)
  builder.link(middle, right, slow)
  return builder.build()
}

const rc: Pick<NativeOptions, "controller" | "makeTransport"> = { controller: hpcc(hpccPresets.simulation) }
const byTcp: typeof rc = {
  controller: tcp({ variant: "cubic" }),
  makeTransport: (controller) => tcpFlows(tcpConfig({ controller })),
}

/** Completion and ideal of one flow from host 0 to host 1, ps. */
const timesOf = (options: NativeOptions, faults: ReadonlyArray<LinkFault>, size: number, start = 0) => {
  const flows = [{ source: 0, destination: 1, size, start }]
  const { outcome } = runFlows({ ...options, faults }, flows)
  expect(outcome.unfinished).toEqual([])
  return { completion: outcome.flows.completionTime(0), ideal: outcome.idealPs[0]! }
}

describe("the ideal of a flow whose links change", () => {
  const down = (time: number): LinkFault => ({ time, link: 2, up: false })

  it.each([
    ["rc", rc],
    ["tcp", byTcp],
  ])("%s: a detour makes the flow slower, not its ideal longer", (_name, options) => {
    const run = (faults: ReadonlyArray<LinkFault>) => timesOf({ graph: detour(), ...options }, faults, 1_000_000)
    const whole = run([])
    // Near the end of what it takes without.
    const late = run([down(Math.floor(0.9 * whole.completion))])
    expect(late.ideal).toBe(whole.ideal)
    expect(late.completion).toBeGreaterThan(1.3 * whole.completion)
    // Up again long after the flow has ended.
    const more = [down(20 * US), { time: 1e12, link: 2, up: true }]
    expect(run(more).ideal).toBe(whole.ideal)
  })

  it("a change at the moment a flow begins is from before it", () => {
    const run = (time: number, start: number) => timesOf({ graph: detour(), ...rc }, [down(time)], 100_000, start)
    const slower = run(0, 10 * US)
    expect(slower.ideal).toBeGreaterThan(800 * US)
    expect(run(0, 0)).toEqual(slower)
    expect(run(10 * US, 10 * US)).toEqual(slower)
    expect(run(11 * US, 10 * US).ideal).toBeLessThan(20 * US)
  })

  it("no flow is quicker than its ideal when a better way comes up", () => {
    const faults = [down(0), { time: 200 * US, link: 2, up: true }]
    const { completion, ideal } = timesOf({ graph: detour(), ...rc }, faults, 1_000_000)
    expect(completion).toBeLessThan(1000 * US)
    expect(completion).toBeGreaterThan(ideal)
    expect(ideal).toBe(timesOf({ graph: detour(), ...rc }, [], 1_000_000).ideal)
  })

  it("sprayed: spines that die at any time of a flow leave its ideal as it is", () => {
    const graph = leafSpine(
      { leaves: 2, spines: 4, hostsPerLeaf: 1 },
      { host: fast, fabric: { rate: "25Gbps", delay: "1us" } },
    )
    const switches = sharedBufferSwitches({ loadBalancer: "entropy", lossless: false })
    const makeTransport: NativeOptions["makeTransport"] = (controller) => srdFlows(srdConfig({ controller }))
    const options = { graph, controller: srd(), makeTransport, switches }
    const between = graph.links.flatMap(({ a, b }, link) =>
      graph.isSwitch[a] === 1 && graph.isSwitch[b] === 1 ? [link] : [],
    )
    const run = (time: number) =>
      timesOf(
        options,
        between.slice(0, 3).map((link) => ({ time, link, up: false })),
        1_000_000,
      )
    const whole = timesOf(options, [], 1_000_000)
    for (const time of [30 * US, 60 * US, whole.completion - 4 * US, whole.completion - US]) {
      expect(run(time).ideal).toBe(whole.ideal)
    }
  })
})
