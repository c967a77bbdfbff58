import { erdmaFraming, vxlanFraming } from "@rdmakit/transport-erdma"
import { rocev2Framing } from "@rdmakit/transport-ib"
import { srdFraming } from "@rdmakit/transport-srd"
import type { Claim, Figure, ScenarioPart, System } from "../src/Claim.ts"
import { completionPs, type Growth, type GrowthSetting, hostsCached, memoryBytes } from "../src/Growth.ts"

const MESSAGE_BYTES = 64
/** State of a connection in a NIC, and the NIC's memory for it: Kalia et al., eRPC, NSDI 2019, §2. Remembered. */
const CONTEXT_BYTES = 375
const CACHE_BYTES = 2 * 2 ** 20
/** A read over PCIe, and how many a NIC has under way: assumed. */
const PCIE_PS = 1e6
const FETCHES = 16
/** Of rings of 128 sends and 128 receives: InfiniBand's and EFA's 64 and 16 bytes, eRDMA's 128 and 32 (drivers of Linux). */
const RING_BYTES = 128 * (64 + 16)
const ERDMA_RING_BYTES = 128 * (128 + 32)
const wire = (headers: number, least: number): number => Math.max(MESSAGE_BYTES + headers, least)

const connections = (hosts: number, processes: number): number => (hosts - 1) * processes * processes
const roce = rocev2Framing("none", 1)
const erdmaWire = vxlanFraming(erdmaFraming(0))

const reckoned: Readonly<Record<string, Growth>> = {
  RC: {
    contexts: connections,
    contextBytes: CONTEXT_BYTES,
    queuePairs: connections,
    ringBytes: RING_BYTES,
    wireBytes: wire(roce.dataBytes, roce.leastBytes),
    missPs: PCIE_PS,
  },
  // Nobody publishes its context. That it lies in the card's own memory, 100 ns away, is assumed.
  eRDMA: {
    contexts: connections,
    contextBytes: CONTEXT_BYTES,
    queuePairs: connections,
    ringBytes: ERDMA_RING_BYTES,
    wireBytes: wire(erdmaWire.dataBytes, erdmaWire.leastBytes),
    missPs: PCIE_PS / 10,
  },
  // A queue pair a process, and a context for each peer host, of the same size for want of a published one.
  SRD: {
    contexts: (hosts, processes) => hosts - 1 + processes,
    contextBytes: CONTEXT_BYTES,
    queuePairs: (_, processes) => processes,
    ringBytes: RING_BYTES,
    wireBytes: wire(srdFraming.dataBytes, srdFraming.leastBytes),
    missPs: PCIE_PS,
  },
}

const setting: GrowthSetting = {
  processes: 4,
  cacheBytes: CACHE_BYTES,
  fetches: FETCHES,
  messagePs: 10e3,
  rateBps: 100e9,
  rttPs: 4e6,
}
const SIZES = [16, 32, 64, 128, 256, 512, 1024, 4096, 16_384, 65_536, 100_000]
const LARGEST = SIZES.at(-1)!
/** More than a NIC has contexts of connections for, and fewer than it has contexts of peers for. */
const BEYOND = 4096

const bench = ({ name }: System) => {
  const system = reckoned[name]!
  const line = (value: (hosts: number) => number) => SIZES.map((hosts, place) => [place, value(hosts)] as const)
  return {
    numbers: {
      "hosts cached": hostsCached(setting, system),
      "hosts cached, one process": hostsCached({ ...setting, processes: 1 }, system),
      "memory at most": memoryBytes(setting, system, LARGEST),
      "completion beyond the cache": completionPs(setting, system, BEYOND) / 1e12,
      "completion at most": completionPs(setting, system, LARGEST) / 1e12,
    },
    lines: {
      memory: line((hosts) => memoryBytes(setting, system, hosts)),
      completion: line((hosts) => completionPs(setting, system, hosts) / 1e12),
    },
  }
}

