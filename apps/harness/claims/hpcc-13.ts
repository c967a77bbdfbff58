import type { Figure, System } from "../src/Claim.ts"

/**
 * Bytes. What the section settles on for this network with Figure 14: 48 Mb/s at this T of 4.2 µs, the rate that the 80
 * bytes of §5.1 are at the simulations' T of 13 µs.
 */
const W_AI = 25

/** The paper names no floor of the window, so there is none here. */
const reacting = (name: string, reaction: string): System => ({
  name,
  scenario: {
    controller: {
      name: "hpcc",
      preset: "paper",
      options: { reaction, additiveIncreaseBytes: W_AI, minWindowBytes: 1 },
    },
  },
})

export const hpcc13: Figure = {
  id: "hpcc-13",
  title: "Reacting to every acknowledgement and once a round trip",
  source: "HPCC, SIGCOMM 2019",
  section: "Figure 13",
  about:
    "Sixteen hosts send 4 MB each to one through a single switch, links of 100 Gb/s and 1 µs. HPCC as in the paper, with W_AI at 25 bytes as in Figure 14, beside what reacts to every acknowledgement alone and once a round trip alone. How long the former starves hangs on W_AI and maxStage: a window falls to about W_AI, and climbs by W_AI with each of maxStage acknowledgements before it grows in proportion. At W_AI 80 bytes it is back above 50 Gb/s 40 µs after the queue is gone, with maxStage 0 26 µs after.",
  scenario: {
    seed: 1,
    topology: { builder: "star", hosts: 17, link: { rate: "100Gbps", delay: "1us" } },
    flows: [{ from: "0..15", to: 16, size: "4MB" }],
    stop: "401us",
  },
  extents: { quick: { scenario: {} }, full: { scenario: {} } },
  systems: [reacting("HPCC", "both"), reacting("per-ACK only", "per-ack"), reacting("per-RTT only", "per-rtt")],
  probe: { every: "1us", port: [17, 16], until: "400us" },
  pictures: [
    { kind: "queue", title: "Queue to the receiver" },
    { kind: "throughput", title: "Throughput to the receiver" },
  ],
  claims: [
    {
      id: "peak",
      what: "longest queue",
      metric: { kind: "queue", at: "max" },
      unit: "B",
      mark: "digitised",
      published: { HPCC: 860e3 },
    },
    {
      id: "drained",
      what: "queue gone (below 10 kB) after its peak",
      metric: { kind: "drained", below: 10e3 },
      unit: "s",
      mark: "digitised",
      published: { HPCC: { atLeast: 75e-6, atMost: 100e-6 }, "per-RTT only": 145e-6 },
    },
    {
      id: "dip",
      what: "least throughput of any 12 µs until 150 µs",
      metric: { kind: "throughput", at: "min", from: "12us", to: "150us", every: "12us" },
      unit: "bit/s",
      mark: "digitised",
      published: { HPCC: 85e9 },
      order: [["per-ACK only", "HPCC"]],
    },
    {
      id: "settled",
      what: "throughput after 150 µs",
      metric: { kind: "throughput", at: "mean", from: "150us", to: "350us" },
      unit: "bit/s",
      mark: "digitised",
      published: { HPCC: { atLeast: 93e9, atMost: 95e9 } },
      order: [["per-ACK only", "HPCC"]],
    },
    {
      id: "collapse",
      what: "throughput from 75 to 270 µs",
      metric: { kind: "throughput", at: "mean", from: "75us", to: "270us" },
      unit: "bit/s",
      mark: "digitised",
      // About 0 on an axis of 100 Gb/s, which can be read to 5 % of its height.
      published: { "per-ACK only": { atMost: 5e9 } },
      order: [["per-ACK only", "HPCC"]],
    },
  ],
}
