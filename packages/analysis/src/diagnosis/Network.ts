import { rejectReason } from "@rdmakit/wire/cm"
import type { CaptureAnalysis } from "../CaptureAnalysis.ts"
import type { Connection } from "../flows/Connections.ts"
import type { Flow } from "../flows/Flow.ts"
import type { PauseSeries } from "../Pauses.ts"
import { type Cause, certain, counted, duration, type Finding, likely, possible, unlikely } from "./Finding.ts"
import { subjectOf } from "./QueuePairs.ts"

/** Marks on so many packets in a row are no congestion. */
const ALWAYS_MIN = 20
/** Notifications that were judged before something is said of the reaction. */
const REACTIONS_MIN = 4
/** A stop this long is no ordinary flow control. */
const LONG_PAUSE_NS = 1_000_000
/** A request without an answer for so long. */
const UNANSWERED_NS = 2e9
/** Share of its time that a priority may be stopped. */
const PAUSED_SHARE = 0.1

/** What is wrong besides queue pairs: congestion, pauses, connections, damage, iWARP. */
export const networkFindings = (analysis: CaptureAnalysis): ReadonlyArray<Finding> => [
  ...congestionFindings(analysis),
  ...hostFindings(analysis),
  ...pauseFindings(analysis),
  ...connectionFindings(analysis),
  ...damageFindings(analysis),
  ...iwarpFindings(analysis),
]

const congestionFindings = ({ conversations, observer }: CaptureAnalysis): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  const { nativeCnps } = conversations
  if (nativeCnps.count > 0) {
    findings.push({
      kind: "nativeCnp",
      severity: "warning",
      text: `${counted(nativeCnps.count, "packet")} of RoCEv2 with opcode 0x80, the CNP of native InfiniBand; on RoCEv2 it is 0x81, and receivers ignore 0x80`,
      subject: undefined,
      causes: [likely("whoever made them took the opcode of native InfiniBand")],
      frames: nativeCnps.frames,
      count: nativeCnps.count,
    })
  }
  for (const flow of conversations.flows) {
    const subject = subjectOf(flow, observer.addresses)
    const always = alwaysMarked(flow)
    if (always !== undefined) findings.push({ ...always, subject })
    const { reaction } = flow
    if (reaction.measured >= REACTIONS_MIN && reaction.slower * 8 < reaction.measured) {
      findings.push({
        kind: "noReaction",
        severity: "warning",
        text: `the sender does not slow down after CNPs: slower after ${reaction.slower} of ${reaction.measured} (${rate(reaction.beforeBps)} before, ${rate(reaction.afterBps)} after)`,
        subject,
        causes: [
          likely("congestion control is off at the sender for this priority: it reads CNPs and does nothing"),
          possible(
            "CNPs do not reach it: their DSCP has a class of its own that is starved, or the capture is before the loss",
          ),
          possible("it was at its lowest rate already"),
        ],
        frames: flow.reverse?.cnps.frames ?? [],
        count: reaction.measured,
      })
    }
  }
  return findings
}

const rate = (bps: number): string => {
  const rounded = Number(bps.toPrecision(3))
  return rounded >= 1e9 ? `${(rounded / 1e9).toPrecision(3)} Gb/s` : `${(rounded / 1e6).toPrecision(3)} Mb/s`
}

/** CE on every packet: set by a host, not by a queue. */
const alwaysMarked = (flow: Flow): Omit<Finding, "subject"> | undefined => {
  const { marked, packets } = flow
  if (packets < ALWAYS_MIN || marked.count < packets) return undefined
  return {
    kind: "alwaysMarked",
    severity: "warning",
    text: `every one of ${packets} packets is marked (ECN 3)`,
    causes: [
      likely(
        "the sender sets the bits itself: its traffic class ends in 3; use one that ends in 2, such as 106 for DSCP 26",
      ),
      possible("a switch marks from an empty queue on: the threshold is 0 or in the wrong unit"),
      unlikely("the queue was never short"),
    ],
    frames: marked.frames,
    count: marked.count,
  }
}

/** What is marked on its way to one host, and what that host says of it. */
interface Congested {
  /** Hosts that send to it. */
  readonly senders: Set<number>
  readonly frames: Array<number>
  marked: number
  packets: number
  cnps: number
  measured: number
  slower: number
  isCapable: boolean
}

const FRAMES_MAX = 32

