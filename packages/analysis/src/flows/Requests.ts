import { packetsOf, psnDistance, psnPlus } from "@rdmakit/wire/infiniband"
import { Histogram } from "../Histogram.ts"
import type { Operation } from "../Operations.ts"
import type { Sighting } from "../Sighting.ts"
import { Tally } from "../Tally.ts"
import { Gaps } from "./Gaps.ts"
import { History } from "./History.ts"
import { Messages } from "./Messages.ts"

/**
 * Why packets were sent again. `nak` and `rnr`: the receiver asked for it; `response`: responses to a READ were missing;
 * `timeout`: nothing was heard; `late`: the acknowledgement had passed here already; `unknown`: the other direction is
 * not in the capture.
 */
export type RepeatCause = "nak" | "rnr" | "response" | "timeout" | "late" | "unknown"

type Causes = Readonly<Record<RepeatCause, Tally>>

const noCauses = (): Causes => ({
  nak: new Tally(),
  rnr: new Tally(),
  response: new Tally(),
  timeout: new Tally(),
  late: new Tally(),
  unknown: new Tally(),
})

const NO_CAUSES = /* @__PURE__ */ noCauses()

/** One time that a requester went back and sent again. */
export interface Repeat {
  readonly cause: RepeatCause
  /** Where it went back to. */
  readonly psn: number
  readonly frame: number
  /** Since that packet was sent before; NaN when nobody saw it. */
  readonly sinceNs: number
  /** Whether the first one passed here: what was lost was lost later on its way, or its answer was. */
  readonly wasSeen: boolean
  packets: number
}

/** A NAK, or what makes a requester wait. */
export interface Refusal {
  readonly psn: number
  readonly frame: number
  readonly timeNs: number
  /** A repeat that answers it was seen. */
  answered: boolean
}

/** A queue pair that goes back to one PSN again and again. */
export interface Stuck {
  readonly psn: number
  readonly frames: Array<number>
  readonly stepsNs: Array<number>
}

const REPEATS_KEPT = 64
/** A jump so far is no loss: the queue pair was set up anew. */
const JUMP = 1 << 16
/** Copies of one packet are this close where the identification does not tell. */
const COPY_NS = 500_000
/** Steps of a queue pair that goes back to the same PSN. */
const STEPS_KEPT = 64
/** PSNs that may follow a READ of unknown MTU: the smallest path MTU decides. */
const MTU_MIN = 256

/** On an unreliable connection nothing is sent again. */
const isReliable = ({ opcode }: Operation): boolean => opcode.service !== "Uc"

/** The requests of one queue pair: their order, what is missing, what is sent again and why. */
export class Requests {
  readonly history = new History()
  readonly gaps = new Gaps()
  /** The PSN after the last one that was new. */
  expected = 0
  started = false
  packets = 0
  /** Times the PSN went from 0xffffff to 0. */
  readonly wraps = new Tally()
  /** Packets that were not there when later ones came. */
  readonly missing = new Tally()
  missingPackets = 0
  /** Packets that came after later ones, as they were sent. */
  readonly late = new Tally()
  /** Those that even a repeat had overtaken: what seemed lost was only slow. */
  lateAfterRepeat = 0
  /** The same packet twice. */
  readonly copies = new Tally()
  /** Copies with another hop limit: taken at another place. */
  copiesElsewhere = 0
  /** Packets sent again. */
  readonly repeated = new Tally()
  readonly repeats: Array<Repeat> = []
  /** Of the packets sent again, those that had passed here before. */
  repeatedSeen = 0
  readonly messages = new Messages()
  /** From a READ or an atomic to its first answer. */
  readonly answers = new Histogram()
  /** The last PSN that was acknowledged; -1 before any. */
  acknowledged = -1
  lastAckNs = Number.NaN
  /** Whether answers to this queue pair are in the capture. */
  hasAnswers = false
  nak: Refusal | undefined
  rnr: Refusal | undefined
  /** Responses to a READ that were skipped: the requester asks for them again. */
  responseGap: Refusal | undefined
  stuck: Stuck | undefined
  lastFrame = 0
  /** Packets late until now, that the last one showed to have been sent again. */
  turned = 0
  #causes: Causes | undefined
  #slack = 0
  #repeat: Repeat | undefined
  #repeatNext = 0
  /** When a packet was sent again last. */
  #repeatNs = Number.NEGATIVE_INFINITY
  /** Gaps that have just been filled, one after the other: by packets that are late, or by a requester that went back. */
  #filled: { readonly psn: number; readonly timeNs: number; readonly frames: Array<number> } | undefined
  /** Times that new packets followed before all of those behind a repeat had come again. */
  #leaps = 0
  #ipId = -1
  #ipIdRises = 0
  #ipIdSteps = 0

