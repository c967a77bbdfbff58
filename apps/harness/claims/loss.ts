import type { Claim, Figure, Published, ScenarioPart, Sweep, System } from "../src/Claim.ts"

/** Two hosts and a switch. What is lost, is lost by chance on the sender's link, data and acknowledgements alike. */
const path = (delay: string, loss: number): ScenarioPart => ({
  topology: {
    nodes: 3,
    switches: [2],
    links: [
      { from: 0, to: 2, rate: "100Gbps", delay, loss },
      { from: 2, to: 1, rate: "100Gbps", delay },
    ],
  },
})
const losses: ReadonlyArray<readonly [name: string, share: number]> = [
  ["0", 0],
  ["1e-6", 1e-6],
  ["1e-5", 1e-5],
  ["0.01 %", 1e-4],
  ["0.1 %", 1e-3],
  ["1 %", 1e-2],
  ["10 %", 0.1],
]
const sweepOf = (delay: string): Sweep => ({
  what: "packets lost, of all",
  points: losses.map(([name, share]) => ({ name, scenario: path(delay, share) })),
})

/** A NIC that sends at line rate: DCQCN that no switch ever tells of congestion. */
const roce = (name: string, preset: "simulation" | "simulation+w", transport: ScenarioPart, stop?: string): System => ({
  name,
  scenario: {
    controller: { name: "dcqcn", preset },
    transport: { framing: "rocev2", mtu: 1024, ...transport },
    ...(stop === undefined ? {} : { stop }),
  },
})
/** The timeout of code 14, which perftest and many others ask for, IBTA 1.7 §9.7.6.1.3. */
const PERFTEST_TIMEOUT = { ackTimeout: "67108864ns" }
/** These keep the line busy, if for nothing: what they do in this time they do for ever. */
const LONG_ENOUGH = "20ms"
const roces = (rtt: string): ReadonlyArray<System> => [
  roce("go-back-0", "simulation+w", { recovery: "go-back-0", restartSize: "4MiB" }, LONG_ENOUGH),
  roce("timeout alone", "simulation+w", { recovery: "timeout" }),
  roce("go-back-N, one NAK, 67 ms", "simulation+w", PERFTEST_TIMEOUT),
  roce("go-back-N, one NAK, 4 ms", "simulation+w", {}),
  roce("go-back-N, NAK each 500 µs", "simulation", { nakInterval: "500us", ackDuplicates: false }, LONG_ENOUGH),
  roce("go-back-N, prompt NAK", "simulation+w", { nakInterval: rtt }, LONG_ENOUGH),
  roce("IRN", "simulation+w", { recovery: "selective-repeat", retryCount: 1000 }),
]

const erdma = (name: string, controller: ScenarioPart): System => ({
  name: `eRDMA, ${name}`,
  scenario: { transport: { name: "erdma" }, controller },
})
const lossTolerant: ReadonlyArray<System> = [
  { name: "SRD", scenario: { transport: { name: "srd" } } },
  erdma("HPCC_RTT", { name: "hpcc-rtt" }),
  erdma("HPCC_ECN", { name: "hpcc-ecn" }),
  erdma("HPCC_INT", { name: "hpcc", preset: "later-advice" }),
]
const lossBased: ReadonlyArray<System> = [
  erdma("CUBIC", { name: "cubic" }),
  erdma("NewReno", { name: "newreno" }),
  { name: "TCP, CUBIC", scenario: { transport: { name: "tcp", options: { mtuBytes: 8448 } } } },
]

const metric = { kind: "carried", of: "100Gbps" } as const
const picture = (title: string, systems: ReadonlyArray<string>) =>
  ({ kind: "by-point", title, metric, unit: "share", systems }) as const

const names = (systems: ReadonlyArray<System>): ReadonlyArray<string> => systems.map(({ name }) => name)
const all = (systems: ReadonlyArray<System>, published: Published): Readonly<Record<string, Published>> =>
  Object.fromEntries(systems.map(({ name }) => [name, published]))

