import { Layout, Packet, PacketPool } from "@rdmakit/packet"
import { parseRdmap, type Rdmap as RdmapHeader, type Terminate } from "@rdmakit/wire/rdmap"
import { Cause } from "./rdmap/Cause.ts"
import type { Inbound } from "./rdmap/Inbound.ts"
import type { Requester } from "./rdmap/Requester.ts"
import { Bit, putNumber, Rdmap } from "./rdmap/Segment.ts"

const { EXT } = Layout
const DDP_VERSION = 1
const RDMAP_VERSION = 1
const OPCODE_MAX = 11
/** Opcodes of tagged messages: WRITE and READ response. */
const TAGGED_OPCODES = 0b101
const QUEUES = 4
const UINT32 = 0xffff_ffffn
const ALL_BITS = 2n ** 64n - 1n

/** Takes DDP segments as they come: checks their numbers, and hands them to `Inbound` as it has them, a packet's record. */
export class SegmentReader {
  private readonly inbound: Inbound
  private readonly requester: Requester
  private readonly packet: Packet
  /** Messages of each untagged queue that have come (RFC 5041 §4.3), whole or not. */
  private readonly sequence = new Uint32Array(QUEUES)
  /** Octets of the SEND, and of the WRITE, that is coming; of the last WRITE, when it has come. */
  private sent = 0
  private sending = false
  private written = 0
  private writing = false
  /** READs and atomics that were answered, and octets of the READ that is being answered. */
  private answered = 0
  private responded = 0

  constructor(inbound: Inbound, requester: Requester) {
    this.inbound = inbound
    this.requester = requester
    const pool = new PacketPool({ capacity: 1 })
    this.packet = new Packet(pool).at(pool.alloc())
  }

  /** A Terminate has come, and this is what it says; undefined: the segment was taken, or has ended the connection. */
  take(ulpdu: Uint8Array): Terminate | undefined {
    const wrong = versionFault(ulpdu)
    if (wrong !== undefined) {
      this.inbound.refuse(wrong)
      return undefined
    }
    const parsed = parseRdmap(ulpdu)
    if (!parsed.ok) {
      this.inbound.refuse(parsed.error.field === "queue" ? Cause.UntaggedQueue : Cause.Operation)
      return undefined
    }
    const { value, payloadStart } = parsed
    if (value.kind === "terminate") return value.terminate
    const bytes = ulpdu.length - payloadStart
    const cause = this.place(value, bytes)
    if (cause !== undefined) {
      this.inbound.refuse(cause)
      return undefined
    }
    const { packet } = this
    packet.payloadBytes = 0
    if (bytes > 0) packet.borrowPayload(ulpdu, payloadStart, bytes)
    this.inbound.take(packet)
    return undefined
  }

  /** The number among the requests that are not answered, from 0, of the one with this message sequence number. */
  unansweredIndex(messageSequence: number): number {
    return messageSequence - 1 - this.answered
  }

