import { Layout, type Packet } from "@rdmakit/packet"
import { Access, MemoryFault, WcOpcode } from "@rdmakit/protocol"
import { Cause, requestCause, taggedCause } from "./Cause.ts"
import type { Context } from "./Context.ts"
import { atomicResponse, type Outbound, readResponse } from "./Outbound.ts"
import type { Receives } from "./Receives.ts"
import type { Requester } from "./Requester.ts"
import { Bit, numberOf, Rdmap, remoteAddressOf, wordOf } from "./Segment.ts"
import { Kind } from "./SendWork.ts"

const { EXT } = Layout
const ATOMIC_BYTES = 8

/**
 * Takes the peer's segments in order: SENDs go to receives, WRITEs to memory, requests are answered, answers go to whoever
 * asked. Each is checked before memory is touched, and what may not be ends the connection (RFC 5040 §7).
 */
export class Inbound {
  private readonly context: Context
  private readonly receives: Receives
  private readonly requester: Requester
  private readonly outbound: Outbound

  constructor(context: Context, receives: Receives, requester: Requester, outbound: Outbound) {
    this.context = context
    this.receives = receives
    this.requester = requester
    this.outbound = outbound
  }

  /** False: it has to wait for a receive, or has ended the connection. */
  take(packet: Packet): boolean {
    if (this.context.broken !== undefined) return false
    const segment = wordOf(packet, EXT.segment)
    switch (segment & Bit.Opcode) {
      case Rdmap.Send:
        return this.takeSend(packet, segment)
      case Rdmap.Write:
        return this.takeWrite(packet, segment)
      case Rdmap.ReadRequest:
        return this.takeRead(packet)
      case Rdmap.ReadResponse:
        return this.takeReadResponse(packet, segment)
      case Rdmap.AtomicRequest:
        return this.takeAtomic(packet, segment)
      case Rdmap.AtomicResponse:
        return this.takeAtomicResponse(packet)
      default:
        return this.refuse(Cause.Opcode)
    }
  }

  private takeSend(packet: Packet, segment: number): boolean {
    const { receives, context } = this
    if (!receives.begin()) return this.lacksReceive()
    const { failures } = context.dialect
    const offset = wordOf(packet, EXT.messageOffset)
    const fault = this.copyIn(packet, (octets, start, bytes) => receives.write(offset, octets, start, bytes))
    if (fault !== MemoryFault.None) {
      receives.fail(failures.receive(fault))
      return this.refuse(fault === MemoryFault.Bounds ? Cause.TooLong : Cause.Local)
    }
    if ((segment & Bit.Last) === 0) return true
    if ((segment & Bit.Invalidate) !== 0) {
      const { memory, user } = context
      if (memory.invalidate(user, wordOf(packet, EXT.immediate), true) !== MemoryFault.None) {
        receives.fail(failures.general)
        return this.refuse(Cause.CannotInvalidate)
      }
    }
    this.completeReceive(packet, segment, WcOpcode.Recv, offset + packet.payloadBytes)
    return true
  }

  private takeWrite(packet: Packet, segment: number): boolean {
    const { memory, settings, user } = this.context
    if ((settings.accessFlags & Access.RemoteWrite) === 0) return this.refuse(Cause.Access)
    const immediate = (segment & Bit.Immediate) !== 0
    if (immediate && !this.receives.begin()) return this.lacksReceive()
    const key = wordOf(packet, EXT.remoteKey)
    const address = remoteAddressOf(packet)
    const fault =
      packet.payloadBytes > 0 && address === Infinity
        ? MemoryFault.Bounds
        : this.copyIn(packet, (octets, start, bytes) => memory.write(user, key, true, address, octets, start, bytes))
    if (fault !== MemoryFault.None) return this.refuse(taggedCause(fault))
    if (immediate) {
      const bytes = wordOf(packet, EXT.messageOffset) + packet.payloadBytes
      this.completeReceive(packet, segment, WcOpcode.RecvRdmaWithImm, bytes)
    }
    return true
  }