const figure = (
  id: string,
  rtt: string,
  delay: string,
  sizes: readonly [quick: string, full: string],
  reasons: Readonly<Record<"before" | "after", NonNullable<Claim["reasons"]>>>,
): Figure => {
  const recoveries = roces(rtt)
  const adapters = recoveries.filter(({ name }) => name !== "IRN")
  const systems = [...recoveries, ...lossTolerant, ...lossBased]
  const extent = (size: string, stop: string) => ({
    scenario: { flows: [{ from: 0, to: 1, size }], stop },
    less: `one flow of ${size.replace(/(?=[MG]B)/, " ")}, ${stop.replace(/(?=m?s$)/, " ")} at most`,
  })
  return {
    id,
    title: `Goodput against loss, round trip ${rtt.replace("us", " µs")}`,
    source: "Alibaba Cloud, launch of eRDMA, 2021",
    section: "a loss of 0.1 % and of 1 %",
    about:
      "One flow over 100 Gb/s, payload as a share of line rate; packets are lost by chance on one link, acknowledgements too. RoCE with a path MTU of 1,024, in a window of one bandwidth-delay product (with NAKs each 500 µs, as in ns-3, without); timeouts 4.19 ms (code 10), and with one NAK a gap 67 ms too, the code 14 of perftest. One NAK, as InfiniBand has it, is what gives the published fall: a packet that is lost again, or whose NAK is, waits for the timeout. At 0.1 % these are two in a million, which the quick run seldom meets: over half a second 67 ms leave a quarter of line rate. Go-back-0 begins messages of 4 MiB again (Guo et al., SIGCOMM 2016); it, and go-back-N that tells of a gap again, are given 20 ms. SRD in packets of 4,096 bytes, eRDMA and TCP of 8.4 kB. HPCC_ECN is left out of the picture: it lies on HPCC_RTT.",
    scenario: { seed: 1, switch: { lossless: false, ecn: false } },
    extents: { quick: extent(sizes[0], "400ms"), full: extent(sizes[1], "2s") },
    systems,
    sweep: sweepOf(delay),
    pictures: [
      picture(
        "RoCE by its recovery",
        names(recoveries).filter((name) => !name.endsWith(" 4 ms")),
      ),
      picture(
        "Go-back-N by its NAKs",
        names(recoveries).filter((name) => name.startsWith("go-back-N")),
      ),
      picture(
        "SRD, eRDMA and TCP",
        names(systems.slice(recoveries.length)).filter((name) => !name.endsWith("ECN")),
      ),
    ],
    claims: [
      {
        id: "before-the-fall",
        what: "goodput at a loss of 0.1 %, above which RDMA is said to fall sharply: taken as at least half of line rate",
        metric,
        point: "0.1 %",
        unit: "share",
        mark: "read",
        published: all(adapters, { atLeast: 0.5 }),
        reasons: reasons.before,
      },
      {
        id: "after-the-fall",
        what: "goodput at a loss of 1 %, where RDMA is said to be at 0, taken as 5 % of line rate at most, and IRN, eRDMA and SRD to keep theirs",
        metric,
        point: "1 %",
        unit: "share",
        mark: "read",
        published: all(adapters, { atMost: 0.05 }),
        order: adapters.flatMap(({ name }) => ["IRN", ...names(lossTolerant)].map((kept) => [name, kept])),
        reasons: reasons.after,
      },
      {
        id: "kept",
        what: "goodput at a loss of 1 % of what is said to keep it",
        metric,
        point: "1 %",
        unit: "share",
        mark: "bar",
        published: all(lossTolerant, { atLeast: 0.9 }),
      },
      {
        id: "one-in-ten",
        what: "goodput at a loss of 10 %",
        metric,
        point: "10 %",
        unit: "share",
        mark: "bar",
        published: all(lossTolerant, { atLeast: 0.5 }),
      },
    ],
  }
}

const sooner = {
  "go-back-0":
    "a message of 4 MiB is 4,096 packets, and one message in sixty is whole: go-back-0 falls a decade sooner",
  "timeout alone": "each loss costs 4.19 ms, which is 47,000 packets: it falls from 0.001 % on",
}
const later = {
  "go-back-N, one NAK, 4 ms": "nearly there: a packet that is lost twice costs 4.19 ms",
  "go-back-N, NAK each 500 µs": "a packet that is lost again costs half a millisecond, no timeout",
  "go-back-N, prompt NAK": "each loss costs a round trip and no more",
}
const ROUND_TRIP = "each loss costs a round trip, 1,130 packets here"
const TWICE = { full: "two packets in a million wait 67 ms: over a second a quarter is left" }

export const loss12 = figure("loss-12us", "12us", "3us", ["20MB", "500MB"], {
  before: { ...sooner, "go-back-N, one NAK, 67 ms": TWICE },
  after: later,
})
export const loss100 = figure("loss-100us", "100us", "25us", ["40MB", "1GB"], {
  before: {
    ...sooner,
    "go-back-N, one NAK, 67 ms": TWICE,
    "go-back-N, one NAK, 4 ms": ROUND_TRIP,
    "go-back-N, NAK each 500 µs": ROUND_TRIP,
    "go-back-N, prompt NAK": ROUND_TRIP,
  },
  after: later,
})
