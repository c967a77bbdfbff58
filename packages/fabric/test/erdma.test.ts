import { tcp } from "@rdmakit/cc-cubic"
import { hpccFamily } from "@rdmakit/cc-erdma"
import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import type { ControllerFactory } from "@rdmakit/protocol"
import { GraphBuilder, leafSpine } from "@rdmakit/topology"
import { CcAlgorithm, type ErdmaOptions, erdmaFlows, negotiatedController } from "@rdmakit/transport-erdma"
import { describe, expect, it } from "vitest"
import { sharedBufferSwitches } from "../src/index.ts"
import { incast, runFlows } from "./runs.ts"

const US = 1e6
const lossy = sharedBufferSwitches({ lossless: false })

const controllers: Readonly<Record<number, ControllerFactory>> = {
  [CcAlgorithm.NewReno]: tcp({ variant: "newreno" }),
  [CcAlgorithm.Cubic]: tcp({ variant: "cubic" }),
  [CcAlgorithm.HpccRtt]: hpccFamily({ variant: "rtt" }),
  [CcAlgorithm.HpccEcn]: hpccFamily({ variant: "ecn" }),
  [CcAlgorithm.HpccInt]: hpcc(hpccPresets["later-advice"]),
}

const carriedBy = (options: Omit<ErdmaOptions, "controller"> = {}) => ({
  makeTransport: (controller: ControllerFactory) => erdmaFlows({ controller, ...options }),
  switches: lossy,
})

/** Two hosts at a switch, 100 Gb/s; the second's link loses a share of the packets, each way. Round trips in µs. */
const pairOf = (rttUs: number, loss: number) => {
  const builder = new GraphBuilder()
  const [first, second] = [builder.host(), builder.host()]
  const middle = builder.switch()
  // A data packet and its acknowledgement are serialized twice each.
  const delay = Math.round((rttUs - 1.4) / 4 / 0.001) * 1000
  builder.link(first, middle, { rate: "100Gbps", delay })
  builder.link(second, middle, { rate: "100Gbps", delay, loss })
  return builder.build()
}

/** Payload of one long flow in the time it takes, as a share of the line rate. */
const goodput = (algorithm: number, rttUs: number, loss: number, options: Omit<ErdmaOptions, "controller"> = {}) => {
  const size = rttUs < 50 ? 40_000_000 : 120_000_000
  const controller = controllers[algorithm]!
  const { outcome, run } = runFlows({ graph: pairOf(rttUs, loss), controller, seed: 7, ...carriedBy(options) }, [
    { source: 0, destination: 1, size },
  ])
  expect(outcome).toMatchObject({ flowsFinished: 1, unfinished: [] })
  expect(run.world.kernel.pool.alive).toBe(0)
  return (size * 8e12) / outcome.flows.completionTime(0) / 100e9
}

describe.each([
  ["HPCC_RTT", CcAlgorithm.HpccRtt],
  ["HPCC_ECN", CcAlgorithm.HpccEcn],
  ["HPCC_INT", CcAlgorithm.HpccInt],
])("eRDMA under loss, %s", { timeout: 60_000 }, (_name, algorithm) => {
  it.each([12, 100])(
    "RTT %i µs: over 90 percent of line rate where 1 in 100 is lost, over 70 where 1 in 10 is",
    (rttUs) => {
      expect(goodput(algorithm, rttUs, 0.01)).toBeGreaterThan(0.9)
      expect(goodput(algorithm, rttUs, 0.1)).toBeGreaterThan(0.7)
    },
  )
})

describe("eRDMA under loss, the controllers that take it for congestion", { timeout: 60_000 }, () => {
  it.each([
    ["NewReno", CcAlgorithm.NewReno],
    ["CUBIC", CcAlgorithm.Cubic],
  ])("%s does not keep it", (_name, algorithm) => {
    expect(goodput(algorithm, 12, 0)).toBeGreaterThan(0.95)
    expect(goodput(algorithm, 12, 0.1)).toBeLessThan(0.5)
  })

  it("two ends that ask for different ones have CUBIC", () => {
    const controller = negotiatedController(controllers, CcAlgorithm.HpccRtt, CcAlgorithm.HpccInt)
    expect(controller).toBe(controllers[CcAlgorithm.Cubic])
  })
})

describe("eRDMA in congestion", () => {
  it.each([
    ["HPCC_RTT", CcAlgorithm.HpccRtt],
    ["HPCC_ECN", CcAlgorithm.HpccEcn],
    ["HPCC_INT", CcAlgorithm.HpccInt],
  ])("%s: sixteen into one finish in little more than it takes", (_name, algorithm) => {
    const builder = new GraphBuilder()
    const hosts = builder.hosts(17)
    const middle = builder.switch()
    for (const host of hosts) builder.link(host, middle, { rate: "100Gbps", delay: "2.5us" })
    const controller = controllers[algorithm]!
    const { outcome } = runFlows({ graph: builder.build(), controller, ...carriedBy() }, incast(16, 1_000_000))
    expect(outcome).toMatchObject({ flowsFinished: 16, unfinished: [] })
    // 16 MB and their headers at 100 Gb/s.
    const idealPs = (16e6 * 8e12 * (8588 / 8428)) / 100e9
    expect(outcome.simulatedPs / idealPs).toBeLessThan(1.15)
  })
})

describe("the overlay", () => {
  it("flows of one pair of hosts take the paths that the tunnels' ports give them", () => {
    const graph = leafSpine({ leaves: 2, spines: 4, hostsPerLeaf: 1 })
    const flows = Array.from({ length: 64 }, () => ({ source: 0, destination: 1, size: 20_000 }))
    const { outcome, run } = runFlows({ graph, controller: controllers[2]!, ...carriedBy() }, flows)
    expect(outcome.flowsFinished).toBe(64)
    const { kernel, ports } = run.world
    const leaf = 2
    const used = [...ports.portsOf(leaf)].map((port) => kernel.sentBytes(port)).filter((bytes) => bytes > 100_000)
    expect(used.length).toBe(4)
  })

  it("a link that goes down is survived, and routes are followed", () => {
    const graph = leafSpine({ leaves: 2, spines: 2, hostsPerLeaf: 1 })
    const faults = [
      { time: 50 * US, link: 2, up: false },
      { time: 300 * US, link: 2, up: true },
    ]
    const flows = Array.from({ length: 8 }, () => ({ source: 0, destination: 1, size: 1_000_000 }))
    const { outcome, run } = runFlows({ graph, controller: controllers[2]!, faults, ...carriedBy() }, flows)
    expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [] })
    expect(run.world.kernel.pool.alive).toBe(0)
  })
})