/** Marks and CNPs by the host that everything goes to. */
const congestedHosts = (flows: ReadonlyArray<Flow>): ReadonlyMap<number, Congested> => {
  const hosts = new Map<number, Congested>()
  const hostOf = (host: number): Congested => {
    const known = hosts.get(host)
    if (known !== undefined) return known
    const none = { marked: 0, packets: 0, cnps: 0, measured: 0, slower: 0, isCapable: false }
    const made: Congested = { senders: new Set(), frames: [], ...none }
    hosts.set(host, made)
    return made
  }
  for (const flow of flows) {
    if (flow.marked.count > 0 && alwaysMarked(flow) === undefined) {
      const host = hostOf(flow.destination)
      host.senders.add(flow.source)
      host.marked += flow.marked.count
      host.packets += flow.packets
      host.frames.push(...flow.marked.frames)
    }
    if (flow.cnps.count === 0) continue
    // Who sends notifications is who the packets go to.
    const host = hostOf(flow.source)
    host.senders.add(flow.destination)
    host.cnps += flow.cnps.count
    host.frames.push(...flow.cnps.frames)
    const reaction = flow.reverse?.reaction
    host.measured += reaction?.measured ?? 0
    host.slower += reaction?.slower ?? 0
    host.isCapable ||= (flow.reverse?.ecnCapable ?? 0) > 0
  }
  return hosts
}

const hostFindings = ({ conversations, observer }: CaptureAnalysis): ReadonlyArray<Finding> =>
  [...congestedHosts(conversations.flows)].map(([host, { senders, frames, ...counts }]) => {
    const { marked, packets, cnps, measured, slower, isCapable } = counts
    const parts: Array<string> = []
    if (marked > 0) parts.push(`${marked} of ${packets} packets marked (CE)`)
    if (cnps > 0) parts.push(counted(cnps, "CNP"))
    if (measured > 0) parts.push(`senders were slower after ${slower} of ${measured}`)
    const many = senders.size > 1
    const causes: Array<Cause> = [
      many
        ? likely(`an incast: ${senders.size} hosts send to it at once`)
        : likely("several flows share a queue on the way, or its link is slower than the sender's"),
      possible("the thresholds of marking are low for the rate of the link"),
    ]
    if (cnps > 0 && marked === 0) {
      const where = isCapable ? "behind this point of the network" : "not there: these packets cannot be marked here"
      causes.push(possible(`the marks themselves are ${where}`))
    }
    return {
      kind: "congestion",
      severity: "info",
      text: `congestion on the way to ${observer.addresses.text(host)}: ${parts.join(", ")}`,
      subject: undefined,
      causes,
      frames: frames.sort((a, b) => a - b).slice(0, FRAMES_MAX),
      count: marked + cnps,
    }
  })

const pauseFindings = ({ pauses, observer, lastNs }: CaptureAnalysis): ReadonlyArray<Finding> =>
  pauses.series
    .filter(({ pauses: count }) => count > 0)
    .map((series) => pauseFinding(series, observer.addresses.text(series.source), lastNs))

const pauseFinding = (series: PauseSeries, source: string, lastNs: number): Finding => {
  const { priority, pauses, pausedNs, longestNs, unended, frames } = series
  const isStorm = longestNs > LONG_PAUSE_NS || pausedNs > PAUSED_SHARE * lastNs
  const what = priority === undefined ? "the whole link" : `priority ${priority}`
  const open = unended > 0 ? `, ${unended} without a resume here` : ""
  const causes: Array<Cause> = isStorm
    ? [
        likely("the host or switch that sends them does not drain: a slow receiver, PCIe, or a NIC that is stuck"),
        possible("a pause spread from further down: look for who pauses this port"),
        possible("thresholds of PFC are too low for the length and rate of the link"),
      ]
    : [
        likely("a queue of this priority is full for moments: an incast"),
        possible("ECN marks too late, so that PFC acts first: its threshold must be below that of PFC"),
      ]
  if (priority === undefined) causes.push(possible("flow control of the whole link is on where PFC is meant to be"))
  return {
    kind: "pause",
    severity: isStorm ? "warning" : "info",
    text: `${source} pauses ${what} ${counted(pauses, "time")}: ${duration(pausedNs)} in all, ${duration(longestNs)} at most${open}`,
    subject: undefined,
    causes,
    frames: frames.frames,
    count: pauses,
  }
}

const REJECTS: Readonly<Record<number, ReadonlyArray<Cause>>> = {
  8: [
    certain("nobody listens on that port: the server is not started, or listens elsewhere"),
    possible("it listens in another port space, or on another address"),
  ],
  28: [likely("the program at the server refused it: look at its log and at the private data")],
  4: [likely("the server's answer came too late, or not at all")],
  10: [likely("the server still holds a connection with this queue pair: the client restarted")],
}

