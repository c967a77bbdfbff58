import {
  bytesOf,
  fbHadoop,
  fixedSize,
  hostLoadBps,
  labels,
  mergedFlows,
  networkLoadBps,
  poissonFlows,
  randomIncastFlows,
} from "@rdmakit/workload"

// The traffic of HPCC's simulations (§5.1, §5.3): 320 hosts at 100 Gb/s, Facebook's Hadoop flows at 30 % of their
// links, and 60 hosts at a time that send 500 KB each to one, 2 % of the network's capacity in all.
const hosts = Array.from({ length: 320 }, (_, host) => host)
const ratesBps = hosts.map(() => 100e9)
const durationPs = 10e9
const seed = 4

const ordinary = poissonFlows({ hosts, sizes: fbHadoop, payloadBps: hostLoadBps(0.3, 100e9), durationPs, seed })
const incasts = randomIncastFlows({
  ...{ hosts, fanIn: 60, sizes: fixedSize(500_000) },
  ...{ payloadBps: networkLoadBps(0.02, ratesBps), durationPs, seed },
})
export const flows = mergedFlows([ordinary, incasts])

const load = (bytes: number): string => `${((bytes * 8e12) / durationPs / 320e9).toFixed(1)} %`
const isIncast = ({ destinationPort }: { destinationPort: number }): boolean => destinationPort === labels.incast

export const report = [
  `${flows.length} flows in 10 ms, ${flows.filter(isIncast).length / 60} incasts`,
  `load ${load(bytesOf(flows))}, incasts ${load(bytesOf(incasts))}`,
]
