import { psnDistance, psnPlus } from "@rdmakit/wire/infiniband"
import { Histogram } from "../Histogram.ts"
import type { Operation } from "../Operations.ts"
import type { Sighting } from "../Sighting.ts"

/** A message that was sent whole, of which not all is acknowledged. */
export interface Message {
  readonly kind: Operation["kind"]
  readonly firstPsn: number
  lastPsn: number
  readonly bytes: number
  /** The frame of its first packet that was seen. */
  readonly frame: number
  readonly firstNs: number
  lastNs: number
  /** Part of it was missing, or was sent again: its times say nothing. */
  repeated: boolean
}

/** The beginning of a message. */
interface Start {
  readonly psn: number
  readonly frame: number
  readonly timeNs: number
  /** Octets that RETH announces; -1 without one. */
  readonly dmaBytes: number
  /** The last PSN, once it was seen. */
  lastPsn: number
}

const STARTS_KEPT = 64
const OUTSTANDING_MAX = 16_384

/** The messages that the requests of a queue pair make up, though some of their packets come late, again, or never. */
export class Messages {
  /** Octets of complete messages. */
  readonly sizes = new Histogram()
  /** From the last packet of a message to its acknowledgement, without repeats. */
  readonly latencies = new Histogram()
  count = 0
  bytes = 0
  /** Octets of the largest packet that was not the last of its message: the path MTU. */
  mtu = 0
  outstanding: Array<Message> = []
  readonly #starts: Array<Start> = []
  /** The newest PSN that was missing or came again. */
  #trouble = -1

  /** Nothing of what was sent before counts any more. */
  clear(): void {
    this.outstanding = []
    this.#starts.length = 0
    this.#trouble = -1
  }

  /** From this PSN on something was missing, or came again. */
  disturb(psn: number): void {
    this.#trouble = psn
    for (const message of this.outstanding) {
      if (psnDistance(psn, message.firstPsn) >= 0 && psnDistance(psn, message.lastPsn) <= 0) message.repeated = true
    }
  }

  /**
   * Takes a request that was not there before.
   *
   * @param packets PSNs that it takes: more than one of a READ
   */
  take(sighting: Sighting, operation: Operation, packets: number): void {
    const { psn, timeNs, frame, payloadBytes, dmaBytes } = sighting
    const { kind, isFirst, isLast } = operation
    if (!isLast && payloadBytes > this.mtu) this.mtu = payloadBytes
    const lastPsn = psnPlus(psn, packets - 1)
    if (isFirst && isLast) {
      const bytes = kind === "read" ? Math.max(0, dmaBytes) : kind === "atomic" ? 8 : payloadBytes
      this.#begin({ psn, frame, timeNs, dmaBytes, lastPsn })
      this.#complete({ kind, firstPsn: psn, lastPsn, bytes, frame, firstNs: timeNs, lastNs: timeNs, repeated: false })
    } else if (isFirst) this.#begin({ psn, frame, timeNs, dmaBytes, lastPsn: -1 })
    else if (isLast) this.#end(sighting, kind)
  }

  #begin(start: Start): void {
    const starts = this.#starts
    const last = starts.at(-1)
    // Where nothing is missing in between, the message before need not be remembered.
    if (last !== undefined && last.lastPsn >= 0 && psnPlus(last.lastPsn, 1) === start.psn) starts.pop()
    else if (starts.length >= 2 * STARTS_KEPT) starts.splice(0, STARTS_KEPT)
    starts.push(start)
  }

  #end({ psn, frame, timeNs, payloadBytes }: Sighting, kind: Operation["kind"]): void {
    const start = this.#startBefore(psn)
    // Where the beginning is missing the message before ended, and so PSNs tell how long this one is.
    const isOwn = start !== undefined && start.lastPsn < 0
    if (start === undefined) return
    const firstPsn = isOwn ? start.psn : psnPlus(start.lastPsn, 1)
    const bytes = isOwn && start.dmaBytes >= 0 ? start.dmaBytes : psnDistance(psn, firstPsn) * this.mtu + payloadBytes
    const isWhole = isOwn && !this.#isDisturbed(firstPsn, psn)
    if (isOwn) start.lastPsn = psn
    else this.#begin({ psn: firstPsn, frame, timeNs, dmaBytes: -1, lastPsn: psn })
    const from = isOwn ? start : { frame, timeNs }
    this.#complete({
      kind,
      firstPsn,
      lastPsn: psn,
      bytes,
      frame: from.frame,
      firstNs: from.timeNs,
      lastNs: timeNs,
      repeated: !isWhole,
    })
  }

  #isDisturbed(firstPsn: number, lastPsn: number): boolean {
    const trouble = this.#trouble
    return trouble >= 0 && psnDistance(trouble, firstPsn) >= 0 && psnDistance(trouble, lastPsn) <= 0
  }

  #startBefore(psn: number): Start | undefined {
    let nearest: Start | undefined
    for (const start of this.#starts) {
      if (psnDistance(psn, start.psn) < 0) continue
      if (nearest === undefined || psnDistance(start.psn, nearest.psn) > 0) nearest = start
    }
    return nearest
  }

  #complete(message: Message): void {
    this.count++
    this.bytes += message.bytes
    this.sizes.add(message.bytes)
    const { outstanding } = this
    // Many at once: taking them one by one would move all the others each time.
    if (outstanding.length === OUTSTANDING_MAX) outstanding.splice(0, OUTSTANDING_MAX / 2)
    // One whose end came late belongs before those behind it.
    let at = outstanding.length
    while (at > 0 && psnDistance(message.lastPsn, outstanding[at - 1]!.lastPsn) < 0) at--
    if (at === outstanding.length) outstanding.push(message)
    else outstanding.splice(at, 0, message)
  }

  /** An acknowledgement answers the last time that the last packet of a message was sent. */
  retime(psn: number, timeNs: number): void {
    const message = this.outstanding.find(({ lastPsn }) => lastPsn === psn)
    if (message !== undefined) message.lastNs = timeNs
  }

  /** Everything up to `psn` has arrived. */
  acknowledge(psn: number, timeNs: number): void {
    let done = 0
    for (const message of this.outstanding) {
      if (psnDistance(psn, message.lastPsn) < 0) break
      done++
      if (!message.repeated) this.latencies.add(Math.max(0, timeNs - message.lastNs))
    }
    if (done > 0) this.outstanding.splice(0, done)
  }

  /** A READ or an atomic that this PSN answers. */
  asked(psn: number): Message | undefined {
    return this.outstanding.find(
      ({ kind, firstPsn, lastPsn }) =>
        (kind === "read" || kind === "atomic") && psnDistance(psn, firstPsn) >= 0 && psnDistance(psn, lastPsn) <= 0,
    )
  }
}
