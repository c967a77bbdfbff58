import type { Figure, System } from "../src/Claim.ts"

const increase = (bytes: number): System => ({
  name: `W_AI ${bytes} B`,
  scenario: {
    controller: { name: "hpcc", preset: "paper", options: { additiveIncreaseBytes: bytes, minWindowBytes: 1 } },
  },
})

export const hpcc14: Figure = {
  id: "hpcc-14",
  title: "Additive increase and the queue",
  source: "HPCC, SIGCOMM 2019",
  section: "Figure 14",
  about:
    "Sixteen flows into one link of 100 Gb/s, base RTT 4 µs; the queue from 1 ms on, after the first burst is gone. The bound is 150 B: the 5 % above the target of 95 %, of 100 Gb/s times 4 µs, shared by 16.",
  scenario: {
    seed: 1,
    topology: { builder: "star", hosts: 17, link: { rate: "100Gbps", delay: "1us" } },
    flows: [{ from: "0..15", to: 16, size: "40MB" }],
  },
  extents: {
    quick: { scenario: { stop: "3001us" }, less: "3 ms" },
    full: { scenario: { stop: "20001us" }, less: "20 ms" },
  },
  systems: [5, 25, 150, 300].map(increase),
  probe: { every: "1us", port: [17, 16] },
  pictures: [{ kind: "queue-distribution", title: "Queue to the receiver", from: "1ms" }],
  claims: [
    {
      id: "p95",
      what: "queue, p95",
      metric: { kind: "queue", at: 0.95, from: "1ms" },
      unit: "B",
      mark: "digitised",
      published: {
        "W_AI 5 B": { atMost: 4e3 },
        "W_AI 25 B": { atMost: 4e3 },
        "W_AI 150 B": { atMost: 4e3 },
        "W_AI 300 B": 13e3,
      },
    },
    {
      id: "p99",
      what: "queue, p99",
      metric: { kind: "queue", at: 0.99, from: "1ms" },
      unit: "B",
      mark: "digitised",
      published: {
        "W_AI 5 B": { atLeast: 5.5e3, atMost: 6.5e3 },
        "W_AI 25 B": { atLeast: 5.5e3, atMost: 6.5e3 },
        "W_AI 150 B": { atLeast: 5.5e3, atMost: 6.5e3 },
        "W_AI 300 B": 14e3,
      },
    },
    {
      id: "median",
      what: "queue, median",
      metric: { kind: "queue", at: 0.5, from: "1ms" },
      unit: "B",
      mark: "digitised",
      published: { "W_AI 300 B": 4.3e3 },
      order: [["W_AI 150 B", "W_AI 300 B"]],
    },
  ],
}
