import { psnDistance } from "@rdmakit/wire/infiniband"
import type { Addresses } from "../Addresses.ts"
import type { Connection } from "../flows/Connections.ts"
import type { Flow } from "../flows/Flow.ts"
import {
  type Cause,
  certain,
  counted,
  duration,
  type Finding,
  type FindingKind,
  likely,
  possible,
  type Subject,
  unlikely,
} from "./Finding.ts"
import { repeatFindings } from "./Repeats.ts"

/** What is known of a direction besides itself. */
export interface About {
  readonly subject: Subject
  readonly source: string
  readonly destination: string
  /** Nothing of RDMA comes the other way. */
  readonly isOneSided: boolean
  readonly connection: Connection | undefined
}

export const subjectOf = (flow: Flow, addresses: Addresses): Subject => ({
  source: addresses.text(flow.source),
  destination: addresses.text(flow.destination),
  qp: flow.qp,
  ...(flow.reverse === undefined ? {} : { sourceQp: flow.reverse.qp }),
})

/** Gaps from which packets were missing this many at a time are bursts. */
const BURST = 8

/** What is wrong with one direction of a queue pair. */
export const flowFindings = (flow: Flow, about: About): ReadonlyArray<Finding> => [
  ...lossFindings(flow, about),
  ...strayNakFindings(flow, about),
  ...orderFindings(flow, about),
  ...repeatFindings(flow, about),
  ...rnrFindings(flow, about),
  ...nakFindings(flow, about),
  ...wrapFindings(flow, about),
]

const finding = (
  kind: FindingKind,
  severity: Finding["severity"],
  about: About,
  text: string,
  tally: { readonly count: number; readonly frames: ReadonlyArray<number> },
  causes: ReadonlyArray<Cause>,
): Finding => ({ kind, severity, text, subject: about.subject, causes, frames: tally.frames, count: tally.count })

const lossFindings = (flow: Flow, about: About): ReadonlyArray<Finding> => {
  const { requests, service, reverse } = flow
  const findings: Array<Finding> = []
  const open = requests.gaps.open()
  if (service === "Uc") {
    const lost = open.packets
    if (lost > 0) {
      findings.push(
        finding(
          "unreliableLoss",
          "error",
          about,
          `${counted(lost, "packet")} of an unreliable connection lost: nothing sends them again`,
          { count: lost, frames: open.frames },
          [
            likely("a queue overflowed before this point: PFC is off for this traffic, or buffers are too small"),
            possible("a link or an optical module damages packets"),
            possible("the capture missed them: compare with the receiver's counters"),
          ],
        ),
      )
    }
    return findings
  }
  const naks = reverse?.answers.sequenceNaks
  const asked = requests.causes.nak.count
  // What came late was overtaken, not lost.
  const upstream = requests.missingPackets - requests.late.count - requests.gaps.unseen
  const lostBefore = requests.repeated.count - requests.repeatedSeen - requests.lateAfterRepeat
  if (lostBefore > 0 && upstream > 0) {
    const nakText = asked > 0 ? `, ${counted(asked, "NAK")} for PSN sequence errors` : ""
    findings.push(
      finding(
        "loss",
        "warning",
        about,
        `packets lost before this point: ${counted(requests.missing.count, "gap")} in PSNs, ${counted(lostBefore, "packet")} seen only when sent again${nakText}, ${counted(requests.repeated.count, "packet")} sent again in all`,
        { count: lostBefore, frames: requests.missing.frames },
        [
          likely(
            requests.missingPackets / requests.missing.count >= BURST
              ? "a queue overflowed: packets are missing in bursts; PFC is off for this traffic or its headroom too small"
              : "packets are dropped one by one: a queue at its limit without PFC, or a link that damages packets; compare counters of discards and of FCS errors",
          ),
          ...(requests.countsUp
            ? []
            : [possible("the network reorders packets: IP identifications do not count up here, and cannot tell")]),
          possible("PFC or ECN is not set up for the priority of this traffic at one hop"),
          unlikely("the capture missed packets: then nobody would send them again"),
        ],
      ),
    )
  } else if (asked > 0 && requests.late.count === 0) {
    findings.push(
      finding(
        "loss",
        "warning",
        about,
        `packets lost behind this point: ${counted(asked, "NAK")} for PSN sequence errors, and the packets they ask for had passed here`,
        { count: asked, frames: naks?.frames ?? requests.causes.nak.frames },
        [
          likely("a queue between here and the receiver overflowed, or a link damages packets"),
          possible("the receiver's NIC dropped them: look at its counters (out_of_buffer, rx_discards)"),
        ],
      ),
    )
  }
  const responses = reverse?.answers
  if (responses !== undefined && responses.missingPackets > 0) {
    findings.push(
      finding(
        "readResponseLoss",
        "warning",
        about,
        `${counted(responses.missingPackets, "response")} to READs missing, asked for again ${counted(requests.causes.response.count, "time")}`,
        responses.missing,
        [
          likely("responses are lost on the way back: a queue overflows before this point"),
          possible("the responder's host reads memory too slowly"),
        ],
      ),
    )
  }
  return findings
}

