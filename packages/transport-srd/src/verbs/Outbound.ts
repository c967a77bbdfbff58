import { Flag, Layout, Opcode, type Packet, PSN_MASK } from "@rdmakit/packet"
import { MemoryFault, moveSges, NEVER, type PathInfo, type Time } from "@rdmakit/protocol"
import { PeerSender, type SharedParts } from "../PeerSender.ts"
import { EfaStatus } from "./EfaStatus.ts"
import { FlyingPackets } from "./FlyingPackets.ts"
import { type Message, Place } from "./Message.ts"
import { MessageList } from "./MessageList.ts"
import { Bit, dataWireBytes, Operation, wordOf } from "./Operation.ts"
import type { Peer } from "./Peer.ts"

const { EXT } = Layout

/** UDP's destination port: RoCEv2's, for the switches of a fabric know no other. */
const UDP_PORT = 4791
/** BTH's opcode of a READ response of one packet (IBTA 1.7 §9.2, table 38). */
const READ_RESPONSE = 0x10
/** What packets are called in the simulator, by operation: switches and NICs tell data from control by it. */
const opcodes: ReadonlyArray<number> = [0, Opcode.SendOnly, Opcode.WriteOnly, Opcode.ReadRequest, READ_RESPONSE]
/** Of the BTH in front of the header. */
const DEFAULT_PARTITION = 0xffff
/** Timeouts in a row after which a context counts as impaired. */
const IMPAIRED_AFTER = 3

/** The sending half of a peer's context: messages in line, and the packets that they become. */
export class Outbound extends PeerSender {
  /** Of the contexts that both nodes have had, 16 bits. */
  readonly generation: number
  /** Times that timeouts came one after the other, without an answer. */
  impairments = 0
  private readonly peer: Peer
  private readonly queue = new MessageList()
  /** Messages that found no receive, by when they are tried again. */
  private readonly rnr = new MessageList()
  private readonly flying = new FlyingPackets()
  private readonly mtuBytes: number
  private readonly rnrDelayPs: Time
  /** What the acknowledgement in hand says of one packet: that it was refused. */
  private refusedTag = -1
  private refusal: number = EfaStatus.Ok
  private timeoutsBefore = 0
  private now: Time = 0

  constructor(now: Time, shared: SharedParts, path: PathInfo, peer: Peer, generation: number, rnrDelayPs: Time) {
    super(now, shared, path, path.flow)
    this.peer = peer
    this.generation = generation
    this.mtuBytes = path.mtuBytes
    this.rnrDelayPs = rnrDelayPs
  }

  /** It is given up: its memory goes back. */
  close(): void {
    this.forget()
  }

  // --- messages

  /** A message is in line from now on. */
  add(now: Time, message: Message): void {
    if (!this.hasData && this.packets.flyingBytes === 0 && this.paceTime < now) this.paceTime = now
    message.place = Place.Queued
    this.queue.push(message)
  }

  /** A message ended early: it has nothing more to send. */
  drop(message: Message): void {
    if (message.place === Place.Queued) this.queue.remove(message)
    else if (message.place === Place.Held) this.rnr.remove(message)
    message.place = Place.Away
    this.skipEnded()
  }

  /** Packets that were lost and are nobody's any more are not sent again; the peer learns of it from those that are. */
  private skipEnded(): void {
    const { packets, flying } = this
    for (let number = packets.firstLost; number >= 0; number = packets.firstLost) {
      if (flying.messageOf(number)?.hasEnded === false) return
      packets.deliver(number)
      flying.drop(number)
    }
  }

  // --- what may leave

  /** There is something to send, window and pacing aside. */
  get hasData(): boolean {
    return this.packets.lostCount > 0 || (this.queue.length > 0 && this.hasRoom)
  }
  /** When the next packet may leave; NEVER without one, or when the window is full. */
  get sendTime(): Time {
    return !this.unresponsive && this.hasData && !this.isFull(this.mtuBytes) ? this.paceTime : NEVER
  }

