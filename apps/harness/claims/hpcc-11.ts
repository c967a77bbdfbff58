import type { Claim, Figure, Published } from "../src/Claim.ts"
import { dcqcn, dcqcnWindow, dctcp, hpcc, OTHERS, TENTH, tenthOfFabric, timely, timelyWindow } from "./systems.ts"

const topology = { builder: "hpcc-fabric" }
const ordinary = (load: number, duration: string) => ({ workload: "poisson", load, sizes: "FB_Hadoop", duration })
const incasts = (duration: string) => ({
  workload: "random-incast",
  fanIn: 60,
  size: "500KB",
  load: 0.02,
  duration,
})

/** In 4 ms DCQCN+win's short flows come from 2.5 to 4.1, and HPCC's of 0.3 to 10 MB from 3.6 to 4.7. */
const SHORT = "a short run: long flows, queues and pauses have not built up as they do in the source's"
/**
 * About a twentieth of the short flows meet an incast, so p95 is where the draw has it. The simulator's form is ns-3 mode on
 * the flows of `rdmakit generate flows` with seed 1 (`scripts/nightly/reference.ts --flows`).
 */
const drawn = (seeds: string, simulator: string, ours: string): string =>
  `how many short flows meet an incast is the draw's: p95 is ${seeds} with five seeds, most with this one. On one set of flows the HPCC simulator's own form says ${simulator}, ours ${ours}`
const slow = (simulator: string, ours: string): string =>
  `${OTHERS}: on one set of flows its own form says ${simulator} for short ones, ours ${ours}`
const reasons11a = {
  DCQCN: { quick: SHORT, full: slow("152", "143") },
  TIMELY: { quick: SHORT, full: slow("194", "161") },
  "DCQCN+win": { quick: SHORT, full: drawn("4.3 to 7.0", "3.7", "3.8") },
  "TIMELY+win": { quick: SHORT, full: drawn("4.5 to 14", "3.9", "3.9") },
  all: { quick: SHORT },
} as const
const reasons11c = { DCQCN: OTHERS, TIMELY: OTHERS, all: { quick: SHORT } } as const
const LATER_120K = "the authors' later curves of the same flows have 3.95 here, and ours (3.3) is within its tolerance"

/** The authors' later curves of the same simulator have the two together: 2.8 and 2.75 at 30 %. */
const TOGETHER = [
  {
    systems: ["TIMELY+win", "DCQCN+win"],
    scale: "quick",
    reason: "the authors' later curves of the same simulator have the two together (2.8 and 2.75 at 30 %), as here",
  },
  {
    systems: ["TIMELY+win", "DCQCN+win"],
    scale: "full",
    reason:
      "the authors' later curves of the same simulator have the two together (2.8 and 2.75 at 30 %), and so does its own form on one set of these flows (3.9 and 3.7); with this seed incasts are met by more",
  },
] as const

/** p95 slowdown of ordinary flows of some sizes. */
const slowdown = (
  id: string,
  what: string,
  sizes: readonly [number, number],
  published: Readonly<Record<string, Published>>,
): Claim => ({
  id,
  what: `slowdown of ${what}, p95`,
  metric: { kind: "slowdown", at: 0.95, sizes, traffic: "ordinary" },
  unit: "",
  mark: "digitised",
  published,
  exceptions: TOGETHER,
})

/** What the paper calls packet latency fits a packet's way there and its acknowledgement's way back. */
const latency = (published: Readonly<Record<string, Published>>): Claim => ({
  id: "latency",
  what: "completion of one-packet flows, p95",
  metric: { kind: "completion", at: 0.95, sizes: [0, 1000], traffic: "ordinary" },
  unit: "s",
  mark: "digitised",
  published,
  exceptions: TOGETHER,
})

const systems = [hpcc, dctcp, timelyWindow, dcqcnWindow, dcqcn, timely]

const withReasons = (reasons: NonNullable<Claim["reasons"]>, claims: ReadonlyArray<Claim>): ReadonlyArray<Claim> =>
  claims.map((claim) => ({ reasons, ...claim }))

