import { Ecn, Flag, Layout, type Packet, PSN_MASK, packetsOf } from "@rdmakit/packet"
import { MemoryFault, type Time } from "@rdmakit/protocol"
import { CREDITS_INVALID, creditCode, Syndrome } from "./Aeth.ts"
import { Bth, frameBytes } from "./Bth.ts"
import { wordOf } from "./Extension.ts"
import type { Pacing } from "./Pacing.ts"
import { Break, type QueuePairContext } from "./QueuePairContext.ts"
import type { ReceiveSide } from "./ReceiveSide.ts"
import { type Resource, ResponderResources } from "./ResponderResources.ts"

const { EXT } = Layout
const TWO_32 = 2 ** 32
const NONE = -1

/**
 * What a responder owes: responses to READs and atomics in the order of their requests, and behind them one
 * acknowledgement or NAK. A later acknowledgement takes the place of one that has not left (IBTA 1.7 §9.7.5.1.2).
 */
export class Replies {
  private readonly context: QueuePairContext
  private readonly receives: ReceiveSide
  private readonly resources = new ResponderResources()
  /** The resource that was accepted last. */
  private latest: Resource | undefined = undefined
  /** Messages completed (MSN, IBTA vol. 1, ch. 9). */
  private messages = 0
  /** Syndrome of the acknowledgement owed, or NONE; its number; what it brings back of the packet it answers. */
  private syndrome = NONE
  private number = 0
  /** Of a NAK of selective repeat: the PSN that came, or NONE. */
  private sack = NONE
  private stamp: Time = 0
  /** A marked packet has come since the last acknowledgement left. */
  private congestion = false
  private telemetry = NONE
  private pathId = 0

  constructor(context: QueuePairContext, receives: ReceiveSide) {
    this.context = context
    this.receives = receives
  }

  reset(): void {
    this.resources.clear()
    this.latest = undefined
    this.messages = 0
    this.syndrome = NONE
    this.congestion = false
  }

  setMost(most: number): void {
    this.resources.setMost(most)
  }

  completedMessage(): void {
    this.messages = (this.messages + 1) & PSN_MASK
  }

  // --- what is owed

  /** A packet came with a congestion mark. */
  mark(): void {
    this.congestion = true
  }

  /** Owes an acknowledgement, or a NAK, of packet `number`. */
  answer(packet: Packet, syndrome: number, number: number): void {
    this.syndrome = syndrome
    this.number = number
    this.sack = NONE
    this.stamp = packet.stamp
    if (this.telemetry >= 0) packet.pool.releaseTelemetry(this.telemetry)
    this.telemetry = packet.detachTelemetry()
    this.pathId = packet.pathId
  }

  /** Owes a NAK for packet `number` that says which one came instead (IRN §3.1). */
  answerAhead(packet: Packet, number: number): void {
    this.answer(packet, Syndrome.NakSequence, number)
    this.sack = packet.psn
  }

  /** A duplicate was received. A NAK that is owed says as much. */
  acknowledgeAgain(packet: Packet, number: number): void {
    if (this.syndrome === NONE || (this.syndrome & Syndrome.Nak) === Syndrome.Ack) {
      this.answer(packet, Syndrome.Ack, number)
    }
  }

  /** The expected packet came: a NAK that has not left is of no use any more. */
  supersede(): void {
    if (this.syndrome !== NONE && (this.syndrome & Syndrome.Nak) !== Syndrome.Ack) this.syndrome = NONE
  }

  /**
   * Accepts a request that is answered by `packets` packets from `number` on; its response acknowledges all before it.
   * False: the peer has too many outstanding.
   */
  accept(opcode: number, number: number, packets: number, address: number, bytes: number, key: number): boolean {
    const resource = this.resources.take()
    if (resource === undefined) return false
    resource.opcode = opcode
    resource.first = number
    resource.end = number + packets
    resource.address = address
    resource.bytes = bytes
    resource.key = key
    this.resources.send(resource, number, number + packets, bytes)
    this.latest = resource
    this.syndrome = NONE
    return true
  }

  /** What the atomic accepted last has found; kept for duplicates (IBTA vol. 1, ch. 9, duplicate requests). */
  keepOriginal(original: bigint): void {
    const { latest } = this
    if (latest === undefined) return
    latest.originalHigh = Number((original >> 32n) & 0xffffffffn)
    latest.originalLow = Number(original & 0xffffffffn)
  }

  /** The request accepted last was not carried out: it has no response. */
  giveUp(): void {
    const { latest } = this
    if (latest === undefined) return
    this.resources.sent(latest)
    latest.first = NONE
    latest.end = NONE
  }