  /** How often packets were sent again, by the cause. */
  get causes(): Causes {
    return this.#causes ?? NO_CAUSES
  }

  /** Takes a request. Answers whether it moved the queue pair on, or only repeats. */
  take(sighting: Sighting, operation: Operation): "new" | "late" | "copy" | "repeat" {
    const { psn } = sighting
    this.packets++
    this.lastFrame = sighting.frame
    this.turned = 0
    if (!this.started) {
      this.started = true
      this.expected = psn
    }
    let distance = psnDistance(psn, this.expected)
    // How many PSNs a READ took is not known without the MTU.
    if (distance > 0 && distance <= this.#slack) distance = 0
    if (Math.abs(distance) > JUMP) {
      this.restart(psn)
      distance = 0
    }
    if (distance >= 0) {
      this.#forward(sighting, operation, distance)
      return "new"
    }
    return this.#back(sighting, operation)
  }

  /** The queue pair begins anew with this PSN. */
  restart(psn: number): void {
    this.expected = psn
    this.messages.clear()
    this.acknowledged = -1
    this.stuck = undefined
    this.nak = undefined
    this.rnr = undefined
    this.responseGap = undefined
    this.#repeat = undefined
    this.#filled = undefined
  }

  #forward(sighting: Sighting, operation: Operation, distance: number): void {
    const { psn, frame, timeNs, ipId } = sighting
    if (distance > 0) {
      this.missing.add(frame)
      this.missingPackets += distance
      this.gaps.add(this.expected, distance, frame, timeNs)
      this.messages.disturb(this.expected)
    }
    if (this.#ipId >= 0 && ipId >= 0) {
      this.#ipIdSteps++
      if (((ipId - this.#ipId) << 16) >> 16 > 0) this.#ipIdRises++
    }
    this.#ipId = ipId
    if (this.#repeat !== undefined && this.#repeatNext !== this.expected) this.#leaps++
    this.#repeat = undefined
    this.#filled = undefined
    this.#slack = 0
    const packets = this.#packetsOf(sighting, operation)
    const next = psnPlus(psn, packets)
    if (next < psn) this.wraps.add(frame)
    this.expected = next
    this.history.keep(sighting)
    this.messages.take(sighting, operation, packets)
  }

  /** The receiver has everything up to `psn`. */
  acknowledge(psn: number, timeNs: number): void {
    this.hasAnswers = true
    this.lastAckNs = timeNs
    if (this.acknowledged < 0 || psnDistance(psn, this.acknowledged) > 0) this.acknowledged = psn
    if (this.stuck !== undefined && psnDistance(psn, this.stuck.psn) >= 0) this.stuck = undefined
    this.gaps.acknowledged(psn)
    this.messages.acknowledge(psn, timeNs)
  }

  /** A response has this PSN: it tells how many a READ of unknown MTU takes. */
  responded(psn: number): void {
    const ahead = psnDistance(psn, this.expected)
    if (ahead < 0 || ahead >= this.#slack) return
    const next = psnPlus(psn, 1)
    if (next < this.expected) this.wraps.add(this.lastFrame)
    this.expected = next
    this.#slack -= ahead + 1
  }

  /** Whether a packet with this PSN was sent lately: an answer to it may be meant for this queue pair. */
  hasSent(psn: number): boolean {
    if (!this.started) return false
    const behind = psnDistance(this.expected, psn)
    // A READ of unknown MTU may have taken more PSNs than one.
    return behind > -this.#slack && behind <= this.packets + 1 && (this.history.find(psn) >= 0 || behind < 4096)
  }

  /** Whether something was sent again after this time. */
  wentBackSince(timeNs: number): boolean {
    return this.#repeatNs > timeNs
  }

  #packetsOf(sighting: Sighting, operation: Operation): number {
    if (operation.kind !== "read" || sighting.dmaBytes < 0) return 1
    if (this.messages.mtu > 0) return packetsOf(sighting.dmaBytes, this.messages.mtu)
    const most = packetsOf(sighting.dmaBytes, MTU_MIN)
    this.#slack = most - 1
    return 1
  }

  #back(sighting: Sighting, operation: Operation): "late" | "copy" | "repeat" {
    const { psn, frame, timeNs } = sighting
    const at = this.history.find(psn)
    const gapNs = at < 0 ? this.gaps.fill(psn) : undefined
    if (at >= 0) this.#goneBack(at, sighting, operation)
    if (at >= 0 && this.#isCopy(at, sighting, operation)) {
      this.copies.add(frame)
      if (this.history.hopLimit(at) !== sighting.hopLimit) this.copiesElsewhere++
      return "copy"
    }
    if (this.#isLate(at, gapNs, sighting)) {
      this.late.add(frame)
      if (at >= 0) this.lateAfterRepeat++
      // An acknowledgement may have overtaken it too: the capture missed nothing.
      if (at < 0 && gapNs === undefined && this.gaps.unseen > 0) this.gaps.unseen--
      if (at < 0) {
        this.messages.take(sighting, operation, 1)
        this.history.keep(sighting)
        this.#fill(sighting)
      }
      return "late"
    }
    this.repeated.add(frame)
    if (at >= 0) this.repeatedSeen++
    this.#again(sighting, operation, at >= 0 ? timeNs - this.history.timeNs(at) : Number.NaN, at >= 0)
    this.messages.disturb(psn)
    if (at < 0) this.messages.take(sighting, operation, 1)
    else if (operation.isLast) this.messages.retime(psn, timeNs)
    this.history.keep(sighting)
    return "repeat"
  }

  /** Whether identifications count up, so that they tell a packet from one that was sent again. */
  get countsUp(): boolean {
    return this.#ipIdSteps >= 2 && this.#ipIdRises >= 0.8 * this.#ipIdSteps
  }

  #fill({ psn, timeNs, frame }: Sighting): void {
    const filled = this.#filled
    if (filled !== undefined && psn === psnPlus(filled.psn, filled.frames.length)) filled.frames.push(frame)
    else this.#filled = { psn, timeNs, frames: [frame] }
  }

  /**
   * What is behind a gap comes again at once after the packets that filled it: none of them was late, their requester has
   * gone back to the first.
   */
  #goneBack(at: number, sighting: Sighting, operation: Operation): void {
    const filled = this.#filled
    this.#filled = undefined
    if (filled === undefined || this.countsUp || !isReliable(operation)) return
    const { psn, timeNs, frames } = filled
    if (sighting.psn !== psnPlus(psn, frames.length) || !this.history.isSame(at, sighting)) return
    this.late.takeBack(frames.length)
    this.turned = frames.length
    for (const [index, frame] of frames.entries()) {
      this.repeated.add(frame)
      this.#again({ psn: psnPlus(psn, index), frame, timeNs }, operation, Number.NaN, false)
    }
    this.messages.disturb(psn)
  }

  #isCopy(at: number, sighting: Sighting, operation: Operation): boolean {
    if (!this.history.isSame(at, sighting)) return false
    if (this.countsUp) return true
    // A router was in between: the same packet at another place, or if that is rare, sent again along another path.
    const isElsewhere = this.history.hopLimit(at) !== sighting.hopLimit
    const hasGoneBack = this.wentBackSince(sighting.timeNs - COPY_NS)
    if (isElsewhere && (!hasGoneBack || this.copiesElsewhere > 0.2 * this.packets)) return true
    // It may be the next packet of those that are sent again.
    if (this.#repeat !== undefined && psnDistance(sighting.psn, this.#repeatNext) >= 0) return false
    const wasAsked = (this.nak !== undefined && !this.nak.answered) || (this.rnr !== undefined && !this.rnr.answered)
    if (wasAsked) return false
    const sinceNs = sighting.timeNs - this.history.timeNs(at)
    if (!this.hasAnswers && isReliable(operation) && psnDistance(sighting.psn, this.expected) < -1) {
      // Nothing tells a requester that goes back from a network that delivers twice, but that so many come among new ones.
      const again = this.copies.count + this.repeatedSeen
      return this.#leaps > 8 && again > 0.4 * this.packets && sinceNs < 20 * COPY_NS
    }
    const isUsual = this.copies.count > 8 && this.copies.count > 0.4 * this.packets
    if (isUsual) return sinceNs < 20 * COPY_NS
    // A requester that has just gone back may do so again before what it sent is through.
    return sinceNs < COPY_NS && !hasGoneBack
  }

  #isLate(at: number, gapNs: number | undefined, sighting: Sighting): boolean {
    const { ipId, psn, timeNs } = sighting
    if (this.countsUp && this.#ipId >= 0 && ipId >= 0) {
      // What is older than a packet that was here before was only overtaken.
      const than = at >= 0 ? this.history.ipId(at) : this.#ipId
      return ((ipId - than) << 16) >> 16 < 0
    }
    if (gapNs === undefined) return false
    const wasAsked = this.nak !== undefined && !this.nak.answered && this.nak.psn === psn
    return !wasAsked && this.#repeat === undefined && timeNs - gapNs < COPY_NS
  }

