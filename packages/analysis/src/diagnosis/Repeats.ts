import { psnDistance } from "@rdmakit/wire/infiniband"
import type { Flow } from "../flows/Flow.ts"
import type { Repeat, Stuck } from "../flows/Requests.ts"
import {
  ackTimeoutOf,
  type Cause,
  counted,
  duration,
  type Finding,
  likely,
  median,
  possible,
  unlikely,
} from "./Finding.ts"
import type { About } from "./QueuePairs.ts"

/** Repeats of one PSN without an answer that are a queue pair's end: fewer may still succeed. */
const STUCK_MIN = 3

/** Why a queue pair sent again without being asked to: one that gave up, timeouts, acknowledgements that came late. */
export const repeatFindings = (flow: Flow, about: About): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  const { requests } = flow
  const { stuck, causes } = requests
  const isStuck = stuck !== undefined && stuck.stepsNs.length >= STUCK_MIN && isLast(flow, stuck)
  if (isStuck) findings.push(about.isOneSided ? blindFinding(stuck, about) : stuckFinding(flow, stuck, about))
  const timeouts = requests.repeats.filter(({ cause }) => cause === "timeout")
  const left = causes.timeout.count - (isStuck && requests.hasAnswers ? stuck.stepsNs.length : 0)
  if (left > 0) findings.push(timeoutFinding(flow, timeouts, left, about))
  if (causes.late.count > 0 && !isFarewell(flow)) {
    const steps = requests.repeats.filter(({ cause }) => cause === "late").map(({ sinceNs }) => sinceNs)
    findings.push({
      kind: "lateAck",
      severity: "warning",
      text: `sent again ${counted(causes.late.count, "time")} although the acknowledgement had passed here${stepText(steps)}`,
      subject: about.subject,
      causes: [
        likely("the acknowledgement was lost, or came late, between here and the requester"),
        possible(`the local ACK timeout is shorter than the round trip${timeoutText(steps)}: raise it`),
        unlikely("the requester's host is overloaded and reads acknowledgements late"),
      ],
      frames: causes.late.frames,
      count: causes.late.count,
    })
  }
  if (causes.unknown.count > 0 && !isStuck) {
    findings.push({
      kind: "repeats",
      severity: "warning",
      text: `sent again ${counted(causes.unknown.count, "time")}${requests.repeated.count > causes.unknown.count ? `, ${counted(requests.repeated.count, "packet")} in all` : ""}; why cannot be known: no answer to it is in the capture`,
      subject: about.subject,
      causes: [
        likely("packets or their acknowledgements were lost"),
        possible("the receiver was not ready, or refused"),
        requests.countsUp
          ? unlikely("the network delivered packets twice")
          : possible("the network delivered packets twice: IP identifications do not count up here, and cannot tell"),
      ],
      frames: causes.unknown.frames,
      count: causes.unknown.count,
    })
  }
  return findings
}

/** A repeat of the last message after its acknowledgement: programs that end do not wait, and nothing was lost by it. */
export const isFarewell = ({ requests }: Flow): boolean => {
  const { causes, repeats, stuck } = requests
  if (causes.late.count !== 1 || stuck !== undefined) return false
  const last = repeats.findLast(({ cause }) => cause === "late")
  return (
    last !== undefined && last.frame + last.packets > requests.lastFrame && requests.messages.outstanding.length === 0
  )
}

/** Whether nothing new came after the repeats. */
const isLast = ({ requests }: Flow, stuck: Stuck): boolean =>
  stuck.frames.length > STUCK_MIN && (requests.acknowledged < 0 || psnDistance(stuck.psn, requests.acknowledged) > 0)

const stepText = (stepsNs: ReadonlyArray<number>): string => {
  const step = median(stepsNs)
  return Number.isNaN(step) ? "" : `, after ${duration(step)}`
}

/** A NIC may wait longer each time: 2 ms, 4 ms, 8 ms… */
const isGrowing = (stepsNs: ReadonlyArray<number>): boolean => {
  const steps = stepsNs.filter((step) => !Number.isNaN(step))
  return steps.length >= 3 && steps.every((step, index) => index === 0 || step > 1.5 * steps[index - 1]!)
}

