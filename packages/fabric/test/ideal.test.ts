import { srd } from "@rdmakit/cc-srd"
import { leafSpine } from "@rdmakit/topology"
import { srdConfig, srdFlows } from "@rdmakit/transport-srd"
import { describe, expect, it } from "vitest"
import { sharedBufferSwitches } from "../src/index.ts"
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
