import { Flag, Layout, type Packet, PSN_MASK, psnDistance } from "@rdmakit/packet"
import { NEVER, type Time, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { AckTimer } from "./AckTimer.ts"
import { nakStatus, rnrTimerPs, SYNDROME_TYPE, Syndrome } from "./Aeth.ts"
import { Part, rcParts } from "./Bth.ts"
import { CreditLimit } from "./CreditLimit.ts"
import { putNumber, wordOf } from "./Extension.ts"
import type { Pacing } from "./Pacing.ts"
import { Break, type QueuePairContext } from "./QueuePairContext.ts"
import { putRemote, Requester, respondingOpcode } from "./Requester.ts"
import { Responses } from "./Responses.ts"
import { RoundTrip } from "./RoundTrip.ts"
import { Kind, type SendWork } from "./SendQueue.ts"

const { EXT } = Layout
const RNR_RETRY_FOREVER = 7
const NONE = -1

/** Why requests in flight are sent again. */
export type Loss = "nak" | "timeout" | "early"

/**
 * The requester of a reliable connection (IBTA 1.7 §9.7): packets are acknowledged by number, READs and atomics by their
 * responses. A NAK, a gap in responses or a timeout takes it back to the oldest packet that is not acknowledged.
 *
 * Packets are counted from the first PSN on without wrapping; the 24-bit PSN is made and undone at the packet.
 */
export class ReliableRequester extends Requester {
  /** The oldest number not acknowledged, and the end of what was ever sent. */
  una = 0
  protected highest = 0
  protected ackedBytes = 0
  protected readonly timer: AckTimer
  private readonly responses: Responses
  /** Until then an RNR NAK holds requests back. */
  private rnrDeadline: Time = NEVER
  /** When the oldest packet that is not acknowledged was sent, and the one that was the oldest then the time before. */
  private oldestSent: Time = 0
  private oldestSentBefore: Time = 0
  private retries = 0
  private rnrRetries = 0
  /** The end of what timeouts have had sent again, or NONE. */
  private sentAgain = NONE
  /** A gap in responses at this number has been acted on: the next one at it waits for the timer. */
  private gapAt = NONE
  /** Packets since the last one that asked for an acknowledgement. */
  private unasked = 0
  private readonly credits: CreditLimit
  private readonly roundTrip = new RoundTrip()

  constructor(context: QueuePairContext, pacing: Pacing, sendMax: number) {
    super(context, pacing, sendMax)
    this.timer = new AckTimer(context.config.earlyRetransmissionPs)
    this.responses = new Responses(context)
    this.credits = new CreditLimit(context.config.endToEndCredits)
  }

  override startAt(psn: number): void {
    super.startAt(psn)
    this.una = this.nxt
    this.highest = this.nxt
    this.ackedBytes = 0
    this.credits.reset()
  }

  /** Settings have changed. */
  configure(): void {
    this.timer.set(this.context.settings.timeout)
  }

  override reset(): void {
    super.reset()
    this.startAt(0)
    this.rest()
  }

  override flush(): void {
    super.flush()
    this.rest()
  }

  private rest(): void {
    this.timer.reset()
    this.rnrDeadline = NEVER
    this.retries = 0
    this.rnrRetries = 0
    this.sentAgain = NONE
    this.gapAt = NONE
    this.unasked = 0
    this.roundTrip.forget()
  }

  get hasData(): boolean {
    return this.ready && !this.heldBack && this.fits && this.hasCredit
  }
  get windowBound(): boolean {
    return this.sentBytes - this.ackedBytes >= this.pacing.controller.window
  }
  get nextTimeout(): Time {
    return this.timer.next < this.rnrDeadline ? this.timer.next : this.rnrDeadline
  }

  /** While an RNR NAK holds requests back that may be tried without end: when the oldest was sent the time before last. */
  get receiveAwaitedSince(): Time | undefined {
    return this.heldBack && this.context.settings.rnrRetry === RNR_RETRY_FOREVER ? this.oldestSentBefore : undefined
  }
  /** An RNR NAK holds requests back. */
  protected get heldBack(): boolean {
    return this.rnrDeadline !== NEVER
  }
  /** One more packet may be in flight. */
  private get fits(): boolean {
    return this.nxt - this.una < this.context.config.inFlightPackets || this.nxt === this.una
  }
  /** Without credit a single packet may leave, to ask for some (IBTA 1.7 §9.7.7.2). */
  private get hasCredit(): boolean {
    const work = this.queue.current!
    return work.sequence <= this.credits.limit || !work.consumesReceive || this.nxt === this.una
  }

  // --- sending

  /** Sends a packet of the current work. False: its memory is gone; nothing was sent. */
  fill(now: Time, out: Packet): boolean {
    const work = this.queue.current!
    const again = this.nxt < this.highest
    if (!this.fillWork(now, out, work)) return false
    if (this.nxt === this.una) {
      this.oldestSentBefore = this.oldestSent
      this.oldestSent = now
    }
    if (again) out.set(Flag.Retransmission)
    else this.roundTrip.left(now, this.nxt)
    if (!work.started) {
      work.started = true
      if (work.kind !== Kind.Message) this.outstanding++
    }
    this.nxt = work.kind === Kind.Message ? this.nxt + 1 : work.end
    if (this.nxt > this.highest) this.highest = this.nxt
    this.timer.run(now)
    if (this.nxt === work.end) {
      this.queue.advance()
      this.settle(now)
    }
    return true
  }

  /** Fills packet `nxt`, which is of this work. */
  protected fillWork(now: Time, out: Packet, work: SendWork): boolean {
    return work.kind === Kind.Message
      ? this.fillMessage(now, out, work, this.asksEarly(work))
      : this.fillResponding(now, out, work)
  }

  /** Whether a packet in the middle of a message asks: in turn, and where the next one has to wait for the answer. */
  private asksEarly(work: SendWork): boolean {
    const { config } = this.context
    const bytes = this.sentBytes + this.context.settings.pathMtuBytes - this.ackedBytes
    const asks =
      ++this.unasked >= config.ackEvery ||
      this.nxt + 1 - this.una >= config.inFlightPackets ||
      bytes >= this.pacing.controller.window ||
      work.sequence > this.credits.limit
    if (asks) this.unasked = 0
    return asks
  }

  /** READ, atomic or ATOMIC_WRITE: one packet. A READ that is sent again asks for what is missing (IBTA vol. 1, ch. 9). */
  private fillResponding(now: Time, out: Packet, work: SendWork): boolean {
    const { context } = this
    const { destinationQp, partition, pathMtuBytes } = context.settings
    const { request } = work
    const bytes = work.kind === Kind.AtomicWrite ? work.bytes : 0
    if (bytes > 0 && !this.copyPayload(out, work, 0, bytes)) {
      this.lose(now, out, work)
      return false
    }
    const opcode = respondingOpcode(work)
    context.header.put(out, opcode | Flag.AckRequest, destinationQp, partition, this.pacing.capable)
    const at = out.extend()
    const { extension } = out.pool
    const offset = (this.nxt - work.firstPacket) * pathMtuBytes
    putRemote(extension, at, work, offset)
    if (work.kind === Kind.Atomic) {
      const swaps = request.opcode === WrOpcode.AtomicCmpAndSwp
      putNumber(extension, at + EXT.swapAdd, (swaps ? request.swap : request.compareAdd) ?? 0n)
      if (swaps) putNumber(extension, at + EXT.compare, request.compareAdd ?? 0n)
    } else {
      const end = (this.readEnd(work) - work.firstPacket) * pathMtuBytes
      extension[at + EXT.dmaLength] = (end < work.bytes ? end : work.bytes) - offset
    }
    const { sentBytes } = this
    this.finishPacket(now, out, opcode, bytes)
    this.sentBytes = sentBytes
    return true
  }

  /** Number after the last packet of the response that a READ asks for from `nxt` on. */
  protected readEnd(work: SendWork): number {
    return work.end
  }

  // --- acknowledgements and responses

  /** An acknowledgement, a NAK or a response came. */
  handleResponse(now: Time, packet: Packet): void {
    const number = this.una + psnDistance(packet.psn, this.una & PSN_MASK)
    // A ghost: nothing with this number is out (IBTA vol. 1, ch. 9, "ghost acknowledge").
    if (number >= this.highest) return
    const parts = rcParts[packet.opcode]!
    const aeth = (parts & (Part.Start | Part.End)) === 0 ? NONE : wordOf(packet, EXT.aeth)
    if (aeth !== NONE) this.credits.take(aeth)
    if ((parts & (Part.Read | Part.Atomic)) !== 0) this.respond(now, packet, number, parts)
    else this.acknowledge(now, packet, number, aeth >>> 24)
    this.completeDone(now)
  }

  /** Something is answered that had been. Where a timeout had it sent again, that was too early. */
  private heardAgain(now: Time): void {
    if (this.una <= this.sentAgain) this.timer.slow(now)
  }

  private acknowledge(now: Time, packet: Packet, number: number, syndrome: number): void {
    const type = syndrome & SYNDROME_TYPE
    if (type === Syndrome.Ack) {
      if (number < this.una) this.heardAgain(now)
      this.reaches(now, packet, number + 1)
      return
    }
    // A NAK acknowledges what is before its number.
    if (number < this.una) return
    if (!this.reaches(now, packet, number)) return
    // One that was overtaken by a retransmission tells of nothing that is out.
    if (this.nxt <= number) return
    if (type === Syndrome.Rnr) this.holdBack(now, syndrome & 0x1f)
    else if (syndrome === Syndrome.NakSequence) this.sequenceNak(now, packet)
    else if (type === Syndrome.Nak && this.queue.oldest !== undefined) this.fail(now, nakStatus(syndrome))
  }

  /** The packet at `una` is missing at the responder. */
  protected sequenceNak(now: Time, _packet: Packet): void {
    this.retry(now, "nak")
  }

  /** A READ response, an atomic's, or that of an ATOMIC_WRITE. */
  protected respond(now: Time, packet: Packet, number: number, parts: number): void {
    if (number < this.una) {
      // What was asked for twice is answered twice, and before what is behind it: the responder has not fallen silent.
      this.timer.extend(now)
      this.heardAgain(now)
      return
    }
    const work = this.queue.holding(number)
    if (work === undefined || !this.responses.belongs(work, parts)) return
    if (!this.reaches(now, packet, number) || this.una !== number) return
    const status = this.responses.take(work, number - work.firstPacket, packet, parts)
    if (status !== WcStatus.Success) {
      this.fail(now, status)
      return
    }
    this.moveTo(number + 1)
    if (this.una === work.end) this.complete()
    this.progressed(now, packet, 0)
  }

  /**
   * What is before `count` has come to the responder. False: a READ or an atomic before it is not answered, which is a
   * gap; or the queue pair has come to its end.
   */
  private reaches(now: Time, packet: Packet, count: number): boolean {
    do {
      this.advance(now, packet, count)
      if (this.context.broken !== Break.None) return false
      if (this.una >= count) return true
    } while (this.takeAhead(now))
    this.gap(now)
    return false
  }

  private advance(now: Time, packet: Packet, count: number): void {
    const before = this.ackedBytes
    const start = this.una
    for (let work = this.queue.oldest; work?.started === true; work = this.queue.oldest) {
      if (work.status !== WcStatus.Success) break
      if (work.kind === Kind.Local) {
        if (!work.done) break
        this.complete()
        continue
      }
      if (work.kind !== Kind.Message || count <= this.una) break
      const reached = count < work.end ? count : work.end
      if (reached > this.una) this.moveTo(reached)
      const bytes = (this.una - work.firstPacket) * this.context.settings.pathMtuBytes
      this.ackedBytes = work.firstByte + (bytes < work.bytes ? bytes : work.bytes)
      if (this.una < work.end) break
      this.complete()
    }
    if (this.una > start) this.progressed(now, packet, this.ackedBytes - before)
  }

  /** Responses that were kept for their turn are taken, where there are any. True: that made progress. */
  protected takeAhead(_now: Time): boolean {
    return false
  }

  protected moveTo(number: number): void {
    this.una = number
    if (this.nxt >= number) return
    // What was to be sent again has come after all.
    this.nxt = number
    this.queue.seek(number)
    this.sentBytes = this.ackedBytes
  }

  /** Something was acknowledged: the counts of retries begin anew (IBTA vol. 1, ch. 9, retry counters). */
  private progressed(now: Time, packet: Packet, bytes: number): void {
    this.retries = 0
    this.rnrRetries = 0
    if (this.sentBytes < this.ackedBytes) this.sentBytes = this.ackedBytes
    const rttPs = this.roundTrip.measure(now, packet, this.una)
    this.timer.progressed(now, rttPs, this.una < this.nxt)
    this.pacing.acknowledged(now, packet, this.ackedBytes, this.sentBytes, bytes, rttPs)
    this.settle(now)
  }

  // --- losses

  /**
   * A response is missing: it, and all behind it, are asked for again, once until there is progress (IBTA ch. 9, implied NAK).
   * A responder comes to that only after all it was asked for before: as long as it answers, it has not fallen silent.
   */
  protected gap(now: Time): void {
    if (this.nxt === this.una) return
    if (this.gapAt === this.una) {
      this.timer.extend(now)
      return
    }
    this.gapAt = this.una
    this.retry(now, "nak")
  }

  /** Goes back, unless it was done too often. */
  protected retry(now: Time, loss: Loss): void {
    if (loss !== "early") {
      if (this.retries >= this.context.settings.retryCount) {
        this.fail(now, WcStatus.RetryExcErr)
        return
      }
      this.retries++
      this.timer.stop()
    }
    if (loss !== "nak") {
      this.gapAt = this.una
      this.sentAgain = this.highest
    }
    this.goBack()
    this.pacing.lost(now, loss !== "nak")
    this.settle(now)
  }

  protected goBack(): void {
    this.nxt = this.una
    this.sentBytes = this.ackedBytes
    this.roundTrip.forget()
    this.queue.seek(this.una)
  }

  /** The responder has no receive (IBTA 1.7 §9.7.5.2.8). */
  private holdBack(now: Time, code: number): void {
    const { rnrRetry } = this.context.settings
    if (rnrRetry !== RNR_RETRY_FOREVER && this.rnrRetries >= rnrRetry) {
      this.fail(now, WcStatus.RnrRetryExcErr)
      return
    }
    this.rnrRetries++
    // The responder lives, and a gap behind the packet that it could not take is told of too: no retry counts for it.
    this.retries = 0
    this.timer.stop()
    this.rnrDeadline = now + rnrTimerPs(code)
    this.goBack()
    this.settle(now)
  }

  protected override fail(now: Time, status: WcStatus): void {
    super.fail(now, status)
    this.timer.reset()
    this.rnrDeadline = NEVER
  }

  handleTimeout(now: Time): void {
    if (this.rnrDeadline <= now) this.rnrDeadline = NEVER
    if (this.timer.deadline <= now) this.retry(now, "timeout")
    else if (this.timer.earlyDeadline <= now) {
      this.timer.takeEarly(now)
      this.retry(now, "early")
    }
  }
}
