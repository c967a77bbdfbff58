import type { Claim, Figure, System, TableRow, Unit } from "../src/Claim.ts"
import { queuePairsFor } from "../src/Scaling.ts"
import { handled, linksUsed, overtaken, sharingOf, type TraitTransport, timeoutOf } from "../src/Traits.ts"

const transports: Readonly<Record<string, TraitTransport>> = { TCP: "tcp", InfiniBand: "rc", SRD: "srd" }
const RTT_PS = 20e6
const MESSAGE_BYTES = 2 ** 20
const PEERS = 15

const bench = async ({ name }: System) => {
  const transport = transports[name]!
  const { queueBytes, actions } = await sharingOf(transport)
  const timeout = timeoutOf(transport, RTT_PS)
  return {
    numbers: {
      late: overtaken(transport),
      links: await linksUsed(transport),
      timeout,
      "timeout growth": timeoutOf(transport, 10 * RTT_PS) / timeout,
      queue: queueBytes,
      actions,
      handled: handled(transport, MESSAGE_BYTES),
      ...(transport === "tcp" ? {} : { "queue pairs": await queuePairsFor(transport, PEERS) }),
    },
    lines: {},
  }
}

type Words = Pick<Claim, "published" | "order">
const claim = (id: string, what: string, number: string, unit: Unit, words: Words): Claim => ({
  id,
  what,
  metric: { kind: "bench", number },
  unit,
  mark: "remembered",
  ...words,
})

const claims: ReadonlyArray<Claim> = [
  claim("late", "messages that ended after one that had been sent later", "late", "share", {
    published: { TCP: 0, InfiniBand: 0 },
    order: [
      ["TCP", "SRD"],
      ["InfiniBand", "SRD"],
    ],
  }),
  claim("links", "links, of sixteen, that carried one flow", "links", "", {
    published: { TCP: 1, InfiniBand: 1 },
    order: [
      ["TCP", "SRD"],
      ["InfiniBand", "SRD"],
    ],
  }),
  claim("timeout", "from the loss of a lone packet until it is sent again, round trip 20 µs", "timeout", "s", {
    published: { TCP: { atLeast: 50e-3 } },
    order: [
      ["SRD", "TCP"],
      ["SRD", "InfiniBand"],
    ],
  }),
  claim("timeout-growth", "how much longer it is at ten times the round trip", "timeout growth", "", {
    published: { InfiniBand: 1 },
    order: [
      ["TCP", "SRD"],
      ["InfiniBand", "SRD"],
    ],
  }),
  claim("queue", "bytes at the port that eight flows share, median", "queue", "B", {
    published: {},
    order: [["SRD", "TCP"]],
  }),
  claim("actions", "times that these flows set their rates or windows", "actions", "", {
    published: { InfiniBand: 0 },
    order: [["InfiniBand", "SRD"]],
  }),
  claim("handled", "what the sender's software handles for a message of 1 MiB", "handled", "", {
    published: {},
    order: [
      ["InfiniBand", "TCP"],
      ["SRD", "TCP"],
    ],
  }),
  claim("queue-pairs", `queue pairs of a process that sends to ${PEERS} peers`, "queue pairs", "", {
    published: { SRD: 1 },
    order: [["SRD", "InfiniBand"]],
  }),
]

const row = (
  name: string,
  numbers: TableRow["numbers"],
  [tcp, infiniband, srd]: readonly [string, string, string],
  run: string,
): TableRow => ({ name, numbers, published: { TCP: tcp, InfiniBand: infiniband, SRD: srd }, run })

export const traits: Figure = {
  id: "traits",
  title: "TCP, InfiniBand and SRD side by side",
  source: "AWS, slides on EFA and SRD",
  section: "comparison of transports",
  about:
    "Six rows in the source's words, and beside each word what the engines did in a run of their own. TCP is CUBIC with SACK and without the probes of RACK, which are younger than the table; InfiniBand is a reliable connection without congestion control, in a lossless network where it has switches, with the timeout of code 14.",
  scenario: {},
  extents: { quick: { scenario: {} }, full: { scenario: {} } },
  bench,
  systems: Object.keys(transports).map((name) => ({ name, scenario: {} })),
  table: [
    row(
      "Ordering",
      [["late", "# of messages late"]],
      ["in order", "in order", "out of order"],
      "a thousand messages of one packet, sent at once over ways of 10 to 30 µs; those that ended after one that had been sent later",
    ),
    row(
      "Paths",
      [["links", "# of 16 links"]],
      ["one", "one", "sprayed over many"],
      "10 MB between two racks with sixteen spines; links that carried data of it",
    ),
    row(
      "Retransmission timeout",
      [
        ["timeout", "#"],
        ["timeout-growth", "times # at ten times the round trip"],
      ],
      ["long, above 50 ms", "static, set by the user", "estimated, in microseconds"],
      "200 messages one after another, and the next one lost; how long until it was sent again, at a round trip of 20 µs, and how many times that at 200 µs",
    ),
    row(
      "Congestion control",
      [
        ["queue", "a queue of #"],
        ["actions", "# changes of rate"],
      ],
      ["by loss", "semi-static rate limits", "dynamic rate limits"],
      "eight flows into one port of 100 Gb/s for 6 ms, no marks; the median queue, and how often the senders set rate or window",
    ),
    row(
      "Offload",
      [["handled", "# things handled"]],
      ["software stack", "in the NIC", "in the NIC"],
      "a message of 1 MiB; packets both ways that TCP's host handles, segmentation offload aside, or requests and completions",
    ),
    row(
      "Scaling",
      [["queue-pairs", "# for 15 peers"]],
      ["a connection a peer", "a queue pair a peer", "the same queue pairs, whatever the cluster"],
      "a program of verbs sends a message to each of fifteen hosts; queue pairs that it made. TCP has no program of verbs",
    ),
  ],
  pictures: [],
  claims,
}