  /** Goes back: another repeat, or the next packet of one. */
  #again(
    packet: Pick<Sighting, "psn" | "frame" | "timeNs">,
    { kind }: Operation,
    sinceNs: number,
    wasSeen: boolean,
  ): void {
    const { psn, frame, timeNs } = packet
    const running = this.#repeat
    if (running !== undefined) {
      const ahead = psnDistance(psn, this.#repeatNext)
      const pauseNs = timeNs - this.#repeatNs
      const isAsked = this.nak !== undefined && !this.nak.answered && this.nak.psn === psn
      // The packets after the first follow in order, some of them missing.
      if (ahead >= 0 && !isAsked && (Number.isNaN(sinceNs) || pauseNs < sinceNs / 2 || running.cause === "nak")) {
        running.packets++
        if (ahead > 0) {
          this.missing.add(frame)
          this.missingPackets += ahead
        }
        this.#repeatNext = psnPlus(psn, 1)
        this.#repeatNs = timeNs
        return
      }
    }
    const cause = this.#causeOf(psn, kind)
    this.#causes ??= noCauses()
    this.#causes[cause].add(frame)
    const repeat: Repeat = { cause, psn, frame, sinceNs, wasSeen, packets: 1 }
    if (this.repeats.length < REPEATS_KEPT) this.repeats.push(repeat)
    this.#repeat = repeat
    this.#repeatNext = psnPlus(psn, 1)
    this.#repeatNs = timeNs
    if (cause === "timeout" || cause === "unknown") this.#stall(psn, frame, sinceNs)
    else this.stuck = undefined
  }

  #causeOf(psn: number, kind: Operation["kind"]): RepeatCause {
    const { nak, rnr, responseGap } = this
    if (kind === "read" && responseGap !== undefined && !responseGap.answered) {
      responseGap.answered = true
      return "response"
    }
    if (nak !== undefined && !nak.answered && Math.abs(psnDistance(psn, nak.psn)) <= 1) {
      nak.answered = true
      return "nak"
    }
    if (rnr !== undefined && !rnr.answered && rnr.psn === psn) {
      rnr.answered = true
      return "rnr"
    }
    if (!this.hasAnswers) return "unknown"
    return this.acknowledged >= 0 && psnDistance(this.acknowledged, psn) >= 0 ? "late" : "timeout"
  }

  #stall(psn: number, frame: number, sinceNs: number): void {
    if (this.stuck?.psn !== psn) {
      const at = this.history.find(psn)
      this.stuck = { psn, frames: at < 0 ? [] : [this.history.frame(at)], stepsNs: [] }
    }
    const { frames, stepsNs } = this.stuck
    if (frames.length < STEPS_KEPT) frames.push(frame)
    if (stepsNs.length < STEPS_KEPT) stepsNs.push(sinceNs)
  }
}