const timeoutText = (stepsNs: ReadonlyArray<number>): string => {
  const step = median(stepsNs)
  return Number.isNaN(step) || step < 4096 ? "" : ` (it looks like ${ackTimeoutOf(step)})`
}

const stuckFinding = (flow: Flow, stuck: Stuck, about: About): Finding => {
  const { requests } = flow
  const { destination, connection } = about
  const grows = isGrowing(stuck.stepsNs)
  const step = grows ? stuck.stepsNs.at(-1)! : median(stuck.stepsNs)
  const times = stuck.stepsNs.length + 1
  const steps = grows
    ? `steps that grow from ${duration(stuck.stepsNs.find((each) => !Number.isNaN(each))!)} to ${duration(step)}`
    : `${Number.isNaN(step) ? "unknown" : duration(step)} steps`
  const local = connection?.client === flow.source ? connection?.request.primary.ackTimeout : undefined
  const timeout = local ?? ackTimeoutOf(step)
  const retries = connection === undefined ? "" : `, ${connection.request.retries} retries allowed`
  const silent = requests.hasAnswers ? `no answer from ${destination} to it` : `no answer from ${destination}`
  const causes: Array<Cause> = []
  if (flow.hopLimit === 1) causes.push(likely("the hop limit is 1: routers drop every packet"))
  if (requests.hasAnswers) {
    causes.push(
      likely(
        `${destination} answered before and does no longer: its process or host is gone, or its queue pair in error`,
      ),
      possible("the path broke: a link went down, a route or an ACL changed"),
      possible("every answer is lost on the way back: look at the other end"),
    )
  } else {
    causes.push(
      likely(
        `${destination} never answered: it is gone, its queue pair is not ready to receive, or an ACL drops UDP port 4791`,
      ),
      possible("the GID, the VLAN or the MAC address is wrong: packets arrive nowhere"),
      possible("answers are dropped on the way back"),
    )
  }
  causes.push(unlikely("packets are longer than the MTU of the path: compare small messages"))
  return {
    kind: "retryExceeded",
    severity: "error",
    text: `retry exceeded: ${times} identical PSN ${stuck.psn} at ${steps}, ${silent}; local ACK timeout ${timeout}${retries}`,
    subject: about.subject,
    causes,
    frames: stuck.frames,
    count: times,
  }
}

/** Nothing of the other direction is in the capture: timeouts cannot be told from a receiver that was not ready. */
const blindFinding = (stuck: Stuck, { subject, source, destination }: About): Finding => {
  const step = median(stuck.stepsNs)
  const times = stuck.stepsNs.length + 1
  return {
    kind: "repeats",
    severity: "warning",
    text: `${times} identical PSN ${stuck.psn}${Number.isNaN(step) ? "" : ` at ${duration(step)} steps`}; why cannot be known: nothing from ${destination} to ${source} is in the capture`,
    subject,
    causes: [
      likely(`${destination} does not answer: it is gone, or behind an ACL`),
      likely("the receiver is not ready, and says so on another path than this capture"),
      possible("its answers are lost"),
    ],
    frames: stuck.frames,
    count: times,
  }
}

const timeoutFinding = (flow: Flow, repeats: ReadonlyArray<Repeat>, count: number, about: About): Finding => {
  const steps = repeats.map(({ sinceNs }) => sinceNs)
  const seen = repeats.filter(({ wasSeen }) => wasSeen).length
  const causes: Array<Cause> = []
  if (seen > repeats.length / 2) {
    causes.push(
      likely("the acknowledgements, or the packets behind this point of the network, were lost"),
      possible(`the receiver acknowledges later than the local ACK timeout${timeoutText(steps)}`),
    )
  } else causes.push(likely("the last packets of a message were lost before this point: no later packet shows the gap"))
  if (flow.requests.late.count > 0)
    causes.push(possible("a second NAK for the same gap was never sent: receivers send one"))
  causes.push(unlikely("the receiver's host is overloaded"))
  return {
    kind: "timeout",
    severity: "warning",
    text: `${counted(count, "timeout")}: sent again without an answer${stepText(steps)}${timeoutText(steps).replace(" (it looks like ", "; local ACK timeout ").replace(")", "")}`,
    subject: about.subject,
    causes,
    frames: flow.requests.causes.timeout.frames,
    count,
  }
}
