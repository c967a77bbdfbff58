import type { Figure, ScenarioPart } from "../src/Claim.ts"

/**
 * Web search flows, and besides flows of up to 3 kB at a thousandth of the load: so many that their p99 means something
 * in a run of milliseconds. Their sizes are spread as web search has them below 3 kB.
 */
const traffic = (load: number, duration: string): ScenarioPart => ({
  flows: [
    { workload: "poisson", load, sizes: "WebSearch", duration },
    {
      workload: "poisson",
      load: 0.001,
      sizes: [
        [0, 0],
        [3000, 100],
      ],
      duration,
    },
  ],
})

/** Of what was measured on hardware. */
const HARDWARE =
  "measured on hardware: hosts, adapters and PCIe add time and jitter that a simulated network does not have"
const SHORT = "8 ms are short for DCQCN, whose queues follow from the long flows"
/** Each rack's switch has one uplink of 100 Gb/s, as `hpccTestbed` builds it. */
const OVERLOADED = "half of what the hosts can send asks 103 % of the uplinks, and DCQCN's queues there grow all along"
const reasons = { HPCC: HARDWARE, DCQCN: { quick: SHORT, full: HARDWARE } } as const
const reasonsHalf = { HPCC: HARDWARE, DCQCN: { quick: SHORT, full: OVERLOADED } } as const
/** Which queues: 22.9 kB are given as 7.3 µs too, and that is 25 Gb/s, the rate of the ports to hosts. */
const SAMPLING = {
  all: "the source does not say when it looked at a queue: here every 2 µs, at all 64 ports to hosts, of which few have one",
} as const

const figure = (load: number): Omit<Figure, "id" | "claims" | "section"> => ({
  title: `Web search on the testbed at ${load * 100} %`,
  source: "HPCC, SIGCOMM 2019",
  about:
    "32 hosts with two links of 25 Gb/s, four racks' switches and one above at 100 Gb/s. Small flows at a thousandth of the load come on top, so that there are enough for a p99. Queues are those to hosts: the source has its 22.9 kB as 7.3 µs, at 25 Gb/s, the rate of those ports.",
  scenario: { seed: 1, topology: { builder: "hpcc-testbed" } },
  extents: {
    quick: { scenario: traffic(load, "8ms"), window: "8ms", warmup: "2ms", less: "8 ms of arrivals" },
    full: { scenario: traffic(load, "500ms"), window: "500ms", warmup: "10ms", less: "0.5 s of arrivals" },
  },
  systems: [
    { name: "HPCC", scenario: { controller: { name: "hpcc", preset: "paper" } } },
    { name: "DCQCN", scenario: { controller: { name: "dcqcn", preset: "simulation" } } },
  ],
  probe: { every: "2us", port: "to-hosts" },
  pictures: [
    { kind: "slowdown-by-size", title: "Slowdown by size, p99", at: "p99" },
    { kind: "queue-distribution", title: "Queues to the hosts" },
  ],
})

export const hpcc10a: Figure = {
  ...figure(0.3),
  id: "hpcc-10a",
  section: "§5.2, Figures 10a and 10b",
  claims: [
    {
      id: "short",
      what: "slowdown of flows up to 3 kB, p99",
      metric: { kind: "slowdown", at: 0.99, sizes: [0, 3000] },
      unit: "",
      mark: "read",
      published: { HPCC: 2.38, DCQCN: 11.2 },
      reasons,
    },
    {
      id: "completion",
      what: "completion of flows up to 3 kB, p99",
      metric: { kind: "completion", at: 0.99, sizes: [0, 3000] },
      unit: "s",
      mark: "read",
      published: { HPCC: 16.9e-6 },
      reasons,
      order: [["HPCC", "DCQCN"]],
    },
  ],
}

export const hpcc10c: Figure = {
  ...figure(0.5),
  id: "hpcc-10c",
  section: "§5.2, Figures 10c and 10d",
  claims: [
    {
      id: "short",
      what: "slowdown of flows up to 3 kB, p99",
      metric: { kind: "slowdown", at: 0.99, sizes: [0, 3000] },
      unit: "",
      mark: "read",
      published: { HPCC: 2.7, DCQCN: 53.9 },
      reasons: reasonsHalf,
    },
    {
      id: "reduction",
      what: "the same, HPCC against DCQCN: less by",
      metric: { kind: "slowdown", at: 0.99, sizes: [0, 3000] },
      unit: "share",
      mark: "read",
      published: { HPCC: 0.95 },
      against: { system: "DCQCN", as: "reduction" },
    },
    {
      id: "completion",
      what: "completion of flows up to 3 kB, p99",
      metric: { kind: "completion", at: 0.99, sizes: [0, 3000] },
      unit: "s",
      mark: "read",
      published: { HPCC: 19.2e-6 },
      reasons: reasonsHalf,
      order: [["HPCC", "DCQCN"]],
    },
    {
      id: "queue-median",
      what: "queues to hosts, median over time",
      metric: { kind: "queue", at: 0.5 },
      unit: "B",
      mark: "read",
      published: { HPCC: 0, DCQCN: 0 },
      reasons: SAMPLING,
    },
    {
      id: "queue-p95",
      what: "queues to hosts, p95 over time",
      metric: { kind: "queue", at: 0.95 },
      unit: "B",
      mark: "read",
      published: { HPCC: 19.7e3, DCQCN: 1.1e6 },
      reasons: SAMPLING,
    },
    {
      id: "queue-p99",
      what: "queues to hosts, p99 over time",
      metric: { kind: "queue", at: 0.99 },
      unit: "B",
      mark: "read",
      published: { HPCC: 22.9e3, DCQCN: 2.1e6 },
      reasons: SAMPLING,
    },
  ],
}
