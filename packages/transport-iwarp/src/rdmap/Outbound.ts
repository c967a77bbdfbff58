import { Layout, type Packet } from "@rdmakit/packet"
import { MemoryFault, moveSges, type Time, WrOpcode } from "@rdmakit/protocol"
import { Cause } from "./Cause.ts"
import type { Context } from "./Context.ts"
import type { MessageStream } from "./Dialect.ts"
import { Bit, moreHeaderBytes, putNumber, Rdmap } from "./Segment.ts"
import { Kind, type SendWork } from "./SendWork.ts"

const { EXT } = Layout

/** A message of RDMAP on its way to the peer. */
export interface Outgoing {
  /** Its opcode, and the bits that its last segment has besides. */
  readonly opcode: Rdmap
  readonly lastBits: number
  /** Payload, bytes. */
  readonly bytes: number
  /** The request it comes from; undefined: it answers one of the peer's. */
  readonly work: SendWork | undefined
  /** Of a WRITE or a request where at the peer, of a READ's response where here: key, and address in two words. */
  readonly key: number
  readonly addressHigh: number
  readonly addressLow: number
  /** What an atomic found. */
  readonly original: bigint
  /** Of an answer: where a READ's octets go at the peer, and the number of an atomic, as the request has said. */
  readonly sinkKey: number
  readonly sinkOffset: bigint
  readonly requestId: number
  /** All of it has left once. */
  sent: boolean
}

const NO_SINK = { sinkKey: 0, sinkOffset: 0n, requestId: 0 }
const NO_ADDRESS = { key: 0, addressHigh: 0, addressLow: 0, original: 0n, ...NO_SINK }

/** The message that a work request is. */
const messageOf = (work: SendWork): Outgoing => {
  const { request, bytes } = work
  const remote = {
    work,
    key: request.remoteKey ?? 0,
    addressHigh: work.remoteHigh,
    addressLow: work.remoteLow,
    original: 0n,
    ...NO_SINK,
    sent: false,
  }
  if (work.kind === Kind.Read) return { ...remote, opcode: Rdmap.ReadRequest, lastBits: 0, bytes: 0 }
  if (work.kind === Kind.Atomic) {
    const lastBits = request.opcode === WrOpcode.AtomicCmpAndSwp ? Bit.Swap : 0
    return { ...remote, opcode: Rdmap.AtomicRequest, lastBits, bytes: 0 }
  }
  const { opcode } = request
  const immediate = opcode === WrOpcode.SendWithImm || opcode === WrOpcode.RdmaWriteWithImm ? Bit.Immediate : 0
  const invalidate = opcode === WrOpcode.SendWithInv ? Bit.Invalidate : 0
  const lastBits = immediate | invalidate | (request.solicited === true ? Bit.Solicited : 0)
  const write = opcode === WrOpcode.RdmaWrite || opcode === WrOpcode.RdmaWriteWithImm
  return { ...remote, opcode: write ? Rdmap.Write : Rdmap.Send, lastBits, bytes }
}

/** The answer to an atomic. */
export const atomicResponse = (original: bigint, requestId: number): Outgoing => ({
  ...NO_ADDRESS,
  requestId,
  opcode: Rdmap.AtomicResponse,
  lastBits: 0,
  bytes: 0,
  work: undefined,
  original,
  sent: false,
})

/** The answer to a READ of so many bytes here. */
export const readResponse = (
  key: number,
  address: number,
  bytes: number,
  sinkKey: number,
  sinkOffset: bigint,
): Outgoing => ({
  opcode: Rdmap.ReadResponse,
  lastBits: 0,
  bytes,
  work: undefined,
  key,
  addressHigh: Math.floor(address / 2 ** 32),
  addressLow: address % 2 ** 32,
  original: 0n,
  sinkKey,
  sinkOffset,
  requestId: 0,
  sent: false,
})

/** The messages that a stream has, and those that wait to be given to it: answers to the peer. */
export class Outbound {
  private readonly context: Context
  private readonly given = new Map<number, Outgoing>()
  private next = 0
  private answers: Array<Outgoing> = []
  /**
   * Answers that have not left whole. The peer counts those that have not come whole, and takes its next request's turn
   * before it is known here that they have: so they are not counted until they are acknowledged.
   */
  answering = 0

  constructor(context: Context) {
    this.context = context
  }

