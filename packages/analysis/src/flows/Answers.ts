import { psnDistance, psnPlus } from "@rdmakit/wire/infiniband"
import type { Operation } from "../Operations.ts"
import type { Sighting } from "../Sighting.ts"
import { Tally } from "../Tally.ts"
import { History } from "./History.ts"
import type { Refusal, Requests } from "./Requests.ts"

/** A request that was refused for good. */
export interface FatalNak {
  /** 1 invalid request, 2 remote access error, 3 remote operational error, 4 invalid RD request. */
  readonly code: number
  readonly psn: number
  readonly frame: number
}

const FATAL_KEPT = 16
/** Two answers that identification does not tell apart are one when they are this close. */
const COPY_NS = 500_000

/** What one queue pair answers: acknowledgements, NAKs, responses to READs and atomics. */
export class Answers {
  acks = 0
  /** PSN sequence errors: the receiver saw a gap. */
  readonly sequenceNaks = new Tally()
  readonly rnrNaks = new Tally()
  lastRnrPsn = -1
  /** The codes of the times that receivers asked to wait. */
  readonly rnrTimers: Array<number> = []
  readonly fatal: Array<FatalNak> = []
  readonly fatalNaks = new Tally()
  readPackets = 0
  /** Octets of responses to READs; of a response that is there twice, one counts. */
  readBytes = 0
  /** The same response to a READ twice. */
  readonly copies = new Tally()
  /** Responses to READs that were skipped. */
  readonly missing = new Tally()
  missingPackets = 0
  /** From an RNR NAK to the request again. */
  waitedNs = 0
  readonly #reads = new History()
  #readNext = -1
  #ipId = -1
  #psn = -1
  #syndrome = -1
  #timeNs = Number.NaN

  /** Takes an answer; `requests` are those of the other direction, once it is known. Says whether its data is a copy. */
  take(sighting: Sighting, operation: Operation, requests: Requests | undefined): "copy" | undefined {
    const { psn, frame, timeNs, syndrome, ipId } = sighting
    if (requests !== undefined) requests.hasAnswers = true
    if (operation.opcode.operation.startsWith("ReadResponse")) {
      this.readPackets++
      if (this.#isReadCopy(sighting, requests)) {
        this.copies.add(frame)
        return "copy"
      }
      this.#read(sighting, operation, requests)
      return undefined
    }
    if (operation.opcode.operation === "AtomicAcknowledge") this.#atomic(sighting, requests)
    if (syndrome < 0) return undefined
    const kind = syndrome >> 5
    if (kind === 0) {
      this.acks++
      requests?.acknowledge(psn, timeNs)
    } else if (kind === 1) {
      if (this.#isCopy(sighting, requests, requests?.rnr)) return undefined
      this.rnrNaks.add(frame)
      this.lastRnrPsn = psn
      if (!this.rnrTimers.includes(syndrome & 31)) this.rnrTimers.push(syndrome & 31)
      if (requests !== undefined) {
        acknowledgeBefore(requests, psn, timeNs)
        requests.rnr = { psn, frame, timeNs, answered: false }
      }
    } else if (kind === 3) this.#nak(sighting, requests)
    this.#psn = psn
    this.#syndrome = syndrome
    this.#ipId = ipId
    this.#timeNs = timeNs
    return undefined
  }

  /**
   * The same packet again: identifications tell, and where there are none, time, as long as the request was not sent
   * again in between.
   */
  #isCopy({ psn, syndrome, ipId, timeNs }: Sighting, requests: Requests | undefined, last?: Refusal): boolean {
    const isSame = psn === this.#psn && syndrome === this.#syndrome && ipId === this.#ipId
    const isPending = requests === undefined || last?.answered === false
    return isSame && (ipId > 0 || (isPending && timeNs - this.#timeNs < COPY_NS))
  }

  #isReadCopy(sighting: Sighting, requests: Requests | undefined): boolean {
    const at = this.#reads.find(sighting.psn)
    if (at < 0 || !this.#reads.isSame(at, sighting)) return false
    if (sighting.ipId > 0 || this.#reads.hopLimit(at) !== sighting.hopLimit) return true
    const beforeNs = this.#reads.timeNs(at)
    return sighting.timeNs - beforeNs < COPY_NS && requests?.wentBackSince(beforeNs) !== true
  }

  #nak(sighting: Sighting, requests: Requests | undefined): void {
    const { psn, frame, timeNs, syndrome } = sighting
    if (this.#isCopy(sighting, requests, requests?.nak)) return
    const code = syndrome & 31
    if (code === 0) {
      this.sequenceNaks.add(frame)
      if (requests === undefined) return
      acknowledgeBefore(requests, psn, timeNs)
      requests.nak = { psn, frame, timeNs, answered: false }
      return
    }
    this.fatalNaks.add(frame)
    if (this.fatal.length < FATAL_KEPT) this.fatal.push({ code, psn, frame })
    if (requests !== undefined) acknowledgeBefore(requests, psn, timeNs)
  }

  #read(sighting: Sighting, operation: Operation, requests: Requests | undefined): void {
    const { psn, frame, timeNs, payloadBytes } = sighting
    this.#reads.keep(sighting)
    this.readBytes += payloadBytes
    if (this.#readNext >= 0 && !operation.isFirst) {
      const distance = psnDistance(psn, this.#readNext)
      if (distance > 0 && distance < 1 << 16) {
        this.missing.add(frame)
        this.missingPackets += distance
        if (requests !== undefined) requests.responseGap = { psn: this.#readNext, frame, timeNs, answered: false }
      }
    }
    this.#readNext = psnPlus(psn, 1)
    if (requests === undefined) return
    requests.responded(psn)
    if (!operation.isLast && payloadBytes > requests.messages.mtu) requests.messages.mtu = payloadBytes
    const message = requests.messages.asked(psn)
    if (operation.isFirst && message?.firstPsn === psn && !message.repeated) {
      requests.answers.add(Math.max(0, timeNs - message.firstNs))
    }
    if (!operation.isLast) return
    // Where the MTU was not known, the last response says how many PSNs the READ took.
    if (message !== undefined && psnDistance(psn, message.lastPsn) > 0) message.lastPsn = psn
    acknowledgeBefore(requests, psn, timeNs)
    requests.acknowledge(psn, timeNs)
  }

  #atomic({ psn, timeNs }: Sighting, requests: Requests | undefined): void {
    const message = requests?.messages.asked(psn)
    if (message !== undefined && !message.repeated) requests!.answers.add(Math.max(0, timeNs - message.firstNs))
  }
}

/** A NAK acknowledges everything before its PSN (IBTA 1.7 §9.7.5.1.2). */
const acknowledgeBefore = (requests: Requests, psn: number, timeNs: number): void => {
  const before = psnPlus(psn, -1)
  if (requests.hasSent(before)) requests.acknowledge(before, timeNs)
}
