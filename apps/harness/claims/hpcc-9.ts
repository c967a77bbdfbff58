import type { Figure, System } from "../src/Claim.ts"

/**
 * A rack of the paper's testbed as one switch: links of 25 Gb/s, base RTT 5.4 µs. Node 8 is a host farther away that
 * sends nothing; it makes the longest base RTT 9 µs, which is the paper's T.
 */
const rack = {
  nodes: 10,
  switches: [9],
  links: [
    ...[0, 1, 2, 3, 4, 5, 6, 7].map((from) => ({ from, to: 9, rate: "25Gbps", delay: "1.16us" })),
    { from: 8, to: 9, rate: "25Gbps", delay: "2.95us" },
  ],
}
const hpcc: System = { name: "HPCC", scenario: { controller: { name: "hpcc", preset: "paper" } } }
const dcqcn: System = { name: "DCQCN", scenario: { controller: { name: "dcqcn", preset: "simulation" } } }
const source = "HPCC, SIGCOMM 2019"
const systems = [hpcc, dcqcn]
/** What the source gives of its testbed is not all that a simulation needs. */
const about = "A rack of the testbed, 25 Gb/s, base RTT 5.4 µs."

export const hpcc9a: Figure = {
  id: "hpcc-9a",
  title: "A long flow after a short one",
  source,
  section: "§5.2, Figures 9a and 9b",
  about: `${about} A long flow, and 1 MB from another host at 1 ms. How soon is the long flow back?`,
  scenario: {
    seed: 1,
    topology: rack,
    flows: [
      { from: 0, to: 7, size: "1GB" },
      { from: 1, to: 7, size: "1MB", start: "1ms" },
    ],
    stop: "5001us",
  },
  extents: { quick: { scenario: {} }, full: { scenario: {} } },
  systems,
  probe: { every: "10us", port: [9, 7], flows: [0], until: "5ms" },
  pictures: [{ kind: "goodput", title: "Goodput of the long flow" }],
  claims: [
    {
      id: "after-2ms",
      what: "goodput of the long flow 2 to 2.1 ms after the short one began",
      metric: { kind: "goodput", flow: 0, from: "3ms", to: "3100us" },
      unit: "bit/s",
      mark: "digitised",
      published: {},
      order: [["DCQCN", "HPCC"]],
    },
    {
      id: "at-3ms",
      what: "goodput of the long flow at 3 ms",
      metric: { kind: "goodput", flow: 0, from: "2950us", to: "3050us" },
      unit: "bit/s",
      mark: "digitised",
      published: { DCQCN: 19e9 },
      order: [["DCQCN", "HPCC"]],
    },
  ],
}

export const hpcc9c: Figure = {
  id: "hpcc-9c",
  title: "An incast onto a long flow",
  source,
  section: "§5.2, Figures 9c and 9d",
  about: `${about} Seven hosts send to one, the first a long flow, the others 500 kB from 1 ms on: their size is ours.`,
  scenario: {
    seed: 1,
    topology: rack,
    flows: [
      { from: 0, to: 7, size: "1GB" },
      { from: "0..6", to: 7, size: "500KB", start: "1ms" },
    ],
    stop: "4001us",
  },
  extents: { quick: { scenario: {} }, full: { scenario: {} } },
  systems,
  probe: { every: "1us", port: [9, 7], flows: [0], until: "4ms" },
  pictures: [{ kind: "queue", title: "Queue to the receiver", from: "900us", to: "2ms" }],
  claims: [
    {
      id: "peak",
      what: "longest queue",
      metric: { kind: "queue", at: "max", from: "900us" },
      unit: "B",
      mark: "digitised",
      published: { HPCC: 130e3, DCQCN: 550e3 },
      reasons: {
        HPCC: "seven first windows of 28 kB, at the paper's T of 9 µs, less what leaves meanwhile, are more than published",
        DCQCN: "it grows with the size of the incast's flows, which is ours",
      },
    },
    {
      id: "late",
      what: "queue 0.2 to 0.5 ms after the incast began, mean",
      metric: { kind: "queue", at: "mean", from: "1200us", to: "1500us" },
      unit: "B",
      mark: "digitised",
      published: {},
      order: [["HPCC", "DCQCN"]],
    },
  ],
}

export const hpcc9e: Figure = {
  id: "hpcc-9e",
  title: "Mice beside two elephants",
  source,
  section: "§5.2, Figures 9e and 9f",
  about: `${about} Two long flows to one host, and from 50 ms on 1 kB from a third every 0.1 ms.`,
  scenario: {
    seed: 1,
    topology: rack,
    flows: [
      { from: "0..1", to: 7, size: "1GB" },
      ...Array.from({ length: 500 }, (_, i) => ({ from: 2, to: 7, size: "1KB", start: `${50_000 + 100 * i}us` })),
    ],
    stop: "100200us",
  },
  extents: { quick: { scenario: {} }, full: { scenario: {} } },
  systems,
  probe: { every: "10us", port: [9, 7], until: "100ms" },
  pictures: [{ kind: "queue", title: "Queue to the receiver" }],
  claims: [
    {
      id: "mice",
      what: "completion of the mice, median",
      metric: { kind: "completion", at: 0.5, sizes: [0, 1000] },
      unit: "s",
      mark: "digitised",
      published: { HPCC: 5.4e-6, DCQCN: { atLeast: 35e-6 } },
    },
    {
      id: "queue",
      what: "queue from 50 ms on, median",
      metric: { kind: "queue", at: 0.5, from: "50ms" },
      unit: "B",
      mark: "digitised",
      published: { DCQCN: { atLeast: 95e3, atMost: 130e3 } },
      order: [["HPCC", "DCQCN"]],
    },
  ],
}

/** Four flows to one host, each so long after the one before. */
const joining = (gapMs: number) => ({
  flows: [0, 1, 2, 3].map((from) => ({ from, to: 7, size: "100GB", start: `${from * gapMs}ms` })),
  stop: `${4 * gapMs}ms`,
})

export const hpcc9g: Figure = {
  id: "hpcc-9g",
  title: "Four flows join",
  source,
  section: "§5.2, Figures 9g and 9h",
  about: `${about} Four flows to one host join one after another. Jain's index of their goodputs while all four are there.`,
  scenario: { seed: 1, topology: rack },
  extents: {
    quick: { scenario: joining(50), less: "50 ms from one to the next instead of 1 s" },
    full: { scenario: joining(50), less: "50 ms from one to the next instead of 1 s" },
  },
  systems,
  probe: { every: "1ms", port: [9, 7], flows: [0, 1, 2, 3] },
  pictures: [{ kind: "goodput", title: "Goodput of the first flow" }],
  claims: [
    {
      id: "short-scale",
      what: "fairness over 2 ms",
      metric: { kind: "fairness", flows: [0, 1, 2, 3], from: "197ms", to: "199ms" },
      unit: "",
      mark: "remembered",
      published: { HPCC: 1 },
      order: [["DCQCN", "HPCC"]],
    },
    {
      id: "long-scale",
      what: "fairness over the last 40 ms",
      metric: { kind: "fairness", flows: [0, 1, 2, 3], from: "159ms", to: "199ms" },
      unit: "",
      mark: "remembered",
      published: { HPCC: 1, DCQCN: 1 },
    },
  ],
}
