import { Flag, Layout, Opcode, type Packet, PacketSet, PSN_MASK, psnDistance } from "@rdmakit/packet"
import { type Ack, NEVER, type Time } from "@rdmakit/protocol"
import type { RcConfig } from "./RcConfig.ts"
import type { RcAddress } from "./RcEndpoint.ts"
import { RcRequester } from "./RcRequester.ts"

const NONE = -1

/**
 * One end of a reliable connection that sends again only what is lost: IRN's transport (Mittal et al., "Revisiting
 * Network Support for RDMA", SIGCOMM 2018, §3).
 *
 * Receiver (§3.1): it keeps what comes out of order, a bit for each packet, and answers each such packet by a NAK with
 * two numbers: the PSN it expects, which acknowledges all before it, and the PSN that came.
 *
 * Sender (§3.1): a NAK or a timeout begins a recovery, which ends once everything is acknowledged that had been sent by
 * then. In a recovery the packet that the receiver expects is sent again first; another is taken for lost only if one
 * behind it has come. Each is sent again once in a recovery: one that is lost twice is the timeout's affair. New packets
 * follow when nothing lost is left to send. Of new packets at most `bdpPackets` are in flight (BDP-FC, §3.2); those that
 * are sent again need no room, neither there nor in the controller's window.
 *
 * Timeouts (§3.1): RTO_low as long as no more than N packets are in flight, else RTO_high. One timer does: it is set for
 * RTO_low, and goes on to RTO_high when there are more by then (§6.2). After a timeout, unlike IRN, an acknowledgement
 * that ends at another gap of that recovery makes this the next packet to be sent again (RFC 6582 §3.2): a burst lost at
 * the end of a message costs one timeout, not one a packet.
 */
export class SelectiveQueuePair extends RcRequester {
  // Responder: packets that came ahead of the expected one; the PSN that a NAK tells of.
  private readonly ahead: PacketSet
  private aheadCount = 0
  private replySack = 0

  // Requester: most packets in flight; those the receiver has out of order, and the highest of them.
  private readonly inFlightMost: number
  private readonly sacked: PacketSet
  private highestSacked = NONE
  /** Where the recovery under way ends, or NONE; whether a timeout began it; the next packet to send again, or NONE. */
  private recoverUntil = NONE
  private afterSilence = false
  private lost = NONE
  /** Packets before this have been sent again in this recovery, where they had to be. */
  private repaired = 0
  private extended = false

  constructor(now: Time, config: RcConfig, ack: Ack, address: RcAddress) {
    super(now, config, ack, address)
    this.inFlightMost = address.path === undefined ? 1 : inFlightMost(config, address.path)
    this.ahead = new PacketSet(config.reorderPackets)
    this.sacked = new PacketSet(this.inFlightMost + 1)
  }

  // --- what a NIC reads

  override get hasData(): boolean {
    return this.lost !== NONE || this.nxt < this.limit
  }
  override get windowBound(): boolean {
    return this.lost === NONE && this.sentBytes - this.ackedBytes >= this.controller.window
  }

  protected override extendLimit(): void {
    const most = this.una + this.inFlightMost
    this.limit = most < this.end ? most : this.end
  }

  // --- sending

  protected override fillData(now: Time, out: Packet): void {
    const { nxt, sentBytes, lost } = this
    if (lost === NONE) {
      super.fillData(now, out)
      // The receiver must not wait for more than may come.
      if (this.nxt === this.limit) out.set(Flag.AckRequest)
      return
    }
    this.nxt = lost
    super.fillData(now, out)
    this.nxt = nxt
    this.sentBytes = sentBytes
    this.repaired = lost + 1
    this.lost = this.nextLost()
  }

  /** The first packet, of those not sent again yet, that is missing although one behind it has come; or NONE. */
  private nextLost(): number {
    let number = this.repaired > this.una ? this.repaired : this.una
    while (number < this.highestSacked && this.sacked.has(number)) number++
    return number < this.highestSacked ? number : NONE
  }

  // --- receiving

  protected override handleData(_now: Time, packet: Packet): void {
    const distance = psnDistance(packet.psn, this.expected & PSN_MASK)
    if (distance === 0) {
      this.takeInOrder(packet)
    } else if (distance < 0) {
      this.reply(packet, Opcode.Acknowledge, this.expected - 1)
    } else if (distance < this.config.reorderPackets) {
      this.keep(packet, this.expected + distance)
    }
  }