/** The paper marks a size by the largest of a twentieth of all flows: "7K" are those from p65 to p70 of the sizes. */
export const hpcc11a: Figure = {
  id: "hpcc-11a",
  title: "Hadoop at 30 % with incasts",
  source: "HPCC, SIGCOMM 2019",
  section: "§5.3, Figures 11a and 11b",
  about:
    "320 hosts, 100 Gb/s to 20 racks and 400 Gb/s above; Facebook's Hadoop flows at 30 % load, and 60 hosts at a time that send 500 KB each to one, 2 % of the capacity. Latency is read as the completion of one-packet flows, acknowledgement included: the paper's curves fit nothing else.",
  scenario: { seed: 1, topology },
  extents: {
    quick: {
      scenario: { flows: [ordinary(0.3, "800us"), incasts("800us")] },
      window: "800us",
      warmup: "100us",
      less: "0.8 ms of arrivals",
    },
    full: {
      scenario: { flows: [ordinary(0.3, "20ms"), incasts("20ms")] },
      window: "20ms",
      warmup: "1ms",
      less: "20 ms of arrivals",
    },
  },
  systems,
  pictures: [{ kind: "slowdown-by-size", title: "Slowdown by size, p95", at: "p95" }],
  claims: withReasons(reasons11a, [
    slowdown("short", "flows up to 2 kB", [0, 2000], {
      TIMELY: 106,
      DCQCN: 67,
      "DCQCN+win": 4.1,
      DCTCP: 3,
      "TIMELY+win": 2.8,
      HPCC: 1.58,
    }),
    slowdown("7k", "flows of 1.7 to 7 kB", [1714, 7000], { HPCC: 1.9 }),
    slowdown("46k", "flows of 36 to 46 kB", [36_000, 46_000], { HPCC: 2.2 }),
    slowdown("120k", "flows of 68 to 120 kB", [68_000, 120_000], { HPCC: 3.2 }),
    slowdown("10m", "flows of 0.3 to 10 MB", [300e3, 10e6], { HPCC: 6.2 }),
    latency({
      DCQCN: 1.05e-3,
      TIMELY: 1.58e-3,
      "DCQCN+win": 47e-6,
      DCTCP: 35e-6,
      "TIMELY+win": 34e-6,
      HPCC: 19e-6,
    }),
    {
      id: "paused",
      what: "time paused, all ports",
      metric: { kind: "paused" },
      unit: "share",
      mark: "digitised",
      published: { DCQCN: 0.053, TIMELY: 0.089, "TIMELY+win": 0.001, HPCC: 0, DCTCP: 0, "DCQCN+win": 0 },
      reasons: {
        ...reasons11a,
        "TIMELY+win": {
          quick: SHORT,
          full: "a ten-thousandth of the time in place of a thousandth: both are next to none",
        },
      },
      exceptions: ["HPCC", "DCTCP", "DCQCN+win"].map((name) => ({
        systems: [name, "TIMELY+win"] as const,
        scale: "quick" as const,
        reason: "pauses in a thousandth of the time are too rare to be met in 0.8 ms of arrivals",
      })),
    },
  ]),
}

export const hpcc11c: Figure = {
  id: "hpcc-11c",
  title: "Hadoop at 50 %",
  source: "HPCC, SIGCOMM 2019",
  section: "§5.3, Figures 11c and 11d",
  about: "The same fabric with Hadoop flows at 50 % load and no incast.",
  scenario: { seed: 1, topology },
  extents: {
    quick: {
      scenario: { topology: tenthOfFabric, flows: [ordinary(0.5, "4ms")] },
      window: "4ms",
      warmup: "1ms",
      less: `${TENTH}, 4 ms of arrivals`,
    },
    full: { scenario: { flows: [ordinary(0.5, "20ms")] }, window: "20ms", warmup: "1ms", less: "20 ms of arrivals" },
  },
  systems,
  pictures: [{ kind: "slowdown-by-size", title: "Slowdown by size, p95", at: "p95" }],
  claims: withReasons(reasons11c, [
    slowdown("short", "flows up to 2 kB", [0, 2000], {
      TIMELY: 6.5,
      DCQCN: 5.2,
      "DCQCN+win": 4.2,
      DCTCP: 3.4,
      "TIMELY+win": 3.4,
      HPCC: 1.79,
    }),
    slowdown("7k", "flows of 1.7 to 7 kB", [1714, 7000], { HPCC: 2.4 }),
    slowdown("46k", "flows of 36 to 46 kB", [36_000, 46_000], { HPCC: 2.95 }),
    {
      ...slowdown("120k", "flows of 68 to 120 kB", [68_000, 120_000], { HPCC: 4.8 }),
      reasons: { HPCC: { quick: SHORT, full: LATER_120K } },
    },
    slowdown("10m", "flows of 0.3 to 10 MB", [300e3, 10e6], { HPCC: 9.8, DCQCN: 8.3 }),
    {
      ...slowdown("long", "flows above 120 kB: HPCC against DCQCN", [120_000, 10e6], { HPCC: 1.24 }),
      what: "slowdown of flows above 120 kB, p95: HPCC against DCQCN, as 44.6 % of free capacity to 36.1 %",
      mark: "read",
      against: { system: "DCQCN", as: "ratio" },
      exceptions: [],
      reasons: { HPCC: { quick: SHORT, full: `DCQCN's long flows are slower here than the paper's: ${OTHERS}` } },
    },
    latency({ DCQCN: 63e-6, TIMELY: 77e-6, "DCQCN+win": 48e-6, "TIMELY+win": 40e-6, DCTCP: 39e-6, HPCC: 19.8e-6 }),
    {
      id: "paused",
      what: "time paused, all ports",
      metric: { kind: "paused" },
      unit: "share",
      mark: "read",
      published: { HPCC: 0, DCTCP: 0, "TIMELY+win": 0, "DCQCN+win": 0, DCQCN: 0, TIMELY: 0 },
    },
  ]),
}