/** NAKs whose requests are not in the capture. */
const strayNakFindings = ({ reverse, answers }: Flow, about: About): ReadonlyArray<Finding> =>
  reverse !== undefined || answers.sequenceNaks.count === 0
    ? []
    : [
        finding(
          "loss",
          "warning",
          about,
          `${counted(answers.sequenceNaks.count, "NAK")} for PSN sequence errors from ${about.source}; the requests are not in the capture`,
          answers.sequenceNaks,
          [likely("packets were lost on their way to it"), possible("the network reorders packets")],
        ),
      ]

const orderFindings = (flow: Flow, about: About): ReadonlyArray<Finding> => {
  const { requests } = flow
  const findings: Array<Finding> = []
  const asked = requests.causes.nak.count
  if (requests.late.count > 0) {
    const nakText =
      asked === 0 ? "" : `; it made the receiver ask ${counted(asked, "time")} for packets that were on their way`
    findings.push(
      finding(
        "reordering",
        "warning",
        about,
        `${counted(requests.late.count, "packet")} overtaken by later ones${nakText}`,
        requests.late,
        [
          likely(
            "a path spreads the packets of a queue pair: packet spraying, adaptive routing, or a link aggregate that hashes more than addresses and ports",
          ),
          possible("a device in the path, or an emulation such as netem, delays packets unevenly"),
          ...(asked === 0
            ? [possible("the capture itself has them in another order: it was taken from several receive queues")]
            : []),
          unlikely("two capture points were merged with clocks that differ"),
        ],
      ),
    )
  }
  const { copies, copiesElsewhere } = requests
  if (copies.count > 0 && !isTwice(flow)) {
    findings.push(
      finding(
        "duplicates",
        "warning",
        about,
        `${counted(copies.count, "packet")} twice, identical to the IP identification and ICRC: ${
          requests.countsUp
            ? "not sent again by the requester"
            : "hardly sent again by the requester, though identifications do not count up here"
        }`,
        copies,
        [
          likely("the network duplicates packets: a loop, a flooding switch, or an emulation such as netem"),
          possible(
            copiesElsewhere > 0
              ? "the capture has two points of the path: hop limits differ"
              : "a mirror port sends both directions of a link here",
          ),
        ],
      ),
    )
  }
  return findings
}

/** Nearly every packet is there twice: it was taken twice, not sent twice. */
export const isTwice = ({ copies, requests, answers }: Flow): boolean =>
  copies >= 3 && copies >= 0.4 * (requests.packets + answers.readPackets)