  get answersWait(): boolean {
    return this.answers.length > 0
  }
  get empty(): boolean {
    return this.given.size === 0 && this.answers.length === 0
  }
  /** What the peer has not taken that was sent first. */
  get oldest(): Outgoing | undefined {
    for (const message of this.given.values()) return message
    return undefined
  }

  answer(message: Outgoing): void {
    this.answering++
    this.answers.push(message)
  }

  giveAnswer(now: Time, stream: MessageStream): void {
    const answer = this.answers.shift()
    if (answer !== undefined) this.give(now, stream, answer)
  }
  giveWork(now: Time, stream: MessageStream, work: SendWork): void {
    this.give(now, stream, messageOf(work))
  }

  private give(now: Time, stream: MessageStream, message: Outgoing): void {
    const number = this.next++
    this.given.set(number, message)
    stream.command(now, { message: number, writeBytes: message.bytes })
  }

  /** The peer has taken a message whole. */
  taken(number: number): Outgoing | undefined {
    const message = this.given.get(number)
    this.given.delete(number)
    return message
  }

  clear(): void {
    this.given.clear()
    this.answers = []
    this.answering = 0
  }

  // --- segments

  fill(out: Packet, number: number, offset: number, bytes: number, last: boolean): number {
    const message = this.given.get(number)!
    const { opcode, work, key } = message
    if (bytes > 0) {
      const { octets, start } = out.addPayload(bytes)
      if (!this.copyPayload(message, offset, bytes, octets, start)) {
        out.pool.recycle(out.handle)
        return -1
      }
    }
    const at = out.extend()
    const { extension } = out.pool
    const segment = opcode | (last ? Bit.Last | message.lastBits : 0)
    extension[at + EXT.segment] = segment | Bit.Stream
    extension[at + EXT.messageOffset] = offset
    const low = message.addressLow + offset
    extension[at + EXT.remoteAddress] = message.addressHigh + (low >= 2 ** 32 ? 1 : 0)
    extension[at + EXT.remoteAddress + 1] = low
    extension[at + EXT.remoteKey] = key
    if (opcode === Rdmap.AtomicResponse) putNumber(extension, at + EXT.compare, message.original)
    if (work !== undefined) this.fillRequest(extension, at, work, segment)
    if (last) this.left(message)
    return moreHeaderBytes(segment)
  }

  /** A message has left whole, perhaps not for the first time. */
  left(message: Outgoing): void {
    if (message.work === undefined && !message.sent) this.answering--
    message.sent = true
  }

  /** A message that was given to the stream under this number. */
  at(number: number): Outgoing {
    return this.given.get(number)!
  }

  private fillRequest(extension: Int32Array, at: number, work: SendWork, segment: number): void {
    const { request } = work
    if ((segment & (Bit.Immediate | Bit.Invalidate)) !== 0)
      extension[at + EXT.immediate] =
        ((segment & Bit.Invalidate) !== 0 ? request.invalidateKey : request.immediate) ?? 0
    if (work.kind === Kind.Read) extension[at + EXT.dmaLength] = work.bytes
    if (work.kind !== Kind.Atomic) return
    const swap = (segment & Bit.Swap) !== 0
    putNumber(extension, at + EXT.swapAdd, (swap ? request.swap : request.compareAdd) ?? 0n)
    if (swap) putNumber(extension, at + EXT.compare, request.compareAdd ?? 0n)
  }

  /** A payload from memory; false: some of it may not be read any more, which ends the connection. */
  copyPayload(message: Outgoing, offset: number, bytes: number, octets: Uint8Array, start: number): boolean {
    const { memory, user, dialect } = this.context
    const { work } = message
    if (work === undefined) {
      const address = message.addressHigh * 2 ** 32 + message.addressLow + offset
      if (memory.read(user, message.key, true, address, bytes, octets, start) === MemoryFault.None) return true
      this.context.broken = Cause.Access
      return false
    }
    const { inline, sges } = work.request
    if (inline !== undefined) {
      octets.set(inline.subarray(offset, offset + bytes), start)
      return true
    }
    const fault = moveSges(memory, user, sges, offset, bytes, octets, start, false)
    if (fault === MemoryFault.None) return true
    work.failure = dialect.failures.send(fault)
    this.context.broken = Cause.Local
    return false
  }
}
