import type { Figure, System } from "../src/Claim.ts"

const NETWORK =
  "another network than the one behind the published numbers: HPCC's testbed of 32 hosts with 2 MiB of buffer a switch, web search flows and incasts of 24 hosts"

/** Web search flows and incasts, on a testbed whose buffers are small enough to pause. */
const traffic = (load: number, duration: string) => ({
  flows: [
    { workload: "poisson", load, sizes: "WebSearch", duration },
    { workload: "random-incast", fanIn: 24, size: "500KB", load: 0.05, duration },
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

const withoutIncasts = (load: number, duration: string) => {
  const { flows } = traffic(load, duration)
  return { flows: [flows[0], flows[2]] }
}

const extents = (load: number, of: typeof traffic | typeof withoutIncasts): Figure["extents"] => ({
  quick: { scenario: of(load, "8ms"), window: "8ms", less: "8 ms of arrivals" },
  full: { scenario: of(load, "200ms"), window: "200ms", less: "0.2 s of arrivals" },
})

/** T_i, the timer of increases, and T_d, the least time between two decreases, µs. */
const timers = (increase: number, decrease: number, alpha: number): System => ({
  name: `${increase}/${decrease}`,
  scenario: {
    controller: {
      name: "dcqcn",
      preset: "simulation",
      options: {
        rpTimerPs: `${increase}us`,
        rateDecreaseIntervalPs: `${decrease}us`,
        alphaResumeIntervalPs: `${alpha}us`,
      },
    },
  },
})

export const hpcc2: Figure = {
  id: "hpcc-2",
  title: "DCQCN's timers: pauses or slow flows",
  source: "HPCC, SIGCOMM 2019",
  section: "Figure 2",
  about:
    "DCQCN with three settings of its timers (time between increases / between decreases, µs): 55/50 of its paper, 300/4 as adapters come, 900/4.",
  scenario: { seed: 1, topology: { builder: "hpcc-testbed" }, switch: { buffer: "2MiB" } },
  extents: extents(0.3, traffic),
  systems: [timers(55, 50, 50), timers(300, 4, 1), timers(900, 4, 1)],
  pictures: [{ kind: "slowdown-by-size", title: "Slowdown by size, p95", at: "p95" }],
  claims: [
    {
      id: "paused",
      what: "time paused, all ports",
      metric: { kind: "paused" },
      unit: "share",
      mark: "digitised",
      published: { "55/50": 0.083, "300/4": 0.026, "900/4": 0.007 },
      reasons: { all: NETWORK },
    },
    {
      id: "latency",
      what: "completion of flows up to 3 kB, p95",
      metric: { kind: "completion", at: 0.95, sizes: [0, 3000] },
      unit: "s",
      mark: "digitised",
      published: { "55/50": 4.1e-3, "300/4": 2.8e-3, "900/4": 1.3e-3 },
      reasons: { all: NETWORK },
      exceptions: [
        {
          systems: ["300/4", "900/4"],
          scale: "full",
          reason: "equal within half a per cent: over 0.2 s pauses pile up with both, to a tenth of the time",
        },
      ],
    },
    {
      id: "long",
      what: "slowdown of flows above 1 MB, mean",
      metric: { kind: "slowdown", at: "mean", sizes: [1e6, 30e6], traffic: "ordinary" },
      unit: "",
      mark: "digitised",
      published: {},
      order: [["55/50", "900/4"]],
      reasons: { all: NETWORK },
      exceptions: [
        {
          systems: ["55/50", "900/4"],
          scale: "full",
          reason: "over 0.2 s the pauses of 55/50, an eighth of the time, cost long flows more than slow increases do",
        },
      ],
    },
  ],
}

const thresholds = (kmin: number, kmax: number): System => {
  const at = (gbps: number) => ({
    rate: `${gbps}Gbps`,
    kmin: `${(kmin * gbps) / 25}KB`,
    kmax: `${(kmax * gbps) / 25}KB`,
    pmax: 0.2,
  })
  return {
    name: `${kmin}/${kmax} kB`,
    scenario: {
      controller: { name: "dcqcn", preset: "simulation" },
      switch: { ecnRules: [at(25), at(100)] },
    },
  }
}

export const hpcc3: Figure = {
  id: "hpcc-3",
  title: "ECN's thresholds: latency or throughput",
  source: "HPCC, SIGCOMM 2019",
  section: "Figure 3",
  about:
    "DCQCN with three settings of the switches' marking (Kmin/Kmax at 25 Gb/s), web search flows at 50 % on the testbed, no incasts.",
  scenario: { seed: 1, topology: { builder: "hpcc-testbed" } },
  extents: extents(0.5, withoutIncasts),
  systems: [thresholds(12, 50), thresholds(100, 400), thresholds(400, 1600)],
  pictures: [{ kind: "slowdown-by-size", title: "Slowdown by size, p95", at: "p95" }],
  claims: [
    {
      id: "short",
      what: "completion of flows up to 3 kB, p95",
      metric: { kind: "completion", at: 0.95, sizes: [0, 3000] },
      unit: "s",
      mark: "read",
      published: {},
      order: [["12/50 kB", "100/400 kB", "400/1600 kB"]],
      exceptions: [
        {
          systems: ["100/400 kB", "400/1600 kB"],
          scale: "full",
          reason:
            "equal within half a per cent: half of what the hosts can send asks 103 % of the uplinks, so that over 0.2 s all wait alike",
        },
      ],
    },
    {
      id: "long",
      what: "slowdown of flows above 1 MB, mean",
      metric: { kind: "slowdown", at: "mean", sizes: [1e6, 30e6], traffic: "ordinary" },
      unit: "",
      mark: "read",
      published: {},
      order: [["400/1600 kB", "12/50 kB"]],
    },
  ],
}
