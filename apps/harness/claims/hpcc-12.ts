import type { Claim, Figure, Published, System } from "../src/Claim.ts"
import { dcqcn, hpcc, OTHERS, TENTH, tenthOfFabric } from "./systems.ts"

const withoutPauses = ({ name, scenario }: System): System => ({
  name: `${name}, go-back-N`,
  scenario: { ...scenario, switch: { lossless: false }, transport: { nakInterval: "500us" } },
})
/** Timeouts and the limit of packets in flight are IRN's own; each flow has as many retries as it needs. */
const withIrn = ({ name, scenario }: System): System => ({
  name: `${name}, IRN`,
  scenario: {
    ...scenario,
    switch: { lossless: false },
    transport: { recovery: "selective-repeat", retryCount: 1000 },
  },
})
const withPauses = ({ name, scenario }: System): System => ({ name: `${name}, PFC`, scenario })

const SHORT = "a short run: incasts and pauses have not built up as they do in the source's"
/** Of 20 ms, which full runs have. */
const LONG = {
  "DCQCN, PFC": { quick: SHORT, full: OTHERS },
  "DCQCN, go-back-N": { quick: SHORT, full: OTHERS },
  "DCQCN, IRN": { quick: SHORT, full: OTHERS },
  all: { quick: SHORT },
} as const
const HUNDREDS = "unexplained: with go-back-N flows take hundreds of times their time alone here, not thousands"

const slowdown = (
  id: string,
  what: string,
  sizes: readonly [number, number],
  published: Readonly<Record<string, Published>>,
  reasons: NonNullable<Claim["reasons"]>,
): Claim => ({
  id,
  what: `slowdown of ${what}, p95`,
  metric: { kind: "slowdown", at: 0.95, sizes, traffic: "ordinary" },
  unit: "",
  mark: "digitised",
  published,
  reasons,
})

const flows = (duration: string) => [
  { workload: "poisson", load: 0.3, sizes: "FB_Hadoop", duration },
  { workload: "random-incast", fanIn: 60, size: "500KB", load: 0.02, duration },
]

const systems = [hpcc, dcqcn].flatMap((system) => [withPauses(system), withoutPauses(system), withIrn(system)])

export const hpcc12: Figure = {
  id: "hpcc-12",
  title: "Flow control: pauses, or losses and go-back-N",
  source: "HPCC, SIGCOMM 2019",
  section: "§5.3, Figure 12",
  about:
    "The traffic of Figure 11a, with PFC, and without it: then a queue may take as much as is free of the buffer, and what is lost is sent again with all that followed, told of once in 500 µs at most, as in the paper's simulator; and with IRN, which sends again only what was lost.",
  scenario: { seed: 1, topology: { builder: "hpcc-fabric" } },
  extents: {
    quick: { scenario: { flows: flows("500us") }, window: "500us", warmup: "100us", less: "0.5 ms of arrivals" },
    full: { scenario: { flows: flows("20ms") }, window: "20ms", warmup: "1ms", less: "20 ms of arrivals" },
  },
  systems,
  pictures: [{ kind: "slowdown-by-size", title: "Slowdown by size, p95", at: "p95" }],
  claims: [
    slowdown(
      "short",
      "flows up to 2 kB",
      [0, 2000],
      {
        "HPCC, PFC": 1.58,
        "HPCC, go-back-N": 1.58,
        "HPCC, IRN": 1.58,
        "DCQCN, PFC": 67,
        "DCQCN, go-back-N": 67,
        "DCQCN, IRN": 2.9,
      },
      LONG,
    ),
    slowdown(
      "7k-120k",
      "flows of 7 to 120 kB",
      [7000, 120_000],
      { "DCQCN, go-back-N": { atLeast: 3000 } },
      { all: { quick: SHORT, full: HUNDREDS } },
    ),
  ],
}

const ordinary = (duration: string) => ({ flows: { workload: "poisson", load: 0.5, sizes: "FB_Hadoop", duration } })

export const hpcc12Half: Figure = {
  id: "hpcc-12-50",
  title: "Flow control at 50 %, without incasts",
  source: "HPCC, SIGCOMM 2019",
  section: "§5.3, Figure 12",
  about: "The traffic of Figure 11c, with PFC, and without it as in `hpcc-12`: by go-back-N and by IRN.",
  scenario: { seed: 1, topology: { builder: "hpcc-fabric" } },
  extents: {
    quick: {
      scenario: { topology: tenthOfFabric, ...ordinary("2ms") },
      window: "2ms",
      warmup: "500us",
      less: `${TENTH}, 2 ms of arrivals`,
    },
    full: { scenario: ordinary("20ms"), window: "20ms", warmup: "1ms", less: "20 ms of arrivals" },
  },
  systems,
  pictures: [{ kind: "slowdown-by-size", title: "Slowdown by size, p95", at: "p95" }],
  claims: [
    slowdown(
      "short",
      "flows up to 2 kB",
      [0, 2000],
      {
        "HPCC, PFC": 1.8,
        "HPCC, go-back-N": 1.8,
        "HPCC, IRN": 1.8,
        "DCQCN, PFC": 5.3,
        "DCQCN, go-back-N": 5.3,
        "DCQCN, IRN": 3.9,
      },
      LONG,
    ),
  ],
}
