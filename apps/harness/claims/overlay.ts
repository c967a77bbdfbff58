import type { Claim, Figure, Published, Scale, System } from "../src/Claim.ts"
import { type HostStages, type LatencySetting, latenciesOf } from "../src/Latency.ts"
import { statistic } from "../src/Measure.ts"

/** Both stacks: set so that a message of a quiet network takes the published times; how they divide is ours. */
const stacks: Readonly<Record<string, HostStages>> = {
  eRDMA: {
    transport: "erdma",
    send: { "post and doorbell": "0.4us", "card with overlay": "1.1us" },
    receive: { "card with overlay": "1.1us", "poll of the completion queue": "0.4us" },
  },
  "VPC TCP": {
    transport: "tcp",
    send: {
      "system call": "1us",
      "copy and TCP": "3us",
      "virtual device and doorbell": "3us",
      "virtual switch": "4.5us",
    },
    receive: {
      "virtual switch": "4.5us",
      interrupt: "3us",
      "softirq and TCP": "2.5us",
      "wake-up and copy": "1.5us",
    },
  },
}

/** The stages as they are read: "system call 1 µs, …". */
const stagesText = (name: string): string =>
  [stacks[name]!.send, stacks[name]!.receive]
    .map((stages) => Object.entries(stages).map(([stage, time]) => `${stage} ${time.replace("us", " µs")}`))
    .map((stages) => stages.join(", "))
    .join("; then ")

const setting: LatencySetting = {
  messageBytes: 64,
  messages: { quick: 20_000, full: 1_000_000 },
  rateBps: 100e9,
  delay: "2us",
  jitter: "1us",
  loss: 1e-3,
}
const quiet: LatencySetting = { ...setting, messages: { quick: 100, full: 100 }, jitter: "0us", loss: 0 }

const statistics = [
  ["least", "min"],
  ["mean", "mean"],
  ["p50", 0.5],
  ["p90", 0.9],
  ["p99", 0.99],
  ["p99.9", 0.999],
  ["p99.99", 0.9999],
] as const
const SHARES = statistics.map(([name]) => name).filter((name) => name.startsWith("p"))

const bench = ({ name }: System, scale: Scale) => {
  const host = stacks[name]!
  const { whole, network } = latenciesOf(setting, host, scale)
  const numbers: Record<string, number> = { quiet: statistic(latenciesOf(quiet, host, scale).whole, "mean") }
  for (const [what, at] of statistics) {
    numbers[what] = statistic(whole, at)
    numbers[`network ${what}`] = statistic(network, at)
  }
  return { numbers, lines: { latency: SHARES.map((share, place) => [place, numbers[share]!] as const) } }
}

const CALIBRATED = "the hosts' stages are set so as to give 5 and 25 µs on a quiet network"
const claim = (id: string, what: string, number: string, published: Readonly<Record<string, Published>>) => ({
  id,
  what,
  metric: { kind: "bench", number } as const,
  unit: "s" as const,
  mark: "read" as const,
  published,
})
const ordered = (id: string, what: string, number: string): Claim => ({
  ...claim(id, what, number, {}),
  order: [["eRDMA", "VPC TCP"]],
})
const reduction = (id: string, what: string, number: string): Claim => ({
  ...claim(id, what, number, { eRDMA: 0.8 }),
  unit: "share",
  against: { system: "VPC TCP", as: "reduction" },
  calibrated: CALIBRATED,
})

export const overlay: Figure = {
  id: "overlay",
  title: "Small messages over a tenant's network",
  source: "Alibaba Cloud, launch of eRDMA, 2021",
  section: "latency against TCP in a VPC",
  about: `Messages of 64 bytes to and fro over 100 Gb/s through VXLAN, half of a round trip each: 2 µs one way, on top of it an exponential wait of 1 µs for each packet, and one packet lost in a thousand. TCP is CUBIC with RACK and probes, eRDMA HPCC_RTT. Stages of the hosts have fixed costs, a model's: they are calibrated, and what is measured is what network and transport add to them. TCP: ${stagesText("VPC TCP")}. eRDMA: ${stagesText("eRDMA")}.`,
  scenario: {},
  extents: {
    quick: { scenario: {}, less: "20,000 messages" },
    full: { scenario: {}, less: "a million messages" },
  },
  bench,
  systems: Object.keys(stacks).map((name) => ({ name, scenario: {} })),
  pictures: [
    {
      kind: "bench",
      title: "Latency of 64 bytes",
      line: "latency",
      x: { label: "share of messages", places: SHARES },
      y: { unit: "s", logarithmic: true },
    },
  ],
  claims: [
    {
      ...claim("quiet", "latency without waits and losses", "quiet", { eRDMA: 5e-6, "VPC TCP": 25e-6 }),
      calibrated: CALIBRATED,
    },
    reduction("quiet-reduction", "reduction of that latency from TCP's", "quiet"),
    reduction("mean-reduction", "reduction of the mean, with waits and losses, from TCP's", "mean"),
    reduction("p99-reduction", "reduction of the 99th percentile, with waits and losses, from TCP's", "p99"),
    ordered("mean", "latency with waits and losses, mean", "mean"),
    ordered("p99", "latency with waits and losses, p99", "p99"),
    ordered("network-mean", "what network and transport add, mean", "network mean"),
    ordered("network-tail", "what network and transport add, p99.9", "network p99.9"),
  ],
}
