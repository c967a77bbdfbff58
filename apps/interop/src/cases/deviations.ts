import type { Who } from "./compare.ts"
import type { SideRecord } from "./Side.ts"

/** What ours does otherwise than Linux's rxe, on purpose. */
export interface Deviation {
  readonly cases: ReadonlyArray<string>
  readonly why: string
  /** The role that ours has where it shows. */
  readonly ours: "requester" | "responder"
  /** Where it depends on the peer. */
  readonly peer?: Who
  /** What is expected in place of the record. */
  readonly requester?: Partial<SideRecord>
  readonly responder?: Partial<SideRecord>
  /** Parts of a record that Linux itself does not always have the same, as "responder receives". */
  readonly unsettled?: ReadonlyArray<string>
}

const failed = (...completions: ReadonlyArray<readonly [id: number, status: number]>) =>
  completions.map(([id, status]) => ({ id, status }))

/** Errors of one's own memory that rxe meets when packets are out already. */
const LATE = [
  "READ under no key",
  "READ past the end of its region",
  "READ into a region that may not be written",
  "atomic into a region that may not be written",
  "SEND of several packets past the end of its region",
]

export const deviations: ReadonlyArray<Deviation> = [
  {
    cases: ["memory window, invalidated by the peer"],
    why: "rxe forgets to tell a program which key was invalidated (IBV_WC_WITH_INV)",
    ours: "responder",
    responder: {
      completions: [
        { id: 50, status: 0, opcode: 5 },
        { id: 100, status: 0, opcode: 128, bytes: 200, invalidated: true },
      ],
      facts: { "through the window": true, key: true },
    },
  },
  {
    cases: ["memory window, WRITE that ends outside"],
    why: "rxe looks at the bounds of the region in place of the window's (IBTA 1.7 §10.6.7.2)",
    ours: "responder",
    requester: { completions: failed([1, 10]), state: 6 },
    responder: { state: 6 },
  },
  {
    cases: ["atomic write"],
    why: "this kernel has no ATOMIC WRITE, and drops the packet",
    ours: "requester",
    peer: "linux",
    requester: { completions: failed([1, 12]), state: 6 },
  },
  {
    cases: ["atomic write"],
    why: "this kernel has no ATOMIC WRITE",
    ours: "requester",
    peer: "ours",
    requester: { completions: [{ id: 1, status: 0, opcode: 9 }], state: 3 },
    responder: { facts: { word: String(0x1122334455667788n) } },
  },
  {
    cases: ["send queue drained"],
    why: "rxe tells late that its queue is drained, and what was posted meanwhile is never sent",
    ours: "requester",
    requester: {
      completions: [
        { id: 1, status: 0, opcode: 1 },
        { id: 2, status: 0, opcode: 1 },
      ],
      events: [],
      facts: { state: 4, events: "send queue drained", waits: true },
    },
  },
  {
    cases: ["send queue drained"],
    why: "rxe tells sooner or later that its queue is drained",
    ours: "responder",
    peer: "linux",
    unsettled: ["requester facts", "requester events"],
  },
  {
    cases: ["flush after a NAK"],
    why: "rxe flushes a receive that is posted in ERR only when something else moves its queue pair",
    ours: "requester",
    requester: {
      completions: [
        { id: 1, status: 0, opcode: 0 },
        ...failed([2, 10], [3, 5], [4, 5], [5, 5], [6, 5], [200, 5], [201, 5], [202, 5], [203, 5]),
      ],
    },
  },
  {
    cases: ["UC, SEND longer than the receive", "datagram longer than the receive"],
    why: "ours looks before it sends; rxe finds out when packets are out already",
    ours: "responder",
    responder: { completions: failed([100, 2], [101, 5]) },
  },
  {
    cases: ["SEND under no key"],
    why: "it is a local protection error (IBTA 1.7 §11.6.2), as rxe too has it for READs",
    ours: "requester",
    requester: { completions: failed([1, 4], [2, 5]) },
  },
  {
    cases: [
      "receive under no key",
      "receive into a region that may not be written",
      "receive past the end of its region",
    ],
    why: "it is a local protection error (IBTA 1.7 §11.6.2); rxe does not tell it from a message that is too long",
    ours: "responder",
    responder: { completions: failed([100, 4]) },
  },
  {
    cases: LATE,
    why: "rxe finds out when packets are out already, and what is behind them too; ours looks before it sends",
    ours: "responder",
    unsettled: ["responder receives", "responder state"],
  },
  {
    cases: ["SEND of several packets past the end of its region"],
    why: "the first packets are longer than the receive: whether rxe hears of that, or comes to the end of its region first, is a race in the guest",
    ours: "responder",
    peer: "linux",
    unsettled: ["requester sends"],
  },
  {
    cases: LATE,
    why: "ours looks before it sends; rxe finds out when packets are out already",
    ours: "requester",
    unsettled: ["responder receives", "responder state"],
  },
  {
    cases: ["completion queue overrun"],
    why: "a queue that has overrun is in error, and what completes there too (IBTA 1.7 §11.6.3)",
    ours: "requester",
    requester: {
      state: 6,
      facts: { "as many as it holds": true, events: "CQ error of small,local work queue catastrophic error of qp" },
    },
  },
  {
    cases: ["attributes of queue pairs"],
    why: "rxe takes a partition key that there is none of, a path MTU above the port's, and numbers out of their ranges",
    ours: "requester",
    requester: {
      refused: [
        "RESET to RTR",
        "INIT without port",
        "INIT with port 2",
        "INIT with partition 5",
        "RTR without its timer",
        "RTR with MTU 4096",
        "RTR with MTU 6",
        "RTR with address 9",
        "RTR with too many resources",
        "RTR with a timeout",
        "RTR with timer 32",
        "RTS with too great a depth",
        "RTS with timeout 32",
        "RTS with 8 retries",
        "RTS with 8 RNR retries",
        "timeout in RTS",
        "current state, wrong",
      ].map((what) => ({ what, errno: 22 })),
    },
  },
]