/** A client waits for seconds before it asks again; one that goes on had an answer that the capture does not have. */
const isUnanswered = (connection: Connection, lastNs: number): boolean =>
  connection.replyFrame === undefined &&
  Number.isNaN(connection.readyNs) &&
  connection.disconnectFrame === undefined &&
  (connection.requests > 1 || lastNs - connection.requestNs > UNANSWERED_NS)

const connectionFindings = ({ conversations, observer, lastNs }: CaptureAnalysis): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  for (const connection of conversations.connections.all) {
    const { client, server, request, rejectFrame, rejectReason: reason, requestFrame, requests } = connection
    const subject = { source: observer.addresses.text(client), destination: observer.addresses.text(server) }
    const service = `service 0x${request.serviceId.toString(16)}`
    if (rejectFrame !== undefined && reason !== undefined) {
      findings.push({
        kind: "connectionRejected",
        severity: "error",
        text: `connection to ${service} rejected: ${rejectReason(reason) ?? `reason ${reason}`}`,
        subject,
        causes: REJECTS[reason] ?? [likely("the server does not accept what the client asks for")],
        frames: [requestFrame, rejectFrame],
        count: 1,
      })
    } else if (isUnanswered(connection, lastNs)) {
      findings.push({
        kind: "connectionUnanswered",
        severity: "error",
        text: `connection to ${service}: ${counted(requests, "request")} without an answer`,
        subject,
        causes: [
          likely("the server is gone, or an ACL drops UDP port 4791"),
          possible("answers take another path than this capture"),
        ],
        frames: [requestFrame],
        count: requests,
      })
    }
  }
  return findings
}

const damageFindings = (analysis: CaptureAnalysis): ReadonlyArray<Finding> => {
  const { icrcBad, icrcOk } = analysis.end()
  // When all are wrong they were taken before they were computed: a note says so.
  if (icrcBad.length === 0 || icrcOk === 0) return []
  return [
    {
      kind: "damaged",
      severity: "error",
      text: `${counted(icrcBad.length, "wrong ICRC")} among ${icrcBad.length + icrcOk}: receivers drop these packets and say nothing`,
      subject: undefined,
      causes: [
        likely("memory of a switch or a NIC damages packets: their link check sequences were made anew and are right"),
        possible("something rewrites fields that the ICRC covers: NAT, IP identification, UDP ports"),
        possible("some were taken at the sender before the NIC computed them"),
      ],
      frames: icrcBad.slice(0, 32),
      count: icrcBad.length,
    },
  ]
}

const iwarpFindings = ({ iwarp, observer }: CaptureAnalysis): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  for (const { direction, crcWrong, opening, openingFrame, terminates } of iwarp.flows) {
    const { addresses } = observer
    const subject = {
      source: `${addresses.text(direction.source)}:${direction.sourcePort}`,
      destination: `${addresses.text(direction.destination)}:${direction.destinationPort}`,
    }
    if (crcWrong.count > 0) {
      findings.push({
        kind: "mpaCrc",
        severity: "error",
        text: `${counted(crcWrong.count, "unit")} of iWARP with a wrong CRC: the receiver ends the connection`,
        subject,
        causes: [
          likely("octets were damaged after TCP's checksum was made: memory of a host, or an offload"),
          possible("the sender computes the CRC wrongly: markers, padding, or the order of its octets"),
        ],
        frames: crcWrong.frames,
        count: crcWrong.count,
      })
    }
    const { repeated, outOfOrder } = direction.tcp
    if (repeated > 0) {
      findings.push({
        kind: "tcpRepeats",
        severity: "warning",
        text: `${counted(repeated, "segment")} of TCP there twice${outOfOrder > 0 ? `, ${counted(outOfOrder, "time")} out of order` : ""}`,
        subject,
        causes: [
          likely("segments, or their acknowledgements, were lost, and TCP sent them again"),
          possible("the network duplicates packets, or two capture points were merged"),
        ],
        frames: direction.repeats.frames,
        count: repeated,
      })
    }
    if (opening?.rejected === true) {
      findings.push({
        kind: "mpaRejected",
        severity: "error",
        text: "the connection was rejected by an MPA reply",
        subject,
        causes: [
          likely("the program at the server refused it: look at its log and at the private data"),
          possible("the sides do not agree on the revision of MPA, or on CRCs and markers"),
        ],
        frames: openingFrame === undefined ? [] : [openingFrame],
        count: 1,
      })
    }
    if (terminates.length > 0) {
      findings.push({
        kind: "terminate",
        severity: "error",
        text: `terminated: ${terminates.map(({ text }) => text).join("; ")}`,
        subject,
        causes: [likely("the side that terminates says what it could not accept; the other one sent it")],
        frames: terminates.map(({ frame }) => frame),
        count: terminates.length,
      })
    }
  }
  return findings
}