const lossy: ScenarioPart = { switch: { lossless: false, ecn: false } }
const systems: ReadonlyArray<System> = [
  {
    name: "RC",
    scenario: {
      controller: { name: "dcqcn", preset: "simulation+w" },
      transport: { framing: "rocev2", mtu: 4096 },
      switch: { ecn: false },
    },
  },
  { name: "eRDMA", scenario: { transport: { name: "erdma" }, ...lossy } },
  { name: "SRD", scenario: { transport: { name: "srd" }, ...lossy } },
]

const pictureOf = (title: string, line: string, unit: "B" | "s") =>
  ({
    kind: "bench",
    title,
    line,
    x: {
      label: "hosts",
      places: SIZES.map((hosts) => (hosts < 1000 ? String(hosts) : `${Math.floor(hosts / 1000)}k`)),
    },
    y: { unit, logarithmic: true },
  }) as const
const completion = { kind: "completion", at: "max" } as const
const formula = (id: string, what: string, number: string, unit: "" | "B" | "s") => ({
  id,
  what: `${what}, by formula`,
  metric: { kind: "bench", number } as const,
  unit,
  mark: "read" as const,
  published: {},
})
const OURS: Claim["order"] = [
  ["SRD", "RC"],
  ["SRD", "eRDMA"],
]

export const growth: Figure = {
  id: "growth",
  title: "All-to-all on ever more hosts",
  source: "Alibaba Cloud, launch of eRDMA, 2021; SRD, IEEE Micro 40(6), 2020",
  section: "300 to 400 devices; queue pairs of a cluster",
  about: `Every host sends ${MESSAGE_BYTES} bytes to every other, at once, over one switch: in packets, a process a host, which measures the network. What a NIC does with its contexts is reckoned, not simulated: four processes a host, 375 bytes a context, a cache of 2 MiB (both remembered of eRPC, NSDI 2019), 1 µs for a context that is not there and 16 fetched at a time, 10 ns a message (assumed). RC and eRDMA have a queue pair for every pair of processes, SRD one for each process and a context for each peer host. eRDMA's contexts are assumed to lie in memory of its card, 100 ns away. At 100,000 hosts SRD's contexts have no room in that cache either.`,
  scenario: { seed: 1, flows: { workload: "all-to-all", size: `${MESSAGE_BYTES}B` } },
  extents: {
    quick: { scenario: {}, less: "up to 128 hosts in packets" },
    full: { scenario: {}, less: "up to 512 hosts in packets" },
  },
  systems,
  sweep: {
    what: "hosts",
    points: [16, 32, 64, 128, 256, 512].map((hosts) => ({
      name: String(hosts),
      scenario: { topology: { builder: "star", hosts } },
      full: hosts > 128,
    })),
  },
  bench,
  pictures: [
    { kind: "by-point", title: "Completion, in packets", metric: completion, unit: "s", logarithmic: true },
    pictureOf("Completion, by formula", "completion", "s"),
    pictureOf("Memory of a host, by formula", "memory", "B"),
  ],
  claims: [
    {
      ...formula("devices", "hosts whose contexts a NIC's cache holds", "hosts cached", ""),
      published: { RC: { atLeast: 300, atMost: 400 } },
      calibrated: "four processes a host give it; with one it would be 5,593 hosts",
      order: [["RC", "SRD"]],
    },
    {
      ...formula("devices-one-process", "the same with one process a host", "hosts cached, one process", ""),
      published: { RC: { atLeast: 300, atMost: 400 } },
      reasons: { RC: "the published number needs several processes a host, or a context of 6 kB" },
    },
    { ...formula("memory", "memory of a host, 100,000 hosts", "memory at most", "B"), order: OURS },
    {
      ...formula("completion-4096", "completion, 4,096 hosts", "completion beyond the cache", "s"),
      order: [["SRD", "RC"]],
    },
    {
      ...formula("completion", "completion, 100,000 hosts", "completion at most", "s"),
      order: [["SRD", "RC"]],
    },
  ],
}
