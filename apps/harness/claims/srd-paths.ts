import type { Claim, Figure, Published, ScenarioPart, Statistic, System } from "../src/Claim.ts"
import { srd, tcp } from "./systems.ts"

const SOURCE = "SRD, IEEE Micro 40(6), 2020"
const lossy = { buffer: "4MiB", lossless: false, ecn: false }

const SERVERS = 8
const RANKS = 16
/** Every rank of one rack to one of the other, a server's over all servers there; then again, a second after it. */
const exchanges = (count: number): ScenarioPart => ({
  flows: Array.from({ length: count * SERVERS * SERVERS }, (_, index) => ({
    from: index % SERVERS,
    to: SERVERS + (Math.floor(index / SERVERS) % SERVERS),
    size: "2MiB",
    count: RANKS / SERVERS,
    start: `${Math.floor(index / (SERVERS * SERVERS))}s`,
  })),
})

/** Racks of one host each, or of more, and spines between them. */
const racks = (spines: number, hostsPerLeaf: number, link = "100Gbps", uplink = "100Gbps"): ScenarioPart => ({
  topology: {
    builder: "leaf-spine",
    leaves: 2,
    spines,
    hostsPerLeaf,
    link: { rate: link, delay: "1us" },
    fabric: { rate: uplink, delay: "1us" },
  },
})

/** Of links as fast as a server's, each with eight connections on average. */
const UNDISTURBED =
  "a link would have to be given more than sixteen of the connections before it has more than it can carry, which hardly ever happens, and neither hosts nor other traffic are in TCP's way"

const completion = (
  id: string,
  at: Statistic,
  what: string,
  published: Readonly<Record<string, Published>>,
): Claim => ({
  id,
  what: `completion of 2 MiB, ${what}`,
  metric: { kind: "completion", at },
  unit: "s",
  mark: "digitised",
  published,
})

const completions: ReadonlyArray<Claim> = [
  completion("median", 0.5, "median", { SRD: 3.08e-3 }),
  completion("mean", "mean", "mean", { TCP: 4.02e-3 }),
  completion("max", "max", "slowest; SRD's is published as below TCP's mean", {
    SRD: { atMost: 4.02e-3 },
    TCP: { atLeast: 20e-3, atMost: 214e-3 },
  }),
]

interface Uplinks {
  readonly count: number
  readonly rate: string
  readonly words: string
}

const acrossRacks = (id: string, title: string, uplinks: Uplinks, claims: ReadonlyArray<Claim>): Figure => ({
  id,
  title: `Eight servers to eight in another rack, ${title}`,
  source: SOURCE,
  section: "Figures 5 and 6",
  about: `Sixteen ranks of each of eight servers send 2 MiB to the servers of another rack, two to each. The ideal is 2.68 ms. ${uplinks.words}`,
  scenario: { seed: 1, ...racks(uplinks.count, SERVERS, "100Gbps", uplinks.rate), switch: lossy },
  extents: {
    quick: { scenario: exchanges(3), less: "three exchanges" },
    full: { scenario: exchanges(30), less: "30 exchanges" },
  },
  systems: [srd, tcp],
  probe: { every: "1s", uplinksOf: 2 * SERVERS },
  pictures: [
    { kind: "completion-distribution", title: "Completion of 2 MiB" },
    { kind: "link-loads", title: "What each uplink of the senders' rack carries" },
  ],
  claims,
})

const UNSAID =
  "The source says that uplinks are half used, and not how many there are: TCP's connections keep to one path each, so it matters to them how many a link is given, and how many it can carry."

export const srd6 = acrossRacks(
  "srd-6",
  "uplinks half used",
  { count: 64, rate: "25Gbps", words: `There are 64 uplinks of 25 Gb/s, twice as many as it takes. ${UNSAID}` },
  completions,
)

export const srd6Fifty = acrossRacks(
  "srd-6-50g",
  "uplinks of 50 Gb/s half used",
  { count: 32, rate: "50Gbps", words: `There are 32 uplinks of 50 Gb/s, twice as many as it takes. ${UNSAID}` },
  completions,
)

export const srd6Hundred = acrossRacks(
  "srd-6-100g",
  "uplinks of 100 Gb/s half used",
  { count: 16, rate: "100Gbps", words: `There are sixteen uplinks of 100 Gb/s, twice as many as it takes. ${UNSAID}` },
  completions.map((claim) => ({
    ...claim,
    reasons: { TCP: UNDISTURBED },
    exceptions: [{ systems: ["SRD", "TCP"], reason: UNDISTURBED }],
  })),
)

