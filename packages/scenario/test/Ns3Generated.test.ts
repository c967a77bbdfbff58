import { createHash } from "node:crypto"
import { formatFlows, formatTopology, parseTopology } from "@rdmakit/ns3"
import { hostsOf, hpccFabric, hpccTestbed } from "@rdmakit/topology"
import { fbHadoop, hostLoadBps, poissonFlows } from "@rdmakit/workload"
import { expect, it } from "vitest"
import { ns3FlowsOf, ns3TopologyOf } from "../src/index.ts"

it("flows are the same to the byte as they ever were", () => {
  const flows = ns3FlowsOf(
    poissonFlows({
      hosts: [...hostsOf(hpccFabric())],
      sizes: fbHadoop,
      payloadBps: hostLoadBps(0.5, 100e9),
      startPs: 2e12,
      durationPs: 1e9,
      seed: 7,
    }),
  )
  const text = formatFlows(flows)
  expect(text.slice(0, 70)).toBe("16783\n45 283 3 100 670 2.000000116\n245 145 3 100 238852 2.000000119\n17")
  // Of the file that version 0 made, before workloads were a package.
  expect(createHash("sha256").update(text).digest("hex")).toBe(
    "aa9a8046b2211b0e4d818c0d17f57b8952eada6cdd9e348e9b3531db195ff2bc",
  )
})

it("a network is read back as it was", () => {
  const graph = hpccTestbed()
  const { nodes, switches, links } = parseTopology(formatTopology(ns3TopologyOf(graph)), "topology.txt")
  expect({ nodes, switches }).toEqual({ nodes: 37, switches: [32, 33, 34, 35, 36] })
  expect(links.map(({ line: _, ...link }) => link)).toEqual(graph.links)
})