  /** Fills the record; a cause: it cannot be. */
  private place(value: Exclude<RdmapHeader, { kind: "terminate" }>, bytes: number): Cause | undefined {
    const { packet } = this
    packet.pool.recycle(packet.handle)
    const at = packet.extend()
    const { extension } = packet.pool
    const put = (field: number, word: number): void => {
      extension[at + field] = word
    }
    const last = value.last ? Bit.Last : 0
    switch (value.kind) {
      case "write": {
        if (!this.writing) this.written = 0
        putNumber(extension, at + EXT.remoteAddress, value.sinkOffset)
        put(EXT.segment, Rdmap.Write | last)
        put(EXT.remoteKey, value.sinkStag)
        put(EXT.messageOffset, this.written)
        this.written += bytes
        this.writing = !value.last
        return value.sinkOffset + BigInt(bytes) > ALL_BITS ? Cause.TaggedWrap : undefined
      }
      case "send": {
        if (!this.sending) this.sequence[0]!++
        if (value.messageSequence !== this.sequence[0]) return Cause.Sequence
        if (value.messageOffset !== (this.sending ? this.sent : 0)) return Cause.Offset
        put(EXT.messageOffset, value.messageOffset)
        const invalidate = value.invalidatedStag !== undefined ? Bit.Invalidate : 0
        put(EXT.segment, Rdmap.Send | last | (value.solicited ? Bit.Solicited : 0) | invalidate)
        put(EXT.immediate, value.invalidatedStag ?? 0)
        this.sent = value.messageOffset + bytes
        this.sending = !value.last
        return undefined
      }
      case "immediate":
        if (this.sending || !this.isNext(0, value.messageSequence)) return Cause.Sequence
        put(EXT.segment, Rdmap.Write | last | Bit.Immediate | (value.solicited ? Bit.Solicited : 0))
        put(EXT.immediate, Number(value.data & UINT32))
        put(EXT.messageOffset, this.written)
        return undefined
      case "readRequest":
        if (!this.isNext(1, value.messageSequence)) return Cause.Sequence
        put(EXT.segment, Rdmap.ReadRequest | last)
        put(EXT.remoteKey, value.sourceStag)
        put(EXT.dmaLength, value.bytes)
        put(EXT.compare, value.sinkStag)
        putNumber(extension, at + EXT.remoteAddress, value.sourceOffset)
        putNumber(extension, at + EXT.swapAdd, value.sinkOffset)
        return undefined
      case "atomicRequest": {
        if (!this.isNext(1, value.messageSequence)) return Cause.Sequence
        const { operation } = value
        put(EXT.remoteKey, value.remoteStag)
        put(EXT.immediate, value.requestId)
        putNumber(extension, at + EXT.remoteAddress, value.remoteOffset)
        if (operation.kind === "fetchAdd" && operation.addMask === 0n) {
          put(EXT.segment, Rdmap.AtomicRequest | last)
          putNumber(extension, at + EXT.swapAdd, operation.add)
          return undefined
        }
        // Masks, and a SWAP of its own, are what the verbs have no requests for, nor `Memory` operations.
        if (operation.kind !== "compareSwap" || (operation.swapMask & operation.compareMask) !== ALL_BITS)
          return Cause.Operation
        put(EXT.segment, Rdmap.AtomicRequest | last | Bit.Swap)
        putNumber(extension, at + EXT.swapAdd, operation.swap)
        putNumber(extension, at + EXT.compare, operation.compare)
        return undefined
      }
      case "readResponse":
        return this.placeResponse(value, bytes, put)
      case "atomicResponse": {
        if (!this.isNext(3, value.messageSequence)) return Cause.Sequence
        if (value.requestId !== this.answered + 1) return Cause.Operation
        put(EXT.segment, Rdmap.AtomicResponse | last)
        putNumber(extension, at + EXT.compare, value.original)
        this.answered++
        return undefined
      }
    }
  }

  /** It goes where the READ wanted it, and all of it in order. */
  private placeResponse(
    { last, sinkStag, sinkOffset }: Extract<RdmapHeader, { kind: "readResponse" }>,
    bytes: number,
    put: (field: number, word: number) => void,
  ): Cause | undefined {
    const work = this.requester.awaited
    if (work === undefined) return Cause.Opcode
    const [sink] = work.request.sges
    if (bytes > 0 && sinkStag !== (sink?.lkey ?? 0) >>> 0) return Cause.TaggedKey
    const offset = bytes === 0 ? 0 : Number(sinkOffset - BigInt(sink?.address ?? 0))
    if (bytes > 0 && (offset !== this.responded || offset + bytes > work.bytes)) return Cause.TaggedBounds
    if (last && this.responded + bytes !== work.bytes) return Cause.TaggedBounds
    put(EXT.segment, Rdmap.ReadResponse | (last ? Bit.Last : 0))
    put(EXT.messageOffset, offset)
    this.responded = last ? 0 : this.responded + bytes
    if (last) this.answered++
    return undefined
  }

  private isNext(queue: number, messageSequence: number): boolean {
    this.sequence[queue]!++
    return messageSequence === this.sequence[queue]
  }
}

/** What is wrong with a header's versions or opcode, which a Terminate tells apart. */
const versionFault = (ulpdu: Uint8Array): Cause | undefined => {
  const [control = 0, ulpOctet = 0] = ulpdu
  const tagged = (control & 0x80) !== 0
  if ((control & 3) !== DDP_VERSION) return tagged ? Cause.TaggedVersion : Cause.UntaggedVersion
  if (ulpOctet >> 6 !== RDMAP_VERSION) return Cause.RdmapVersion
  const opcode = ulpOctet & 15
  if (opcode > OPCODE_MAX) return Cause.Opcode
  return tagged === (((TAGGED_OPCODES >> opcode) & 1) === 1) ? undefined : Cause.Opcode
}
