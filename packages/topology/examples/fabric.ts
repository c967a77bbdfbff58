import { clos, Ns3Delays, Ports, Routes } from "@rdmakit/topology"

const graph = clos(
  { pods: 2, torsPerPod: 2, aggsPerPod: 2, coresPerAgg: 2, hostsPerTor: 4 },
  { host: { rate: "100Gbps", delay: "1us" }, fabric: { rate: "400Gbps" } },
)
const ports = new Ports(graph)
const routes = new Routes(graph, ports)

const firstSwitch = ports.peerNode(routes.nextHops(0, 15)[0]!)
const { rttNs, bdpBytes } = new Ns3Delays(routes, ports, 1000).pair(0, 15)

export const report = [
  `${graph.nodes} nodes, ${graph.links.length} links, ${routes.maxHops} switches on the longest path`,
  `from switch ${firstSwitch} to host 15: ${routes.nextHops(firstSwitch, 15).length} next hops`,
  `from host 0 to host 15: ${rttNs} ns there and back, ${bdpBytes} bytes in flight`,
]
