import { Ecn, Flag, Layout, type Packet, PSN_MASK, packetsOf, psnDistance } from "@rdmakit/packet"
import { Access, MemoryFault, type Time, WcOpcode, WcStatus } from "@rdmakit/protocol"
import { Syndrome } from "./Aeth.ts"
import { Bth, Part, rcParts } from "./Bth.ts"
import { numberOf, wordOf } from "./Extension.ts"
import { Break, type QueuePairContext } from "./QueuePairContext.ts"
import type { ReceiveSide } from "./ReceiveSide.ts"
import { Replies } from "./Replies.ts"

const { EXT } = Layout
const TWO_32 = 2 ** 32
const ADDRESS_END = 2 ** 53 - TWO_32
/** Longest message, bytes (IBTA vol. 1, C9-94). */
const MESSAGE_BYTES_MAX = 2 ** 31
const ATOMIC_BYTES = 8
const NONE = -1

/**
 * The responder of a reliable connection (IBTA 1.7 §9.7.4, §9.9.3): it takes packets in order, checks each before it
 * touches memory, and answers by acknowledgements, NAKs and responses.
 *
 * After an error nothing more is taken; what was accepted before is still answered, then the NAK is sent.
 */
export class Responder {
  readonly replies: Replies
  protected readonly context: QueuePairContext
  private readonly receives: ReceiveSide
  /** Number of the packet it expects. */
  expected = 0
  /** A NAK told of the gap, or of the missing receive: until the expected packet comes, others are dropped in silence. */
  protected nakSent = false
  /** The last packet that came again, of those in a row; NONE: what came last was new. */
  private duplicate = NONE
  /** The message that is coming, `Part.Send` or `Part.Write`; 0: none. */
  private inMessage = 0
  /** Of a WRITE: where its next byte goes, bytes to come, its length. */
  private key = 0
  private address = 0
  private left = 0
  private length = 0

  constructor(context: QueuePairContext, receives: ReceiveSide) {
    this.context = context
    this.receives = receives
    this.replies = new Replies(context, receives)
  }

  startAt(psn: number): void {
    this.expected = psn & PSN_MASK
    this.nakSent = false
    this.inMessage = 0
    this.replies.reset()
  }

  /** What is owed to the peer is forgotten. */
  close(): void {
    this.replies.reset()
  }

  /** A request came. */
  handleRequest(now: Time, packet: Packet): void {
    const distance = psnDistance(packet.psn, this.expected & PSN_MASK)
    if (packet.ecn === Ecn.Experienced) this.replies.mark()
    if (distance === 0) {
      this.nakSent = false
      this.duplicate = NONE
      this.replies.supersede()
      this.take(now, packet)
    } else if (distance < 0) {
      this.takeDuplicate(packet, this.expected + distance)
    } else if (!this.nakSent) {
      // Of a gap one NAK tells (IBTA vol. 1, ch. 9, PSN sequence errors).
      this.nakSent = true
      this.replies.answer(packet, Syndrome.NakSequence, this.expected)
    }
  }

  /** The expected packet: opcode, length, key, then memory (IBTA 1.7 §9.7.4). */
  protected take(now: Time, packet: Packet): void {
    const parts = packet.opcode < rcParts.length ? rcParts[packet.opcode]! : 0
    if (!this.inSequence(parts)) {
      this.refuse(packet, Syndrome.NakInvalidRequest, WcStatus.RemInvReqErr)
      return
    }
    if ((parts & Part.Send) !== 0) this.takeSend(packet, parts)
    else if ((parts & Part.Write) !== 0) this.takeWrite(packet, parts)
    else this.takeResponding(now, packet, parts)
  }

  /** A message's packets follow each other (IBTA vol. 1, ch. 9, opcode sequence). */
  private inSequence(parts: number): boolean {
    if (parts === 0) return false
    const starts = (parts & Part.Start) !== 0
    return this.inMessage === 0 ? starts : !starts && (parts & this.inMessage) !== 0
  }

  /** First and middle packets are full, last ones not empty (IBTA vol. 1, C9-92). */
  private lengthFits(packet: Packet, parts: number): boolean {
    const { pathMtuBytes } = this.context.settings
    const bytes = packet.payloadBytes
    if (bytes > 0 && packet.payload === undefined) return false
    if ((parts & Part.End) === 0) return bytes === pathMtuBytes
    return bytes <= pathMtuBytes && (bytes > 0 || (parts & Part.Start) !== 0)
  }

