import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { ReadyListNic } from "@rdmakit/nic"
import { FusedKernel } from "@rdmakit/sim"
import { LeastQueued } from "@rdmakit/switch"
import { leafSpine } from "@rdmakit/topology"
import { rcConfig, rcFlows } from "@rdmakit/transport-ib"
import { Admission } from "@rdmakit/workload"
import { describe, expect, it } from "vitest"
import { type FlowInput, type NativeOptions, sharedBufferSwitches } from "../src/index.ts"
import { runFlows, start } from "./runs.ts"

const graph = leafSpine({ leaves: 4, spines: 2, hostsPerLeaf: 4 })
const controller = hpcc(hpccPresets.simulation)
const options: NativeOptions = { graph, controller }
const flows: ReadonlyArray<FlowInput> = Array.from({ length: 48 }, (_, i) => ({
  source: i % 16,
  destination: (i * 7 + 5) % 16 === i % 16 ? (i + 1) % 16 : (i * 7 + 5) % 16,
  size: 1000 * (1 + (i % 9) ** 2),
  start: 1000 * i,
}))

const takesTurns = (more: Partial<NativeOptions>): boolean => {
  const { kernel } = start({ ...options, ...more }, flows).world
  return kernel instanceof FusedKernel && kernel.takesTurns
}
const ownTransport = (local: boolean) => () => ({ ...rcFlows(rcConfig({ controller, mtuBytes: 1000 })), local })

describe("nodes take turns", () => {
  it("of a network whose parts are local", () => {
    expect(takesTurns({})).toBe(true)
    expect(takesTurns({ switches: sharedBufferSwitches({ loadBalancer: "adaptive" }) })).toBe(true)
    expect(takesTurns({ makeTransport: ownTransport(true) })).toBe(true)
  })

  it.each<[string, Partial<NativeOptions>]>([
    ["the exact kernel", { kernel: "exact" }],
    [
      "a load balancer of one's own",
      { switches: sharedBufferSwitches({ loadBalancer: (seed, ports) => new LeastQueued(seed, ports) }) },
    ],
    ["switches of one's own", { switches: (network) => sharedBufferSwitches()(network) }],
    ["NICs of one's own", { nics: () => (nic) => new ReadyListNic(nic) }],
    ["a transport that does not say it is local", { makeTransport: ownTransport(false) }],
    ["controllers that share what they know", { controller: { ...controller, shared: true } }],
    ["admission control", { admission: { make: (table) => new Admission({ flowsPerReceiver: 1 }, table) } }],
    ["a watchdog", { watchdog: {} }],
    ["faults", { faults: [{ link: 0, time: 1e6, up: false }] }],
    ["short links", { graph: { ...graph, links: graph.links.map((link) => ({ ...link, delayPs: 1000 })) } }],
    [
      "one long link among short ones",
      { graph: { ...graph, links: graph.links.map((link, i) => ({ ...link, delayPs: i === 0 ? 1e9 : 1e6 })) } },
    ],
  ])("not with %s", (_name, more) => {
    expect(takesTurns(more)).toBe(false)
  })

  it("with the same results as in the order of time, and a run may be cut anywhere", () => {
    const exact = runFlows({ ...options, kernel: "exact" }, flows).outcome
    const plain = runFlows(options, flows).outcome
    const run = start(options, flows)
    for (let until = 0; until < exact.simulatedPs; until += 77_777) run.world.run(until, 1 << 20)
    while (run.step(1)) {}
    const cut = run.outcome(false)
    expect(exact.flowsFinished).toBe(48)
    for (const { digest, packetHops, simulatedPs } of [plain, cut]) {
      expect([digest, packetHops, simulatedPs]).toEqual([exact.digest, exact.packetHops, exact.simulatedPs])
    }
    expect(cut.packetsPeak).toBe(plain.packetsPeak)
  })

  it("of switches whose departures are never late too, and the run has an end", () => {
    const make = sharedBufferSwitches()
    const eager: NativeOptions["switches"] = Object.assign(
      (network: Parameters<typeof make>[0]) => {
        const switchOf = make(network)
        return (...args: Parameters<typeof switchOf>) =>
          Object.defineProperty(switchOf(...args), "dequeue", { value: "eager" })
      },
      { local: true },
    )
    expect(takesTurns({ switches: eager })).toBe(true)
    const exact = runFlows({ ...options, kernel: "exact", switches: eager }, flows).outcome
    const fused = start({ ...options, switches: eager }, flows)
    let steps = 0
    while (fused.step(1 << 20)) expect(++steps).toBeLessThan(10)
    expect(fused.world.kernel.isDone).toBe(true)
    expect(fused.outcome(false).digest).toBe(exact.digest)
  })

  it("under a tracer events are in the order of time", () => {
    const run = start(options, flows)
    const times: Array<number> = []
    run.world.kernel.tracer = {
      received: (now) => void times.push(now),
      enqueued: () => {},
      dequeued: () => {},
    }
    while (run.step(1 << 20)) {}
    expect(times.length).toBeGreaterThan(1000)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(run.outcome(false).digest).toBe(runFlows(options, flows).outcome.digest)
  })
})
