import { Flag, Layout, type Packet, PSN_MASK } from "@rdmakit/packet"
import { Access, MemoryFault, WcOpcode, WcStatus } from "@rdmakit/protocol"
import { Part, UC, ucParts } from "./Bth.ts"
import { wordOf } from "./Extension.ts"
import { Break, type QueuePairContext } from "./QueuePairContext.ts"
import type { ReceiveSide } from "./ReceiveSide.ts"

const { EXT } = Layout
const TWO_32 = 2 ** 32
const ADDRESS_END = 2 ** 53 - TWO_32
const MESSAGE_BYTES_MAX = 2 ** 31

/**
 * The receiver of an unreliable connection (IBTA 1.7 §9.8.2): a gap drops the message that it is in; the next message
 * begins with a first packet, whatever its number. What is wrong with a message drops it, and is told to nobody; the
 * receive that it had is the next message's. One that a receive is too short for ends the queue pair, as in Linux rxe.
 */
export class UnreliableReceiver {
  private readonly context: QueuePairContext
  private readonly receives: ReceiveSide
  private expected = 0
  private dropping = false
  private inMessage = 0
  private key = 0
  private address = 0
  private left = 0
  private length = 0

  constructor(context: QueuePairContext, receives: ReceiveSide) {
    this.context = context
    this.receives = receives
  }

  startAt(psn: number): void {
    this.expected = psn & PSN_MASK
    this.drop()
    this.dropping = false
  }

  handleRequest(packet: Packet): void {
    const parts = (packet.opcode & 0xe0) === UC ? ucParts[packet.opcode & 0x1f]! : 0
    if (parts === 0) return
    const starts = (parts & Part.Start) !== 0
    if (starts) {
      this.dropping = false
      this.inMessage = 0
    } else if (this.dropping || packet.psn !== this.expected || (parts & this.inMessage) === 0) {
      this.drop()
      return
    }
    this.expected = (packet.psn + 1) & PSN_MASK
    const taken = (parts & Part.Send) !== 0 ? this.takeSend(packet, parts) : this.takeWrite(packet, parts)
    if (!taken) {
      this.drop()
      return
    }
    this.inMessage = (parts & Part.End) !== 0 ? 0 : parts & (Part.Send | Part.Write)
  }

  private drop(): void {
    this.dropping = true
    this.inMessage = 0
  }

  private lengthFits(packet: Packet, parts: number): boolean {
    const { pathMtuBytes } = this.context.settings
    const bytes = packet.payloadBytes
    if (bytes > 0 && packet.payload === undefined) return false
    if ((parts & Part.End) === 0) return bytes === pathMtuBytes
    return bytes <= pathMtuBytes && (bytes > 0 || (parts & Part.Start) !== 0)
  }

  private takeSend(packet: Packet, parts: number): boolean {
    const { receives } = this
    const bytes = packet.payloadBytes
    if (!this.lengthFits(packet, parts)) return false
    if ((parts & Part.Start) !== 0 && !receives.begin()) return false
    if (!receives.fits(bytes)) return this.breakOff(WcStatus.LocQpOpErr)
    if (bytes > 0) {
      const { octets, start } = packet.payload!
      if (!receives.append(octets, start, bytes)) return this.breakOff(WcStatus.LocProtErr)
    }
    if ((parts & Part.End) !== 0) this.complete(packet, parts, WcOpcode.Recv, receives.filled)
    return true
  }

  /** The receive is too short, as Linux rxe tells of it, or its memory may not be written to: this side's error. */
  private breakOff(status: WcStatus): boolean {
    this.receives.fail(status)
    this.context.broken = Break.Error
    return false
  }

  private takeWrite(packet: Packet, parts: number): boolean {
    const { context, receives } = this
    const { memory, settings, user } = context
    const bytes = packet.payloadBytes
    const starts = (parts & Part.Start) !== 0
    if (!this.lengthFits(packet, parts)) return false
    if (starts && !this.open(packet, settings.accessFlags)) return false
    if ((parts & Part.End) !== 0 ? bytes !== this.left : bytes >= this.left) return false
    if ((parts & Part.Immediate) !== 0 && !receives.begin()) return false
    if (bytes > 0) {
      const { octets, start } = packet.payload!
      if (memory.write(user, this.key, true, this.address, octets, start, bytes) !== MemoryFault.None) return false
      this.address += bytes
      this.left -= bytes
    }
    if ((parts & Part.Immediate) !== 0) this.complete(packet, parts, WcOpcode.RecvRdmaWithImm, this.length)
    return true
  }

  /** Key and range of the whole message, from its first packet. */
  private open(packet: Packet, accessFlags: number): boolean {
    const { memory, user } = this.context
    if ((accessFlags & Access.RemoteWrite) === 0) return false
    const bytes = wordOf(packet, EXT.dmaLength)
    this.key = wordOf(packet, EXT.remoteKey)
    this.address = wordOf(packet, EXT.remoteAddress) * TWO_32 + wordOf(packet, EXT.remoteAddress + 1)
    this.left = bytes
    this.length = bytes
    if (bytes === 0) return true
    if (bytes > MESSAGE_BYTES_MAX || this.address >= ADDRESS_END) return false
    return memory.check(user, this.key, true, Access.RemoteWrite, this.address, bytes) === MemoryFault.None
  }

  private complete(packet: Packet, parts: number, opcode: WcOpcode, byteLength: number): void {
    this.receives.complete({
      opcode,
      byteLength,
      immediate: (parts & Part.Immediate) !== 0 ? wordOf(packet, EXT.immediate) : undefined,
      invalidatedKey: undefined,
      sourceQp: 0,
      solicited: packet.has(Flag.Solicited),
    })
  }
}
