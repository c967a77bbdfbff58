import type { Figure, ScenarioPart, System } from "../src/Claim.ts"

const EVERY = 256
const LINE_RATE = "40Gbps"
const STOP = "20ms"
/** As many packets as 40 Gb/s carry in that time. */
const PACKETS = 100_000
const link = { rate: LINE_RATE, delay: "2us" }

const system = (name: string, transport: ScenarioPart): System => ({
  name,
  scenario: { transport: { framing: "rocev2", mtu: 1024, ...transport } },
})

export const livelock: Figure = {
  id: "livelock",
  title: "Go-back-0 where one packet in 256 is lost",
  source: "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016",
  section: "§4.1",
  about:
    "Messages of 4 MiB over 40 Gb/s, and every 256th packet is dropped: a message of 4,096 packets that begins again at each loss never ends, and keeps the line busy. Go-back-N loses a round trip at each.",
  scenario: {
    seed: 1,
    topology: {
      nodes: 3,
      switches: [2],
      links: [
        { from: 0, to: 2, ...link },
        { from: 2, to: 1, ...link },
      ],
    },
    losses: [{ from: 0, to: 2, packets: Array.from({ length: PACKETS / EVERY }, (_, at) => at * EVERY + EVERY - 1) }],
    flows: [{ from: 0, to: 1, size: "80MiB" }],
    controller: { name: "dcqcn", preset: "simulation+w" },
    switch: { lossless: false, ecn: false },
    stop: STOP,
  },
  extents: { quick: { scenario: {} }, full: { scenario: {} } },
  systems: [
    system("go-back-0", { recovery: "go-back-0", restartSize: "4MiB" }),
    system("go-back-N", { recovery: "go-back-n" }),
  ],
  probe: { every: "100us", port: [0, 2], flows: [0], until: STOP },
  pictures: [{ kind: "goodput", title: "Payload of messages that is there for good" }],
  claims: [
    {
      id: "goodput",
      what: "payload of messages, a share of line rate",
      metric: { kind: "carried", of: LINE_RATE },
      unit: "share",
      mark: "read",
      published: { "go-back-0": 0 },
      order: [["go-back-0", "go-back-N"]],
    },
    {
      id: "busy",
      what: "what the line carries",
      metric: { kind: "throughput", at: "mean", from: "0us", to: STOP },
      unit: "bit/s",
      mark: "remembered",
      published: { "go-back-0": { atLeast: 38e9 } },
    },
  ],
}
