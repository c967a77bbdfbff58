import type { Claim, Figure, ScenarioPart, Statistic, System } from "../src/Claim.ts"

/** DCQCN that no switch ever tells of congestion: every flow at line rate, from its first packet to its last. */
const withoutControl: ScenarioPart = { controller: { name: "dcqcn", preset: "simulation" } }

const offered = (load: number): System => ({
  name: `${load * 100} %`,
  scenario: {
    ...withoutControl,
    flows: { workload: "poisson", load, size: "50KB", duration: "3ms" },
  },
})

export const collapse: Figure = {
  id: "collapse",
  title: "Load without congestion control",
  source: "RFC 896",
  section: "congestion collapse; and delay against load",
  about:
    "16 hosts at 25 Gb/s, flows of 50 kB at line rate, a lossy switch of 1 MiB, go-back-N, no congestion control. Delay rises with load; what is lost is sent again, and so past capacity less is delivered than below it.",
  scenario: {
    seed: 1,
    topology: { builder: "star", hosts: 16, link: { rate: "25Gbps", delay: "1us" } },
    switch: { buffer: "1MiB", lossless: false, ecn: false },
    stop: "3ms",
  },
  extents: { quick: { scenario: {}, less: "3 ms" }, full: { scenario: {}, less: "3 ms" } },
  systems: [0.3, 0.6, 0.8, 1.2, 2.4].map(offered),
  pictures: [],
  claims: [
    {
      id: "delay",
      what: "completion of flows, mean",
      metric: { kind: "completion", at: "mean" },
      unit: "s",
      mark: "remembered",
      published: {},
      order: [["30 %", "60 %", "80 %", "120 %"]],
    },
    {
      id: "delivered",
      what: "payload of finished flows, all hosts",
      metric: { kind: "delivered", to: "3ms" },
      unit: "bit/s",
      mark: "remembered",
      published: {},
      order: [
        ["30 %", "60 %"],
        ["240 %", "120 %", "60 %"],
      ],
    },
  ],
}

const links = (gbps: number) => ({
  topology: {
    builder: "leaf-spine",
    leaves: 4,
    spines: 4,
    hostsPerLeaf: 4,
    link: { rate: `${gbps}Gbps`, delay: "1us" },
    fabric: { rate: `${gbps}Gbps`, delay: "1us" },
  },
})
const flows = (load: number) => ({
  flows: [
    { workload: "poisson", load, size: "20KB", duration: "3ms" },
    { workload: "random-incast", fanIn: 12, size: "100KB", load: load / 10, duration: "3ms" },
  ],
})
const remedy = (name: string, scenario: ScenarioPart): System => ({
  name,
  scenario: { ...withoutControl, ...links(25), ...flows(0.5), ...scenario },
})
const lossy = { buffer: "512KiB", lossless: false, ecn: false }
const marksOff = { switch: lossy }
const eased = ["25G to 100G", "adaptive routing", "admission", "feedback", "shedding"]
const claim = (id: string, what: string, metric: Claim["metric"]): Claim => ({
  id,
  what,
  metric,
  unit: "s",
  mark: "remembered",
  published: {},
  order: eased.map((name) => [name, "none"]),
})

export const remedies: Figure = {
  id: "remedies",
  title: "Five remedies",
  source: "Textbooks of congestion control",
  section: "remedies against congestion",
  about:
    "16 hosts in four racks at 25 Gb/s, flows of 20 kB at 50 % load and incasts of 12 hosts at 5 %, lossy switches of 512 KiB, go-back-N, no congestion control; then with links of 100 Gb/s, with the route of each flow chosen by the queues, with two flows a receiver at a time, with HPCC, and with half of the flows turned away. Routes matter little where incasts wait for their receivers' ports: they matter in `collisions`.",
  scenario: { seed: 1 },
  extents: { quick: { scenario: {}, less: "3 ms" }, full: { scenario: {}, less: "3 ms" } },
  systems: [
    remedy("none", marksOff),
    remedy("25G to 100G", { ...marksOff, ...links(100), ...flows(0.125) }),
    remedy("adaptive routing", { switch: { ...lossy, loadBalancer: "adaptive-flowlet" } }),
    remedy("admission", { ...marksOff, admission: { flowsPerReceiver: 2, grantDelay: "2us" } }),
    remedy("feedback", { ...marksOff, controller: { name: "hpcc", preset: "simulation" } }),
    remedy("shedding", { ...marksOff, ...flows(0.25) }),
  ],
  pictures: [],
  claims: [
    claim("ordinary", "completion of flows outside the incasts, p95", {
      kind: "completion",
      at: 0.95,
      traffic: "ordinary",
    }),
    claim("all", "completion of all flows, mean", { kind: "completion", at: "mean" }),
  ],
}

/** Every host to that of its place in the next rack, and again when all is over. */
const toNextRack: ScenarioPart = {
  flows: Array.from({ length: 16 * 16 }, (_, index) => ({
    from: index % 16,
    to: (index + 4) % 16,
    size: "1MB",
    start: `${20 * Math.floor(index / 16)}ms`,
  })),
}

export const collisions: Figure = {
  id: "collisions",
  title: "Routes by a hash, or by the queues",
  source: "Textbooks of congestion control",
  section: "adaptive routing",
  about:
    "What routing by the queues is for: 16 hosts in four racks, as many links up from a rack as hosts in it, switches and hosts as in `remedies`. Every host sends 1 MB to one of the next rack, each receiving from one; 16 times. A hash gives some links two flows or three and others none; adaptive routing gives each flow the shortest queue.",
  scenario: { seed: 1, ...withoutControl, ...toNextRack, topology: links(25).topology },
  extents: { quick: { scenario: {} }, full: { scenario: {} } },
  systems: [
    { name: "ECMP", scenario: { switch: lossy } },
    { name: "adaptive routing", scenario: { switch: { ...lossy, loadBalancer: "adaptive-flowlet" } } },
  ],
  pictures: [{ kind: "completion-distribution", title: "Completion of 1 MB" }],
  claims: [
    ["mean", "mean"],
    ["p95", 0.95],
  ].map(([id, at]) => ({
    id: `completion-${id}`,
    what: `completion of 1 MB, ${id}`,
    metric: { kind: "completion", at: at as Statistic },
    unit: "s",
    mark: "remembered",
    published: {},
    order: [["adaptive routing", "ECMP"]],
  })),
}

export const parameters: Figure = {
  id: "parameters",
  title: "Three parameters against fifteen",
  source: "HPCC, SIGCOMM 2019",
  section: "introduction",
  about:
    "Counted, not simulated: the numbers and switches of HPCC's preset, and of DCQCN's as adapters come, with the three of a switch's marking.",
  scenario: {
    topology: { builder: "star", hosts: 2 },
    flows: [{ from: 0, to: 1, size: "100KB" }],
  },
  extents: { quick: { scenario: {} }, full: { scenario: {} } },
  systems: [
    { name: "HPCC", scenario: { controller: { name: "hpcc", preset: "paper" } } },
    { name: "DCQCN", scenario: { controller: { name: "dcqcn", preset: "vendor" } } },
  ],
  pictures: [],
  claims: [
    {
      id: "count",
      what: "parameters",
      metric: { kind: "parameters" },
      unit: "",
      mark: "read",
      published: { HPCC: 3, DCQCN: { atLeast: 15 } },
    },
  ],
}
