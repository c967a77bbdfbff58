import { Flag, Layout, type Packet, PacketSet, PSN_MASK, psnDistance } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { rcParts } from "./Bth.ts"
import { wordOf } from "./Extension.ts"
import type { Pacing } from "./Pacing.ts"
import { Break, type QueuePairContext } from "./QueuePairContext.ts"
import { ReliableRequester } from "./ReliableRequester.ts"
import { ReorderBuffer } from "./ReorderBuffer.ts"
import { Kind, type SendWork } from "./SendQueue.ts"

const { EXT } = Layout
const NONE = -1

/**
 * A requester that sends again only what is lost, as IRN has it (Mittal et al., SIGCOMM 2018, §3); compare
 * `SelectiveQueuePair`. A NAK, a gap in responses or a timeout begins a recovery, which ends once everything is
 * acknowledged that had been sent by then; each packet is sent again once in a recovery. Of a READ the missing part alone
 * is asked for again: responses that came ahead are kept. New packets follow when nothing lost is left to send.
 *
 * A NAK that does not say what came, for the wire has no field for it, is taken to tell of one lost packet.
 */
export class SelectiveRequester extends ReliableRequester {
  private readonly sacked: PacketSet
  private readonly ahead: ReorderBuffer
  private readonly window: number
  private highestSacked = NONE
  /** Where the recovery under way ends, or NONE; whether a timeout or a gap in responses began it. */
  private recoverUntil = NONE
  private afterSilence = false
  /** The next packet to send again, or NONE; those before `repaired` have been, where they had to. */
  private lost = NONE
  private repaired = 0
  /** Responses before this have been asked for again, and are on their way. */
  private askedUntil = NONE

  constructor(context: QueuePairContext, pacing: Pacing, sendMax: number) {
    super(context, pacing, sendMax)
    this.sacked = new PacketSet(context.config.inFlightPackets + 1)
    this.window = context.config.reorderPackets
    this.ahead = new ReorderBuffer(this.window)
  }

  override startAt(psn: number): void {
    super.startAt(psn)
    this.forget()
  }
  override flush(): void {
    super.flush()
    this.forget()
  }

  private forget(): void {
    this.forgetSacked(this.highestSacked + 1)
    this.endRecovery()
    this.askedUntil = NONE
    this.ahead.clear()
  }

  private forgetSacked(end: number): void {
    if (this.highestSacked === NONE) return
    for (let number = this.una; number < end && number <= this.highestSacked; number++) this.sacked.delete(number)
    if (this.highestSacked < end) this.highestSacked = NONE
  }

  override get hasData(): boolean {
    return this.lost === NONE ? super.hasData : !this.heldBack
  }
  override get windowBound(): boolean {
    return this.lost === NONE && super.windowBound
  }

  // --- sending

  override fill(now: Time, out: Packet): boolean {
    const { lost } = this
    if (lost === NONE) return super.fill(now, out)
    const work = this.queue.holding(lost)!
    const { nxt, sentBytes } = this
    this.nxt = lost
    if (work.kind === Kind.Read) this.askedUntil = this.readEnd(work)
    const sent = this.fillWork(now, out, work)
    this.nxt = nxt
    this.sentBytes = sentBytes
    this.repaired = work.kind === Kind.Message ? lost + 1 : work.end
    this.lost = sent ? this.nextLost() : NONE
    if (!sent) return false
    out.set(Flag.Retransmission | Flag.AckRequest)
    this.timer.run(now)
    return true
  }

  /** Of a READ only what has not come is asked for. */
  protected override readEnd(work: SendWork): number {
    return this.ahead.firstFrom(this.nxt + 1, work.end)
  }

  /** The first packet, of those not sent again yet, that is missing although one behind it has come; or NONE. */
  private nextLost(): number {
    let number = this.repaired > this.una ? this.repaired : this.una
    while (number < this.highestSacked) {
      const work = this.queue.holding(number)
      if (work === undefined) return NONE
      // A READ is one packet, with many numbers; one that is being answered has come.
      if (work.kind !== Kind.Message && number !== work.firstPacket) number = work.end
      else if (this.sacked.has(number) || this.ahead.has(number))
        number = work.kind === Kind.Message ? number + 1 : work.end
      else return number
    }
    return NONE
  }

  // --- acknowledgements and responses

  protected override moveTo(number: number): void {
    this.forgetSacked(number)
    super.moveTo(number)
    if (this.recoverUntil === NONE) return
    if (number >= this.recoverUntil) {
      this.endRecovery()
    } else if (this.repaired <= number) {
      this.repaired = number
      const work = this.queue.holding(number)
      const answered = work === undefined || (work.kind !== Kind.Message && number !== work.firstPacket)
      this.lost = answered || !this.afterSilence ? this.nextLost() : number
    }
  }

  protected override sequenceNak(now: Time, packet: Packet): void {
    const tells = wordOf(packet, EXT.sackBits) !== 0
    if (tells) {
      const number = this.una + psnDistance(wordOf(packet, EXT.sackBase), this.una & PSN_MASK)
      // One that was overtaken tells of nothing any more.
      if (number <= this.una || number >= this.highest) return
      if (number - this.una > this.context.config.inFlightPackets) return
      this.sacked.add(number)
      if (number > this.highestSacked) this.highestSacked = number
    }
    if (this.recoverUntil === NONE) {
      this.beginRecovery(false)
      this.pacing.lost(now, false)
    } else if (tells) {
      if (this.lost === NONE || this.sacked.has(this.lost)) this.lost = this.nextLost()
    } else if (this.lost === NONE && this.repaired <= this.una) {
      this.lost = this.una
    }
  }

  protected override respond(now: Time, packet: Packet, number: number, parts: number): void {
    // One behind the first that was asked for again: that one is lost again.
    if (number > this.una && number < this.askedUntil) this.askedUntil = NONE
    super.respond(now, packet, number, parts)
    if (this.context.broken !== Break.None) return
    if (number >= this.una) {
      const work = this.queue.holding(number)
      const awaited = work?.started === true && work.kind !== Kind.Message
      if (awaited && number - this.una < this.window) this.ahead.keep(number, packet)
    } else if (this.ahead.count > 0) {
      this.takeAhead(now)
      // Those that still wait tell of another gap.
      if (this.ahead.count > 0 && this.context.broken === Break.None) this.gap(now)
    }
  }

  protected override takeAhead(now: Time): boolean {
    const { ahead, una: start } = this
    if (ahead.count === 0) return false
    ahead.dropBefore(start)
    while (this.context.broken === Break.None && ahead.has(this.una)) {
      const number = this.una
      const held = ahead.at(number)
      super.respond(now, held, number, rcParts[held.opcode]!)
      ahead.drop(number)
      if (this.una <= number) break
    }
    return this.una > start && this.context.broken === Break.None
  }

  // --- losses

  private beginRecovery(afterSilence: boolean): void {
    this.recoverUntil = this.nxt
    this.afterSilence = afterSilence
    this.repaired = this.una
    this.lost = this.una
  }
  private endRecovery(): void {
    this.recoverUntil = NONE
    this.afterSilence = false
    this.lost = NONE
  }

  protected override gap(now: Time): void {
    if (this.una >= this.askedUntil) super.gap(now)
  }

  protected override goBack(): void {
    this.askedUntil = NONE
    this.beginRecovery(true)
  }
}
