import { Ecn, Flag, Layout, type Packet, PSN_MASK } from "@rdmakit/packet"
import { type PeerPath, type Time, WrOpcode } from "@rdmakit/protocol"
import { Bth, frameBytes } from "./Bth.ts"
import { PathHeader } from "./PathHeader.ts"
import { Requester } from "./Requester.ts"
import { Kind, type SendWork } from "./SendQueue.ts"

const { EXT } = Layout

/** The requester of an unreliable connection: a message is complete when its last packet has left (IBTA 1.7 §9.8.1). */
export class UnreliableRequester extends Requester {
  get hasData(): boolean {
    return this.ready
  }

  /** UC has SEND and RDMA WRITE alone on the wire (IBTA 1.7 §9.8). */
  protected override serves(work: SendWork): boolean {
    const message = work.kind === Kind.Message && work.request.opcode !== WrOpcode.SendWithInv
    return message || work.kind === Kind.Local
  }

  /** Sends a packet of the current work. False: nothing was sent. */
  fill(now: Time, out: Packet): boolean {
    const work = this.queue.current!
    if (!this.fillMessage(now, out, work, false)) return false
    out.clear(Flag.AckRequest)
    work.started = true
    this.nxt++
    if (this.nxt === work.end) {
      work.done = true
      this.queue.advance()
    }
    this.settle(now)
    return true
  }
}

/** Q_Keys with this bit are not sent: the queue pair's own is (IBTA 1.7 §3.5.3, keys). */
const CONTROLLED = 0x8000_0000
/** Management packets to and from queue pair 1 (IBTA vol. 1, ch. 13). */
export const GSI_QPN = 1
export const GSI_QUEUE_KEY = 0x8001_0000

/** The requester of datagrams: one packet each, to whom the work request says (IBTA 1.7 §9.8.2). */
export class DatagramRequester extends Requester {
  private readonly header = new PathHeader()

  get hasData(): boolean {
    return this.ready
  }

  /** Where the next packet goes. */
  get path(): PeerPath | undefined {
    return this.ready ? this.queue.current?.request.datagram?.path : undefined
  }

  protected override serves({ request: { datagram, opcode } }: SendWork): boolean {
    return datagram !== undefined && (opcode === WrOpcode.Send || opcode === WrOpcode.SendWithImm)
  }

  override settle(now: Time): void {
    super.settle(now)
    // A message longer than the path MTU is not sent, and no error (IBTA vol. 1, C10-93.1.1).
    while (this.ready && this.queue.current!.bytes > this.context.settings.pathMtuBytes) {
      this.queue.current!.done = true
      this.nxt++
      this.queue.advance()
      super.settle(now)
    }
  }

  /** Sends the current work. False: nothing was sent. */
  fill(now: Time, out: Packet): boolean {
    const { context, header, nxt, queue } = this
    const work = queue.current!
    const { request, bytes } = work
    const datagram = request.datagram!
    if (bytes > 0 && !this.copyPayload(out, work, 0, bytes)) {
      this.lose(now, out, work)
      return false
    }
    const opcode = request.opcode === WrOpcode.Send ? Bth.UdSendOnly : Bth.UdSendOnlyImmediate
    header.set(datagram.path)
    const flags = request.solicited === true ? Flag.Solicited : 0
    header.put(out, opcode | flags, datagram.qpn, context.settings.partition, Ecn.NotCapable)
    const at = out.extend()
    const { extension } = out.pool
    extension[at + EXT.queueKey] = this.queueKeyOf(datagram.queueKey)
    extension[at + EXT.sourceQp] = context.qpn
    extension[at + EXT.immediate] = request.immediate ?? 0
    out.psn = nxt & PSN_MASK
    out.payloadBytes = bytes
    out.wireBytes = frameBytes(opcode, bytes, header.ipv6)
    out.stamp = now
    work.done = true
    this.nxt = nxt + 1
    queue.advance()
    this.settle(now)
    return true
  }

  private queueKeyOf(key: number): number {
    if (this.context.qpn === GSI_QPN) return GSI_QUEUE_KEY
    return (key & CONTROLLED) !== 0 ? this.context.settings.queueKey : key
  }
}