  /** A duplicate of a request that is answered by a response; one that is not known is dropped (IBTA vol. 1, ch. 9). */
  replay(packet: Packet, number: number): void {
    const resource = this.resources.holding(number)
    if (resource === undefined) return
    if (resource.opcode !== Bth.ReadRequest || packet.opcode !== Bth.ReadRequest) {
      if (resource.opcode === packet.opcode) this.resources.send(resource, number, number + 1, 0)
      return
    }
    const { pathMtuBytes } = this.context.settings
    const offset = (number - resource.first) * pathMtuBytes
    const bytes = wordOf(packet, EXT.dmaLength)
    const address = wordOf(packet, EXT.remoteAddress) * TWO_32 + wordOf(packet, EXT.remoteAddress + 1)
    // It has to ask for what was asked for, or for a part of it (IBTA vol. 1, ch. 9, duplicate requests).
    if (bytes > 0 && (address !== resource.address + offset || wordOf(packet, EXT.remoteKey) !== resource.key)) return
    if (offset + bytes > resource.bytes) return
    this.resources.sendAgain(resource, number, number + packetsOf(bytes, pathMtuBytes), bytes, pathMtuBytes)
  }

  // --- what may be sent

  /** A short reply may leave: an acknowledgement, or the response of an atomic. */
  get controlPending(): boolean {
    const resource = this.resources.pending
    return resource === undefined ? this.syndrome !== NONE : isAtomic(resource)
  }
  /** A READ response may leave. Linux rxe answers ATOMIC_WRITE as a READ of no bytes. */
  get dataPending(): boolean {
    const resource = this.resources.pending
    return resource !== undefined && !isAtomic(resource)
  }
  get idle(): boolean {
    return this.syndrome === NONE && this.resources.pending === undefined
  }

  /** Fills the short reply that is due. */
  fillControl(out: Packet): void {
    const resource = this.resources.pending
    if (resource === undefined) {
      this.fillAcknowledge(out)
      return
    }
    const at = this.fill(out, Bth.AtomicAcknowledge, resource.next, 0, Syndrome.Ack)
    out.pool.extension[at + EXT.compare] = resource.originalHigh
    out.pool.extension[at + EXT.compare + 1] = resource.originalLow
    this.resources.sent(resource)
  }

  private fillAcknowledge(out: Packet): void {
    const at = this.fill(out, Bth.Acknowledge, this.number, 0, this.syndrome)
    this.syndrome = NONE
    if (this.sack !== NONE) {
      out.pool.extension[at + EXT.sackBase] = this.sack
      out.pool.extension[at + EXT.sackBits] = 1
      this.sack = NONE
    }
    out.stamp = this.stamp
    if (this.congestion) out.set(Flag.CongestionEcho)
    this.congestion = false
    if (this.telemetry !== NONE) {
      out.attachTelemetry(this.telemetry, this.pathId)
      this.telemetry = NONE
    }
  }

  private fill(out: Packet, opcode: number, number: number, bytes: number, syndrome: number): number {
    const { context } = this
    const { destinationQp, partition } = context.settings
    context.header.put(out, opcode, destinationQp, partition, Ecn.NotCapable)
    const at = out.extend()
    out.psn = number & PSN_MASK
    out.payloadBytes = bytes
    out.wireBytes = frameBytes(opcode, bytes, context.header.ipv6)
    if (opcode !== Bth.ReadResponseMiddle) {
      const code = syndrome === Syndrome.Ack ? this.credits : syndrome
      out.pool.extension[at + EXT.aeth] = (code << 24) | this.messages
    }
    return at
  }

  /** End-to-end credits; none are told with a shared receive queue (IBTA 1.7 §9.7.7.2). */
  private get credits(): number {
    const { config, sharedReceives } = this.context
    if (!config.endToEndCredits || sharedReceives !== undefined) return CREDITS_INVALID
    // The receive that a message is coming into is counted: the message is not.
    return creditCode(this.receives.outstanding)
  }

  /** Fills the READ response packet that is due. */
  fillRead(now: Time, out: Packet, pacing: Pacing): void {
    const { context } = this
    const { memory, settings, user } = context
    const resource = this.resources.pending!
    const { begin, next, part, stop } = resource
    const sent = (next - begin) * settings.pathMtuBytes
    const bytes = part - sent < settings.pathMtuBytes ? part - sent : settings.pathMtuBytes
    if (bytes > 0) {
      const address = resource.address + (next - resource.first) * settings.pathMtuBytes
      const { octets, start } = out.addPayload(bytes)
      if (memory.read(user, resource.key, true, address, bytes, octets, start) !== MemoryFault.None) {
        this.breakRead(out, next)
        return
      }
    }
    this.fill(out, readOpcode(next === begin, next === stop - 1), next, bytes, Syndrome.Ack)
    this.resources.sent(resource)
    pacing.sent(now, bytes, out.wireBytes)
  }

  /** The region has gone, or may not be read any more, since the request was accepted: a NAK instead, and the end. */
  private breakRead(out: Packet, number: number): void {
    out.pool.recycle(out.handle)
    this.resources.clear()
    this.syndrome = Syndrome.NakRemoteAccess
    this.number = number
    this.fillAcknowledge(out)
    this.context.raise("QP_ACCESS_ERR")
    this.context.broken = Break.Error
  }
}

const isAtomic = ({ opcode }: Resource): boolean => opcode === Bth.CompareSwap || opcode === Bth.FetchAdd

const readOpcode = (first: boolean, last: boolean): number => {
  if (first) return last ? Bth.ReadResponseOnly : Bth.ReadResponseFirst
  return last ? Bth.ReadResponseLast : Bth.ReadResponseMiddle
}