export const srd6Full = acrossRacks(
  "srd-6-full",
  "uplinks fully used",
  {
    count: 8,
    rate: "100Gbps",
    words:
      "There are eight uplinks of 100 Gb/s, as many as it takes, where the source has twice as many. Some links have more connections of TCP than they can carry, others stand idle.",
  },
  completions.map((claim) => ({
    ...claim,
    reasons: { all: "half of the source's uplinks: they are full, the source's half used" },
  })),
)

const PATHS = 8

/** The cap of a provider, 10 Gb/s for one flow of TCP, is a policy of its own and follows from nothing: a shaper. */
const capped: System = { name: "TCP, capped", scenario: { ...tcp.scenario, ...racks(PATHS, 1, "10Gbps") } }

export const srdPaths: Figure = {
  id: "srd-paths",
  title: "One flow, many paths",
  source: "SRD, IEEE Micro 40(6), 2020, and its provider's documentation",
  section: "multipath spraying; bandwidth of a flow",
  about:
    "One flow of 256 MiB between two hosts at 100 Gb/s in two racks, eight spines between them. A provider caps a flow of TCP at 5 to 10 Gb/s: that is a policy, here a shaper of 10 Gb/s, and no measure of TCP, which has one path to itself without it.",
  scenario: { seed: 1, ...racks(PATHS, 1), flows: [{ from: 0, to: 1, size: "256MiB" }], switch: lossy },
  extents: { quick: { scenario: {} }, full: { scenario: {} } },
  systems: [srd, tcp, capped],
  probe: { every: "1s", uplinksOf: 2 },
  pictures: [{ kind: "link-loads", title: "What each uplink of the sender's rack carries" }],
  claims: [
    {
      id: "goodput",
      what: "goodput of the flow, a share of 100 Gb/s",
      metric: { kind: "carried", of: "100Gbps" },
      unit: "share",
      mark: "read",
      published: { SRD: 1 },
    },
    {
      id: "capped",
      what: "goodput of the flow under the cap, a share of 100 Gb/s",
      metric: { kind: "carried", of: "100Gbps" },
      unit: "share",
      mark: "read",
      published: { "TCP, capped": { atLeast: 0.05, atMost: 0.1 } },
      calibrated: "the cap is put in as it is published",
    },
    {
      id: "busiest-link",
      what: "load of the busiest uplink, of the mean; SRD spreads a flow over all of them",
      metric: { kind: "link-loads", at: "max" },
      unit: "share",
      mark: "read",
      published: { SRD: 1 },
      order: [["SRD", "TCP"]],
    },
    {
      id: "idlest-link",
      what: "load of the idlest uplink, of the mean",
      metric: { kind: "link-loads", at: "min" },
      unit: "share",
      mark: "read",
      published: { SRD: 1, TCP: 0 },
    },
  ],
}

/** As RoCE is run: PFC, marks, DCQCN, a timeout of 4.096 µs · 2^14 and seven retries. */
const roce: System = {
  name: "RoCE",
  scenario: {
    controller: { name: "dcqcn", preset: "vendor" },
    transport: { framing: "rocev2", mtu: 4096, ackTimeout: "67.1ms", retryCount: 7 },
    switch: { buffer: "16MiB" },
  },
}

export const srdReroute: Figure = {
  id: "srd-reroute",
  title: "A link to a spine dies",
  source: SOURCE,
  section: "rerouting without waiting for convergence",
  about:
    "Two racks of four hosts, four spines, messages of 64 KiB at 10 % load, each on a connection that is there. 2 ms after the start a link from a rack to a spine dies; switches go on using it for 100 ms, until routing has converged. How much later than alone in the network messages complete.",
  scenario: {
    seed: 1,
    ...racks(4, 4),
    flows: { workload: "poisson", load: 0.1, size: "64KiB", duration: "110ms" },
    faults: [{ at: "2ms", from: 8, to: 10, state: "down" }],
    convergence: "100ms",
    switch: lossy,
  },
  extents: { quick: { scenario: {} }, full: { scenario: {} } },
  systems: [srd, tcp, roce],
  pictures: [{ kind: "completion-distribution", title: "Completion of messages" }],
  claims: [
    {
      id: "delay",
      what: "the most that any message is late",
      metric: { kind: "delay", at: "max" },
      unit: "s",
      mark: "read",
      published: {},
      order: [
        ["SRD", "TCP"],
        ["SRD", "RoCE"],
      ],
    },
    {
      id: "against-convergence",
      what: "the most that any message is late, against SRD: routing takes two to three orders of magnitude longer",
      metric: { kind: "delay", at: "max" },
      unit: "",
      mark: "read",
      published: { TCP: { atLeast: 100 }, RoCE: { atLeast: 100 } },
      against: { system: "SRD", as: "ratio" },
    },
    {
      id: "finished",
      what: "messages that arrive",
      metric: { kind: "finished" },
      unit: "share",
      mark: "bar",
      published: { SRD: 1, TCP: 1, RoCE: 1 },
    },
  ],
}