  private takeSend(packet: Packet, parts: number): void {
    const { receives } = this
    if ((parts & Part.Start) !== 0 && !receives.begin()) {
      this.holdBack(packet)
      return
    }
    const bytes = packet.payloadBytes
    if (!this.lengthFits(packet, parts)) {
      this.refuse(packet, Syndrome.NakInvalidRequest, WcStatus.RemInvReqErr)
      return
    }
    if (!receives.fits(bytes)) {
      // Longer than the receive. The IBTA has a length error and an invalid request (1.7 §9.9.3); Linux rxe, whose word
      // counts here, finds that the receive does not do, and says so on both sides.
      this.refuse(packet, Syndrome.NakRemoteOperational, WcStatus.LocQpOpErr)
      return
    }
    if (bytes > 0) {
      const { octets, start } = packet.payload!
      if (!receives.append(octets, start, bytes)) {
        this.refuse(packet, Syndrome.NakRemoteOperational, WcStatus.LocProtErr)
        return
      }
    }
    if ((parts & Part.Invalidate) !== 0 && !this.invalidate(packet)) return
    this.accepted(packet, parts, Part.Send)
    if ((parts & Part.End) !== 0) this.completeReceive(packet, parts, WcOpcode.Recv, receives.filled)
  }

  /** SEND with invalidate. A key that cannot be is an error of this side alone (IBTA 1.7 §9.9.3, class J). */
  private invalidate(packet: Packet): boolean {
    const { memory, user } = this.context
    if (memory.invalidate(user, wordOf(packet, EXT.immediate), true) === MemoryFault.None) return true
    this.accepted(packet, Part.End, 0)
    this.breakOff(WcStatus.RemInvReqErr, false)
    return false
  }

  private takeWrite(packet: Packet, parts: number): void {
    const { context, receives } = this
    const { settings, memory, user } = context
    const bytes = packet.payloadBytes
    const starts = (parts & Part.Start) !== 0
    if (starts && (settings.accessFlags & Access.RemoteWrite) === 0) {
      this.refuse(packet, Syndrome.NakInvalidRequest, WcStatus.RemInvReqErr)
      return
    }
    if ((parts & Part.Immediate) !== 0 && !receives.begin()) {
      this.holdBack(packet)
      return
    }
    const left = starts ? wordOf(packet, EXT.dmaLength) : this.left
    const whole = (parts & Part.End) !== 0 ? bytes === left : bytes < left
    if (!this.lengthFits(packet, parts) || !whole || left > MESSAGE_BYTES_MAX) {
      this.refuse(packet, Syndrome.NakInvalidRequest, WcStatus.RemInvReqErr)
      return
    }
    if (starts) {
      if (!this.openRemote(packet, left, Access.RemoteWrite)) return
      this.left = left
      this.length = left
    }
    if (bytes > 0) {
      const { octets, start } = packet.payload!
      if (memory.write(user, this.key, true, this.address, octets, start, bytes) !== MemoryFault.None) {
        this.refuse(packet, Syndrome.NakRemoteAccess, WcStatus.RemAccessErr)
        return
      }
      this.address += bytes
      this.left -= bytes
    }
    this.accepted(packet, parts, Part.Write)
    if ((parts & Part.Immediate) !== 0) this.completeReceive(packet, parts, WcOpcode.RecvRdmaWithImm, this.length)
  }

  /** Reads RETH's or AtomicETH's key and address, and checks them for all bytes; of no bytes nothing is checked. */
  private openRemote(packet: Packet, bytes: number, access: number): boolean {
    const { memory, user } = this.context
    this.key = wordOf(packet, EXT.remoteKey)
    this.address = wordOf(packet, EXT.remoteAddress) * TWO_32 + wordOf(packet, EXT.remoteAddress + 1)
    if (bytes === 0) return true
    const legal = this.address < ADDRESS_END
    if (legal && memory.check(user, this.key, true, access, this.address, bytes) === MemoryFault.None) return true
    this.refuse(packet, Syndrome.NakRemoteAccess, WcStatus.RemAccessErr)
    return false
  }

  /** READ, atomic, ATOMIC_WRITE. */
  private takeResponding(_now: Time, packet: Packet, parts: number): void {
    const { accessFlags, responderResources } = this.context.settings
    const access =
      (parts & Part.Read) !== 0
        ? Access.RemoteRead
        : (parts & Part.Atomic) !== 0
          ? Access.RemoteAtomic
          : Access.RemoteWrite
    const refused = (parts & Part.Response) !== 0 || (accessFlags & access) === 0 || responderResources === 0
    if (refused || packet.payloadBytes > 0 !== ((parts & Part.AtomicWrite) !== 0)) {
      this.refuse(packet, Syndrome.NakInvalidRequest, WcStatus.RemInvReqErr)
      return
    }
    if ((parts & Part.Read) !== 0) this.takeRead(packet)
    else this.takeAtomic(packet, parts, access)
  }

  private takeRead(packet: Packet): void {
    const bytes = wordOf(packet, EXT.dmaLength)
    if (bytes > MESSAGE_BYTES_MAX) {
      this.refuse(packet, Syndrome.NakInvalidRequest, WcStatus.RemInvReqErr)
      return
    }
    if (!this.openRemote(packet, bytes, Access.RemoteRead)) return
    const packets = packetsOf(bytes, this.context.settings.pathMtuBytes)
    const { expected, replies } = this
    if (!replies.accept(Bth.ReadRequest, expected, packets, this.address, bytes, this.key)) {
      this.refuse(packet, Syndrome.NakInvalidRequest, WcStatus.RemInvReqErr)
      return
    }
    // A READ counts as completed when it is accepted (IBTA vol. 1, ch. 9, message sequence number).
    replies.completedMessage()
    this.expected = expected + packets
    this.inMessage = 0
  }