  private copyIn(packet: Packet, copy: (octets: Uint8Array, start: number, bytes: number) => MemoryFault): MemoryFault {
    const bytes = packet.payloadBytes
    if (bytes === 0) return MemoryFault.None
    const { payload } = packet
    return payload === undefined ? MemoryFault.Key : copy(payload.octets, payload.start, bytes)
  }

  private completeReceive(packet: Packet, segment: number, opcode: WcOpcode, byteLength: number): void {
    const trailer = wordOf(packet, EXT.immediate)
    this.receives.complete({
      opcode,
      byteLength,
      immediate: (segment & Bit.Immediate) !== 0 ? trailer : undefined,
      invalidatedKey: (segment & Bit.Invalidate) !== 0 ? trailer : undefined,
      solicited: (segment & Bit.Solicited) !== 0,
    })
  }

  // --- requests that are answered

  /** Whether a request may come in; one more than was agreed on ends the connection (RFC 5040 §5.2.1). */
  private admits(access: number): boolean {
    const { accessFlags, responderResources } = this.context.settings
    if ((accessFlags & access) === 0) return this.refuse(Cause.Access)
    return this.outbound.answering < responderResources || this.refuse(Cause.Operation)
  }

  private takeRead(packet: Packet): boolean {
    if (!this.admits(Access.RemoteRead)) return false
    const { memory, user } = this.context
    const key = wordOf(packet, EXT.remoteKey)
    const bytes = wordOf(packet, EXT.dmaLength)
    const address = bytes === 0 ? 0 : remoteAddressOf(packet)
    const fault =
      address === Infinity ? MemoryFault.Bounds : memory.check(user, key, true, Access.RemoteRead, address, bytes)
    if (fault !== MemoryFault.None) return this.refuse(requestCause(fault))
    const sinkKey = wordOf(packet, EXT.compare)
    this.outbound.answer(readResponse(key, address, bytes, sinkKey, numberOf(packet, EXT.swapAdd)))
    return true
  }

  private takeAtomic(packet: Packet, segment: number): boolean {
    if (!this.admits(Access.RemoteAtomic)) return false
    const { memory, user } = this.context
    const key = wordOf(packet, EXT.remoteKey)
    const address = remoteAddressOf(packet)
    if (address === Infinity || address % ATOMIC_BYTES !== 0) return this.refuse(requestCause(MemoryFault.Bounds))
    const wrong = memory.check(user, key, true, Access.RemoteAtomic, address, ATOMIC_BYTES)
    if (wrong !== MemoryFault.None) return this.refuse(requestCause(wrong))
    const operand = numberOf(packet, EXT.swapAdd)
    const fault =
      (segment & Bit.Swap) !== 0
        ? memory.compareAndSwap(user, key, address, numberOf(packet, EXT.compare), operand)
        : memory.fetchAndAdd(user, key, address, operand)
    if (fault !== MemoryFault.None) return this.refuse(requestCause(fault))
    this.outbound.answer(atomicResponse(memory.original, wordOf(packet, EXT.immediate)))
    return true
  }

  // --- answers

  private takeReadResponse(packet: Packet, segment: number): boolean {
    const { requester } = this
    const work = requester.awaited
    if (work?.kind !== Kind.Read) return this.refuse(Cause.Opcode)
    const offset = wordOf(packet, EXT.messageOffset)
    const bytes = packet.payloadBytes
    if (offset + bytes > work.bytes) return this.refuse(Cause.TaggedBounds)
    if (bytes > 0) {
      const { payload } = packet
      if (payload === undefined || !requester.place(offset, payload.octets, payload.start, bytes)) return false
    }
    if ((segment & Bit.Last) !== 0) requester.finishRead()
    return true
  }

  private takeAtomicResponse(packet: Packet): boolean {
    const { requester } = this
    if (requester.awaited?.kind !== Kind.Atomic) return this.refuse(Cause.Opcode)
    if (!requester.placeOriginal(numberOf(packet, EXT.compare))) return false
    requester.finishRead()
    return true
  }

  private lacksReceive(): false {
    return this.context.dialect.waitsForReceives ? false : this.refuse(Cause.NoReceive)
  }

  /** Ends the connection. */
  refuse(cause: Cause): false {
    this.context.broken = cause
    this.context.raise("QP_FATAL")
    return false
  }
}