  private takeInOrder(packet: Packet): void {
    this.expected++
    this.receivedBytes += packet.payloadBytes
    const closed = this.aheadCount > 0 && this.ahead.has(this.expected)
    while (this.aheadCount > 0 && this.ahead.has(this.expected)) {
      this.ahead.delete(this.expected)
      this.aheadCount--
      this.expected++
    }
    // What it closes a gap with is news at once, and so is each packet while there is a gap.
    if (this.owesAck(packet) || closed || this.aheadCount > 0) {
      this.reply(packet, Opcode.Acknowledge, this.expected - 1)
    }
  }

  private keep(packet: Packet, number: number): void {
    if (!this.ahead.has(number)) {
      this.ahead.add(number)
      this.aheadCount++
      this.receivedBytes += packet.payloadBytes
    }
    this.replySack = packet.psn
    this.reply(packet, Opcode.NakSequence, this.expected)
  }

  protected override fillReply(out: Packet): void {
    super.fillReply(out)
    if (out.opcode !== Opcode.NakSequence) return
    const at = out.extend()
    const { extension } = out.pool
    extension[at + Layout.EXT.sackBase] = this.replySack
    extension[at + Layout.EXT.sackBits] = 1
  }

  protected acknowledged(now: Time, packet: Packet, count: number, isNak: boolean): void {
    const before = this.ackedBytes
    if (count > this.una) this.advance(now, count)
    const began = isNak && this.noteSack(packet)
    this.runController(now, packet, this.sequenceOf(count), before)
    if (began && this.controller.onLoss(now, false)) this.tookAction(now)
  }

  protected override advance(now: Time, count: number): void {
    if (this.highestSacked !== NONE) {
      for (let number = this.una; number < count; number++) this.sacked.delete(number)
      if (this.highestSacked < count) this.highestSacked = NONE
    }
    super.advance(now, count)
    this.extended = false
    if (this.recoverUntil === NONE) return
    if (count >= this.recoverUntil) {
      this.endRecovery()
    } else if (this.repaired <= count) {
      this.repaired = count
      this.lost = this.afterSilence ? count : this.nextLost()
    }
  }

  /** The receiver has a packet ahead of the one it expects. True: a recovery begins. */
  private noteSack(packet: Packet): boolean {
    const psn = packet.extension < 0 ? packet.psn : packet.pool.extension[packet.extend() + Layout.EXT.sackBase]!
    const number = this.una + psnDistance(psn, this.una & PSN_MASK)
    // One that was overtaken tells of nothing any more.
    if (number <= this.una || number >= this.highest) return false
    this.sacked.add(number)
    if (number > this.highestSacked) this.highestSacked = number
    if (this.recoverUntil === NONE) {
      this.beginRecovery(false)
      return true
    }
    if (this.lost === NONE || this.lost === number) this.lost = this.nextLost()
    return false
  }

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

  // --- time

  protected override ackTimedOut(now: Time): void {
    const { ackTimeoutPs, ackTimeoutHighPs, ackTimeoutFewPackets } = this.config
    if (!this.extended && this.nxt - this.una > ackTimeoutFewPackets && ackTimeoutHighPs > ackTimeoutPs) {
      this.extended = true
      this.ackDeadline += ackTimeoutHighPs - ackTimeoutPs
      if (this.ackDeadline > now) return
    }
    super.ackTimedOut(now)
  }

  /** What is out is looked through again, from the oldest on; the time to wait starts with the next packet. */
  protected goBack(): void {
    this.ackDeadline = NEVER
    this.extended = false
    this.beginRecovery(true)
  }

  protected override fail(now: Time): void {
    super.fail(now)
    this.endRecovery()
  }
}

/** The bandwidth-delay product of the path in full packets, unless the config has a number of its own (IRN §3.2). */
const inFlightMost = (config: RcConfig, path: NonNullable<RcAddress["path"]>): number => {
  if (config.bdpPackets !== undefined) return config.bdpPackets
  const bytes = path.windowBytes > 0 ? path.windowBytes : (path.lineRateBps * path.baseRttPs) / 8e12
  return Math.min(config.reorderPackets, Math.max(1, Math.ceil(bytes / config.mtuBytes)))
}