  private takeAtomic(packet: Packet, parts: number, access: number): void {
    const { context, expected, replies } = this
    if (!this.openRemote(packet, ATOMIC_BYTES, access)) return
    const { memory, user } = context
    if (this.address % ATOMIC_BYTES !== 0) {
      this.refuse(packet, Syndrome.NakInvalidRequest, WcStatus.RemInvReqErr)
      return
    }
    if (!replies.accept(packet.opcode, expected, 1, this.address, 0, this.key)) {
      this.refuse(packet, Syndrome.NakInvalidRequest, WcStatus.RemInvReqErr)
      return
    }
    let fault: MemoryFault
    if ((parts & Part.AtomicWrite) !== 0) {
      const payload = packet.payload
      const legal = payload !== undefined && packet.payloadBytes === ATOMIC_BYTES
      fault = legal
        ? memory.write(user, this.key, true, this.address, payload.octets, payload.start, ATOMIC_BYTES)
        : MemoryFault.Alignment
    } else if (packet.opcode === Bth.CompareSwap) {
      const compare = numberOf(packet, EXT.compare)
      fault = memory.compareAndSwap(user, this.key, this.address, compare, numberOf(packet, EXT.swapAdd))
      replies.keepOriginal(memory.original)
    } else {
      fault = memory.fetchAndAdd(user, this.key, this.address, numberOf(packet, EXT.swapAdd))
      replies.keepOriginal(memory.original)
    }
    if (fault !== MemoryFault.None) {
      replies.giveUp()
      if (fault === MemoryFault.Alignment) this.refuse(packet, Syndrome.NakInvalidRequest, WcStatus.RemInvReqErr)
      else this.refuse(packet, Syndrome.NakRemoteAccess, WcStatus.RemAccessErr)
      return
    }
    replies.completedMessage()
    this.expected = expected + 1
    this.inMessage = 0
  }

  private accepted(packet: Packet, parts: number, message: number): void {
    this.expected++
    const ends = (parts & Part.End) !== 0
    this.inMessage = ends ? 0 : message
    if (ends) this.replies.completedMessage()
    if (packet.has(Flag.AckRequest)) this.replies.answer(packet, Syndrome.Ack, this.expected - 1)
  }

  private completeReceive(packet: Packet, parts: number, opcode: WcOpcode, byteLength: number): void {
    const trailer = (parts & (Part.Immediate | Part.Invalidate)) === 0 ? 0 : wordOf(packet, EXT.immediate)
    this.receives.complete({
      opcode,
      byteLength,
      immediate: (parts & Part.Immediate) !== 0 ? trailer : undefined,
      invalidatedKey: (parts & Part.Invalidate) !== 0 ? trailer : undefined,
      sourceQp: 0,
      solicited: packet.has(Flag.Solicited),
    })
  }

  // --- errors

  /** No receive is posted (IBTA 1.7 §9.7.5.2.8). */
  private holdBack(packet: Packet): void {
    this.nakSent = true
    this.replies.answer(packet, Syndrome.Rnr | this.context.settings.minRnrTimer, this.expected)
  }

  /** A NAK that ends the connection (IBTA 1.7 §9.9.3, class C and A); `status` is of the receive in use. */
  private refuse(packet: Packet, syndrome: number, status: WcStatus): void {
    this.replies.answer(packet, syndrome, this.expected)
    this.breakOff(status, syndrome === Syndrome.NakRemoteAccess)
  }

  /** The queue pair ends; whoever has no receive to tell of it has the asynchronous event (IBTA 1.7 §11.6.3). */
  private breakOff(status: WcStatus, access: boolean): void {
    const told = this.receives.fail(status)
    if (access) this.context.raise("QP_ACCESS_ERR")
    else if (!told) this.context.raise("QP_REQ_ERR")
    this.context.broken = Break.Error
  }

  // --- duplicates

  /** A request that was taken before (IBTA vol. 1, C9-105): acknowledged again, answered again, never carried out again. */
  private takeDuplicate(packet: Packet, number: number): void {
    const parts = packet.opcode < rcParts.length ? rcParts[packet.opcode]! : 0
    if ((parts & (Part.Send | Part.Write)) !== 0) {
      const begins = number !== this.duplicate + 1
      this.duplicate = number
      // One acknowledgement tells of all that came again in a row; whoever sent it may be too slow to take more.
      if (begins || packet.has(Flag.AckRequest)) this.replies.acknowledgeAgain(packet, this.expected - 1)
    } else if (parts !== 0 && (parts & Part.Response) === 0) {
      this.replies.replay(packet, number)
    }
  }
}
