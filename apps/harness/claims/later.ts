import type { Claim, Figure, Published, System } from "../src/Claim.ts"
import { dcqcnWindow, dctcp, TENTH, tenthOfFabric, timelyWindow } from "./systems.ts"

const hpcc: System = { name: "HPCC", scenario: { controller: { name: "hpcc", preset: "later-advice" } } }
const pint: System = {
  name: "HPCC-PINT",
  scenario: { controller: { name: "hpcc-pint", preset: "paper", options: { eta: 0.99 } } },
}

type Row = Readonly<Record<string, Published>>
/** The authors mark a size by the largest of a twentieth of all flows. */
const ranges = {
  WebSearch: {
    small: [0, 10_000],
    "50k": [40_000, 50_000],
    "200k": [114_286, 200_000],
    "1m": [600_000, 1e6],
    "5m-20m": [5e6, 20e6],
    largest: [8_571_429, 30e6],
  },
  FB_Hadoop: { small: [0, 7000], "120k": [68_000, 120_000], largest: [300e3, 10e6] },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>>

const words: Readonly<Record<string, string>> = {
  small: "small flows",
  "50k": "flows of 40 to 50 kB",
  "200k": "flows of 114 to 200 kB",
  "1m": "flows of 0.6 to 1 MB",
  "120k": "flows of 68 to 120 kB",
  "5m-20m": "flows of 5 to 20 MB",
  largest: "the largest twentieth of all flows",
}

const SHORT = {
  all: { quick: "3 ms on a tenth of the network: few flows of one size, and the longest have not built up" },
} as const

/** HPCC at 50 %, 114 to 200 kB: in 60 ms p95 is 3.77 and p99 5.09, in 20 ms 3.44 and 4.91. */
const LONGER = {
  all: {
    ...SHORT.all,
    full: "20 ms are short for flows of up to 30 MB: in 60 ms it is 3.8 at p95 and 5.1 at p99, within the tolerance",
  },
} as const

const slowdowns = (
  sizes: keyof typeof ranges,
  percent: number,
  rows: Readonly<Record<string, Row>>,
  reasons: NonNullable<Claim["reasons"]> = SHORT,
): ReadonlyArray<Claim> =>
  Object.entries(rows).map(([range, published]) => ({
    id: `${range}-p${percent}`,
    what: `slowdown of ${words[range]}, p${percent}`,
    metric: {
      kind: "slowdown",
      at: percent / 100,
      sizes: (ranges[sizes] as Readonly<Record<string, readonly [number, number]>>)[range]!,
    },
    unit: "",
    mark: "digitised",
    published,
    reasons,
  }))

const figure = (
  id: string,
  sizes: keyof typeof ranges,
  load: number,
  claims: ReadonlyArray<Claim>,
  systems: ReadonlyArray<System> = [hpcc, dctcp, timelyWindow, dcqcnWindow],
): Figure => {
  const flows = (duration: string) => ({ flows: { workload: "poisson", load, sizes, duration } })
  return {
    id,
    title: `${sizes} at ${load * 100} %, the authors' later curves`,
    source: "HPCC's authors, results page",
    section: `${sizes}, load ${load * 100} %`,
    about:
      "The fabric of Figure 11 without incasts, with the authors' later advice for HPCC: a target of 99 %, a multiplicative step every time.",
    scenario: { seed: 1, topology: { builder: "hpcc-fabric" } },
    extents: {
      quick: {
        scenario: { topology: tenthOfFabric, ...flows("3ms") },
        window: "3ms",
        warmup: "500us",
        less: `${TENTH}, 3 ms of arrivals`,
      },
      full: { scenario: flows("20ms"), window: "20ms", warmup: "1ms", less: "20 ms of arrivals" },
    },
    systems,
    pictures: [
      { kind: "slowdown-by-size", title: "Slowdown by size, p95", at: "p95" },
      { kind: "slowdown-by-size", title: "Slowdown by size, p99", at: "p99" },
    ],
    claims,
  }
}

export const laterWebSearch30 = figure("later-websearch-30", "WebSearch", 0.3, [
  ...slowdowns("WebSearch", 95, {
    small: { HPCC: 1.2, DCTCP: 2.6, "TIMELY+win": 3.1, "DCQCN+win": 3.1 },
    "50k": { HPCC: 1.9 },
    "200k": { HPCC: 2.8 },
    "1m": { HPCC: 3.9 },
    largest: { HPCC: 4.2 },
  }),
  ...slowdowns("WebSearch", 99, {
    small: { HPCC: 1.7, DCTCP: 3.8, "TIMELY+win": 4.4, "DCQCN+win": 4.5 },
    "50k": { HPCC: 2.35 },
    "200k": { HPCC: 3.5 },
    "1m": { HPCC: 5.2 },
    largest: { HPCC: 6.4 },
  }),
])

export const laterWebSearch50 = figure("later-websearch-50", "WebSearch", 0.5, [
  ...slowdowns("WebSearch", 95, {
    small: { HPCC: 1.42, DCTCP: 3.8, "TIMELY+win": 4.3, "DCQCN+win": 4.7 },
    "50k": { HPCC: 2.85 },
    "1m": { HPCC: 6.8 },
    "5m-20m": { HPCC: 9.8 },
  }),
  ...slowdowns("WebSearch", 99, {
    small: { HPCC: 1.95, DCTCP: 5.7, "TIMELY+win": 6.4, "DCQCN+win": 7.1 },
    "50k": { HPCC: 3.9 },
    "1m": { HPCC: 10 },
    "5m-20m": { HPCC: 14.6 },
  }),
  ...slowdowns("WebSearch", 95, { "200k": { HPCC: 4.7 } }, LONGER),
  ...slowdowns("WebSearch", 99, { "200k": { HPCC: 6.6 } }, LONGER),
])

export const laterHadoop30 = figure("later-hadoop-30", "FB_Hadoop", 0.3, [
  ...slowdowns("FB_Hadoop", 50, {
    small: { HPCC: 1, DCTCP: 1, "TIMELY+win": 1, "DCQCN+win": 1 },
    "120k": { HPCC: 1.4 },
  }),
  ...slowdowns("FB_Hadoop", 95, {
    small: { HPCC: 1.5, DCTCP: 2.45, "TIMELY+win": 2.8, "DCQCN+win": 2.75 },
    "120k": { HPCC: 2.5 },
  }),
  ...slowdowns("FB_Hadoop", 99, {
    small: { HPCC: 2.12, DCTCP: 3.55, "TIMELY+win": 4.3, "DCQCN+win": 4.15 },
    "120k": { HPCC: 3.15 },
  }),
])

export const laterHadoop50 = figure(
  "later-hadoop-50",
  "FB_Hadoop",
  0.5,
  [
    ...slowdowns("FB_Hadoop", 50, {
      small: { HPCC: 1.02, DCTCP: 1.17, "TIMELY+win": 1.17, "DCQCN+win": 1.18 },
      "120k": { HPCC: 1.85 },
    }),
    ...slowdowns("FB_Hadoop", 95, {
      small: { HPCC: 1.9, DCTCP: 3.55, "TIMELY+win": 4.2, "DCQCN+win": 4.4 },
      "120k": { HPCC: 3.95 },
      largest: { HPCC: 10.6 },
    }),
    ...slowdowns("FB_Hadoop", 99, {
      small: { HPCC: 2.65, DCTCP: 5.3, "TIMELY+win": 6.5, "DCQCN+win": 6.7 },
      "120k": { HPCC: 5.6 },
    }),
    {
      id: "pint-small",
      what: "slowdown of small flows, p95: HPCC-PINT against HPCC",
      metric: { kind: "slowdown", at: 0.95, sizes: [0, 7000] },
      unit: "",
      mark: "digitised",
      published: { "HPCC-PINT": 1 },
      against: { system: "HPCC", as: "ratio" },
    },
    {
      id: "pint-50k",
      what: "slowdown of flows from 50 kB on, p95: HPCC-PINT against HPCC",
      metric: { kind: "slowdown", at: 0.95, sizes: [50_000, 10e6] },
      unit: "",
      mark: "digitised",
      published: { "HPCC-PINT": { atLeast: 0.85, atMost: 0.9 } },
      against: { system: "HPCC", as: "ratio" },
    },
  ],
  [hpcc, pint, dctcp, timelyWindow, dcqcnWindow],
)

/** A queue of half a bandwidth-delay product, so that links have something to send when a flow ends. */
const standing: System = {
  name: "HPCC, 150 %",
  scenario: { controller: { name: "hpcc", preset: "later-advice", options: { eta: 1.5 } } },
}

/** Published in words, of all sizes: as good as the others or better. */
const noWorse = (range: string, what: string, sizes: readonly [number, number]): ReadonlyArray<Claim> =>
  [dctcp, timelyWindow, dcqcnWindow].map(({ name }) => ({
    id: `${range}-${name.toLowerCase().replace("+win", "")}`,
    what: `slowdown of ${what}, p95: HPCC with a target of 150 % against ${name}`,
    metric: { kind: "slowdown", at: 0.95, sizes },
    unit: "",
    mark: "read",
    published: { [standing.name]: { atMost: 1 } },
    against: { system: name, as: "ratio" },
    reasons: SHORT,
  }))

export const laterWebSearch70: Figure = {
  ...figure(
    "later-websearch-70",
    "WebSearch",
    0.7,
    [
      ...noWorse("small", words.small!, ranges.WebSearch.small),
      ...noWorse("middle", "flows of 10 to 200 kB", [10_000, 200_000]),
      ...noWorse("long", "flows of 0.2 to 30 MB", [200_000, 30e6]),
    ],
    [standing, dctcp, timelyWindow, dcqcnWindow],
  ),
  title: "WebSearch at 70 %, a target of 150 %",
  about:
    "The fabric of Figure 11 without incasts, at a load of 70 % of payload. The authors' advice for it is a target of 150 %, which leaves a queue of half a bandwidth-delay product: on all sizes as good as the others or better.",
}