  /** Sends the next packet. False: what it was of has ended, for its memory may not be read any more. */
  send(now: Time, out: Packet): boolean {
    const { packets, flying } = this
    let number = packets.firstLost
    const isAgain = number >= 0
    const message = isAgain ? flying.messageOf(number)! : this.queue.first!
    const offset = isAgain ? flying.offsetOf(number) : message.sent
    const wanted = isAgain ? packets.bytesOf(number) : Math.min(this.mtuBytes, message.bytes - offset)
    const bytes = this.copy(out, message, offset, wanted)
    if (bytes < 0) return false
    if (!isAgain) {
      number = packets.add(bytes, packets.newest)
      flying.put(number, message, offset, packets.oldest)
      this.advance(message, offset + bytes)
    }
    this.write(out, message, offset, bytes)
    this.sendNumber(now, number, out, UDP_PORT)
    if (isAgain) this.skipEnded()
    return true
  }

  /** A packet more of the first in line is made. */
  private advance(message: Message, sent: number): void {
    message.sent = sent
    message.unacknowledged++
    const left = message.bytes - sent
    message.isSent = left === 0
    // No receiver counts packets: the one that tells of the whole waits until all others have been taken.
    const waits = message.hasImmediate && left > 0 && left <= this.mtuBytes
    if (!message.isSent && !waits) return
    this.queue.shift()
    message.place = waits ? Place.Held : Place.Away
  }

  /** Payload from memory. @returns its bytes, which are 0 where an answer cannot go on; -1: the request has failed */
  private copy(out: Packet, message: Message, offset: number, bytes: number): number {
    if (bytes === 0 || message.status !== EfaStatus.Ok) return 0
    const { queuePair, request, remoteKey, remoteHigh, remoteLow } = message
    const { memory, user } = queuePair
    const { octets, start } = out.addPayload(bytes)
    let fault: MemoryFault = MemoryFault.None
    if (request === undefined) {
      const address = remoteHigh * 2 ** 32 + remoteLow + offset
      fault = memory.read(user, remoteKey, true, address, bytes, octets, start)
    } else if (request.inline !== undefined) octets.set(request.inline.subarray(offset, offset + bytes), start)
    else fault = moveSges(memory, user, request.sges, offset, bytes, octets, start, false)
    if (fault === MemoryFault.None) return bytes
    out.pool.recycle(out.handle)
    if (request !== undefined) {
      queuePair.end(message, EfaStatus.InvalidLkey)
      return -1
    }
    message.status = EfaStatus.RemoteBadAddress
    message.bytes = message.sent
    return 0
  }

  private write(out: Packet, message: Message, offset: number, bytes: number): void {
    const { packets, peer } = this
    const { segment, request } = message
    const operation = segment & Bit.Operation
    const isLast = offset + bytes === message.bytes
    const withImmediate = message.hasImmediate && isLast
    const solicited = isLast && request?.solicited === true ? Flag.Solicited : 0
    const at = peer.header.put(out, opcodes[operation]! | solicited, this.config.ecn)
    const { extension } = out.pool
    extension[at + EXT.segment] = Bit.Srd | operation | (withImmediate ? Bit.Immediate : 0)
    extension[at + EXT.generation] = this.generation
    extension[at + EXT.partition] = DEFAULT_PARTITION
    extension[at + EXT.oldest] = packets.oldest & PSN_MASK
    extension[at + EXT.destinationQp] = message.destinationQp
    extension[at + EXT.sourceQp] = message.queuePair.qpn
    extension[at + EXT.queueKey] = message.queueKey
    if (withImmediate) extension[at + EXT.immediate] = request?.immediate ?? 0
    if (operation === Operation.ReadResponse) {
      extension[at + EXT.message] = message.number
      extension[at + EXT.messageOffset] = offset
      extension[at + EXT.status] = message.status
    } else if (operation !== Operation.Send) {
      const low = message.remoteLow + offset
      extension[at + EXT.remoteAddress] = message.remoteHigh + (low >= 2 ** 32 ? 1 : 0)
      extension[at + EXT.remoteAddress + 1] = low
      extension[at + EXT.remoteKey] = message.remoteKey
      extension[at + EXT.dmaLength] = message.length
      extension[at + EXT.message] = message.number
    }
    out.payloadBytes = bytes
    out.wireBytes = dataWireBytes(extension[at + EXT.segment]!, bytes, peer.header.ipv6)
  }