const rnrFindings = (flow: Flow, about: About): ReadonlyArray<Finding> => {
  const { answers, reverse } = flow
  if (answers.rnrNaks.count === 0) return []
  const requests = reverse?.requests
  const delays = answers.rnrTimers.map((code) => `code ${code}`).join(", ")
  const pending = requests?.rnr
  const last = answers.lastRnrPsn
  const isOver = requests !== undefined && requests.acknowledged >= 0 && psnDistance(requests.acknowledged, last) >= 0
  const waited = answers.waitedNs > 0 ? `, ${duration(answers.waitedNs)} waited` : ""
  const causes = [
    likely(`the program at ${about.source} posts receives too late or too few: post more before the peer sends`),
    possible("a shared receive queue ran empty: raise its limit and refill it earlier"),
    possible("the receiver's process was busy or not scheduled: completions were handled late"),
  ]
  const text = `receiver not ready: ${counted(answers.rnrNaks.count, "RNR NAK")} from ${about.source} (timer ${delays})${waited}`
  if (!isOver && pending !== undefined && !pending.answered) {
    return [
      finding(
        "rnrRetryExceeded",
        "error",
        about,
        `${text}; not sent again after frame ${pending.frame}`,
        answers.rnrNaks,
        [
          likely("RNR retries ran out: the queue pair of the requester went to the error state; 7 means without end"),
          ...causes,
        ],
      ),
    ]
  }
  return [finding("rnr", "warning", about, `${text}${isOver ? "; then it succeeded" : ""}`, answers.rnrNaks, causes)]
}

const FATAL: Readonly<Record<number, readonly [FindingKind, string, ReadonlyArray<Cause>]>> = {
  1: [
    "invalidRequest",
    "invalid request",
    [
      likely("the message is longer than the receive that was posted for it"),
      possible(
        "the operation is not enabled at the responder: READ, atomics, or more of them outstanding than max_dest_rd_atomic",
      ),
      possible("an atomic at an address that is no multiple of 8"),
    ],
  ],
  2: [
    "remoteAccessError",
    "remote access error",
    [
      likely("the rkey is wrong: not the one of that memory region, or an lkey sent in its place"),
      likely("the region was deregistered, or invalidated, before the operation"),
      possible("address or length reach beyond the region"),
      possible(
        "the region, or the queue pair, does not allow this operation: IBV_ACCESS_REMOTE_WRITE, _READ or _ATOMIC",
      ),
      possible("region and queue pair are in different protection domains"),
    ],
  ],
  3: [
    "remoteOperationalError",
    "remote operational error",
    [
      likely(
        "the responder failed for a reason of its own: its queue pair or completion queue overflowed or is in error",
      ),
      possible("the receive that was posted has a bad local key or address"),
    ],
  ],
  4: ["invalidRdRequest", "invalid RD request", [likely("queue key or partition of a reliable datagram are wrong")]],
}

const nakFindings = (flow: Flow, about: About): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  for (const code of new Set(flow.answers.fatal.map((nak) => nak.code))) {
    const naks = flow.answers.fatal.filter((nak) => nak.code === code)
    const known = FATAL[code]
    if (known === undefined) continue
    const [kind, name, causes] = known
    const message = flow.reverse?.requests.messages.outstanding.find(({ firstPsn }) => firstPsn === naks[0]!.psn)
    const what =
      message === undefined
        ? ""
        : ` to a ${message.kind.toUpperCase()} of ${message.bytes} octets in frame ${message.frame}`
    const psns = naks.map(({ psn }) => psn).join(" ")
    const text = `${name}: NAK from ${about.source}${what} (PSN ${psns}); the queue pair that asked is in the error state`
    const frames = [...(message === undefined ? [] : [message.frame]), ...naks.map(({ frame }) => frame)]
    findings.push(finding(kind, "error", about, text, { count: naks.length, frames }, causes))
  }
  return findings
}

const wrapFindings = ({ requests }: Flow, about: About): ReadonlyArray<Finding> =>
  requests.wraps.count === 0
    ? []
    : [
        finding(
          "psnWrap",
          "info",
          about,
          "PSN wraps from 0xffffff to 0: legal, compare PSNs modulo 2^24",
          requests.wraps,
          [certain("PSNs have 24 bits, and the first of a connection is chosen at random")],
        ),
      ]
