import type { CaptureAnalysis } from "../CaptureAnalysis.ts"
import type { Flow } from "../flows/Flow.ts"
import { counted, type Finding } from "./Finding.ts"
import { networkFindings } from "./Network.ts"
import { type About, flowFindings, isTwice, subjectOf } from "./QueuePairs.ts"
import { isFarewell } from "./Repeats.ts"

/** What a capture shows, and what it cannot show. */
export interface Diagnosis {
  /** Symptoms with their causes, the worst first. */
  readonly findings: ReadonlyArray<Finding>
  /** What is special about the capture, and what cannot be known from it. */
  readonly notes: ReadonlyArray<string>
}

/** Findings of one kind that are told one by one; the others are counted. */
const OF_A_KIND_MAX = 20
const SEVERITIES = ["error", "warning", "info"]
/** Packets of a capture that may be missing before a note says so. */
const UNSEEN_SHARE = 0.001

const aboutOf = (flow: Flow, { conversations, observer }: CaptureAnalysis): About => {
  const subject = subjectOf(flow, observer.addresses)
  const connection = conversations.connections.of(flow.source, flow.destination, flow.qp)
  const isOneSided = !conversations.talks(flow.destination, flow.source)
  return { subject, source: subject.source, destination: subject.destination, isOneSided, connection }
}

/** Says what is wrong in a capture and why, in words. Ends the analysis. */
export const diagnose = (analysis: CaptureAnalysis, only: (flow: Flow) => boolean = () => true): Diagnosis => {
  const flows = [...analysis.conversations.flows].filter((flow) => only(flow) && isEventful(flow))
  const findings = [
    ...flows.flatMap((flow) => flowFindings(flow, aboutOf(flow, analysis))),
    ...networkFindings(analysis),
  ]
  findings.sort(
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.count - a.count || firstOf(a) - firstOf(b),
  )
  return { findings: shortened(findings), notes: notesOf(analysis) }
}

/** Most queue pairs are fine, and need no sentence. */
const isEventful = ({ requests, answers }: Flow): boolean =>
  requests.missing.count +
    requests.late.count +
    requests.copies.count +
    requests.repeated.count +
    requests.wraps.count +
    answers.rnrNaks.count +
    answers.fatalNaks.count +
    answers.sequenceNaks.count >
    0 || requests.hasAnswers

const firstOf = ({ frames }: Finding): number => frames[0] ?? 0

const shortened = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const counts = new Map<string, number>()
  const kept = findings.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return count <= OF_A_KIND_MAX
  })
  return kept.map((finding) => {
    const more = counts.get(finding.kind)! - OF_A_KIND_MAX
    const isLast = more > 0 && finding === kept.findLast(({ kind }) => kind === finding.kind)
    return isLast ? { ...finding, text: `${finding.text}; and ${counted(more, "other")} like it` } : finding
  })
}

const notesOf = (analysis: CaptureAnalysis): ReadonlyArray<string> => {
  const { conversations, packets, cut, outOfOrder, observer, roce } = analysis
  const { flows } = conversations
  const notes: Array<string> = []
  if (roce === 0 && analysis.iwarp.flows.length === 0)
    notes.push("no packet of RoCE, InfiniBand or iWARP in the capture")
  if (cut > 0) {
    notes.push(
      `${counted(cut, "packet")} of ${packets} cut short by the capture: their ICRCs and payloads cannot be checked`,
    )
  }
  // The note on cut packets says it better.
  notes.push(...analysis.end().notes.filter((note) => !note.includes("the capture cut")))
  const twice = flows.filter(isTwice)
  if (twice.length > 0) {
    const where = twice.some(({ requests }) => requests.copiesElsewhere > 0)
      ? "hop limits differ: two points of one path were merged"
      : "two capture points were merged, or a mirror port sends both directions of a link"
    notes.push(
      `nearly every packet of ${counted(twice.length, "direction")} is there twice: ${where}; copies count as packets and marks, not as data or findings; where the capture has an interface for each point, the filter interface=NAME takes one`,
    )
  }
  const alone = flows.filter(({ reverse }) => reverse === undefined)
  const isLonely = (flow: Flow): boolean => isReliable(flow) && !conversations.talks(flow.destination, flow.source)
  const lonely = alone.filter(isLonely)
  if (lonely.length > 0) {
    const { addresses } = observer
    const [first] = lonely
    const example = `${addresses.text(first!.source)} to ${addresses.text(first!.destination)}`
    notes.push(
      `${counted(lonely.length, "queue pair")} in one direction only (${example}): round trips, acknowledgements and the reasons of repeats cannot be known`,
    )
  }
  const unmatched = alone.filter((flow) => flow.answers.acks > 0 && !isLonely(flow))
  if (unmatched.length > 0) {
    notes.push(
      `answers of ${counted(unmatched.length, "queue pair")} match no requests: the other direction is not in the capture, or not told apart`,
    )
  }
  const unseen = flows.reduce((sum, { requests }) => sum + requests.gaps.unseen, 0)
  if (unseen > UNSEEN_SHARE * roce && unseen > 0) {
    notes.push(
      `${counted(unseen, "packet")} not in the capture though their receivers have them: the capture dropped them, not the network`,
    )
  }
  if (outOfOrder > 0)
    notes.push(`${counted(outOfOrder, "packet")} earlier than the one before: the capture is not in the order of time`)
  const farewells = flows.filter(isFarewell).length
  if (farewells > 0) {
    notes.push(
      `${counted(farewells, "queue pair")} sent the last message once more after its acknowledgement: usual when a program ends, and harmless`,
    )
  }
  if (conversations.overflow > 0)
    notes.push(`${conversations.overflow} packets of further queue pairs are counted only`)
  if (conversations.unreadable.count > 0) {
    notes.push(`${counted(conversations.unreadable.count, "transport")} with an unknown opcode, or cut off before it`)
  }
  return notes
}

const isReliable = ({ service, requests }: Flow): boolean =>
  requests.packets > 0 && (service === "Rc" || service === "Xrc" || service === "Rd")