  // --- what has come of it

  /** An acknowledgement. */
  acknowledge(now: Time, packet: Packet): void {
    if (this.unresponsive || wordOf(packet, EXT.generation) !== this.generation) return
    const { packets } = this
    const status = wordOf(packet, EXT.status)
    this.now = now
    this.refusedTag = status === EfaStatus.Ok ? -1 : (packets.oldest + distance(packet.psn, packets.oldest)) | 0
    this.refusal = status
    this.handleAck(now, packet)
    this.refusedTag = -1
    this.timeoutsBefore = this.timeouts
    this.skipEnded()
  }

  protected override packetDelivered(_now: Time, tag: number, bytes: number): void {
    const { flying } = this
    const message = flying.messageOf(tag)
    if (message === undefined) return
    const offset = flying.offsetOf(tag)
    flying.drop(tag)
    message.unacknowledged--
    if (message.hasEnded) return
    if (tag === this.refusedTag) this.refused(message, offset, bytes)
    else if (message.isSent) {
      if (message.unacknowledged === 0 && message.operation !== Operation.ReadRequest)
        message.queuePair.end(message, EfaStatus.Ok)
    } else if (message.place === Place.Held && message.unacknowledged === 0 && message.retryAt === 0) {
      message.place = Place.Queued
      this.queue.unshift(message)
    }
  }

  /** The peer did not take a packet: its message fails, or waits until a receive may be there. */
  private refused(message: Message, offset: number, bytes: number): void {
    const { queuePair } = message
    if (this.refusal !== EfaStatus.RemoteRnr || !queuePair.triesAgain(message)) {
      queuePair.end(message, this.refusal as EfaStatus)
      return
    }
    message.retries++
    message.refusedBefore = message.refusedAt
    message.refusedAt = this.now
    message.sent = offset + bytes === message.bytes ? offset : message.sent
    message.isSent = false
    message.place = Place.Held
    message.retryAt = this.now + this.rnrDelayPs
    this.rnr.push(message)
  }

  // --- time

  /** When `handleTimeout` is wanted. */
  get wakeTime(): Time {
    const retryAt = this.rnr.first?.retryAt ?? NEVER
    return retryAt < this.nextTimeout ? retryAt : this.nextTimeout
  }

  /** Since when all that it does is to ask for receives, without end, at least twice; undefined: it does something else. */
  get receiveAwaitedSince(): Time | undefined {
    const { packets, queue, rnr } = this
    if (packets.flyingBytes > 0 || packets.lostCount > 0 || queue.length > 0 || rnr.length === 0) return undefined
    let since = NEVER
    rnr.forEach((message) => {
      since = Math.min(since, message.queuePair.triesForEver ? message.refusedBefore : 0)
    })
    return since === 0 ? undefined : since
  }

  override handleTimeout(now: Time): void {
    const before = this.timeouts
    super.handleTimeout(now)
    if (this.timeouts > before && this.timeouts === this.timeoutsBefore + IMPAIRED_AFTER) this.impairments++
    for (let message = this.rnr.first; message !== undefined && message.retryAt <= now; message = this.rnr.first) {
      this.rnr.shift()
      message.retryAt = 0
      this.add(now, message)
    }
    this.skipEnded()
  }
}

/** How far a number of 24 bits is after one without wrapping. */
const distance = (psn: number, number: number): number => ((psn - (number & PSN_MASK)) << 8) >> 8
