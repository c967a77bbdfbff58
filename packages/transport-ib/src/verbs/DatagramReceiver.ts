import { Flag, Layout, type Packet } from "@rdmakit/packet"
import { WcOpcode, WcStatus } from "@rdmakit/protocol"
import { Bth } from "./Bth.ts"
import { wordOf } from "./Extension.ts"
import { Break, type QueuePairContext } from "./QueuePairContext.ts"
import type { ReceiveSide } from "./ReceiveSide.ts"
import { GSI_QPN, GSI_QUEUE_KEY } from "./UnreliableRequester.ts"

const { EXT } = Layout
/** The area of the global route header in front of every datagram (IBTA vol. 1, ch. 11, poll for completion). */
export const GRH_BYTES = 40
const IPV4_BYTES = 20
const UDP_BYTES = 8
const BTH_BYTES = 12
const DETH_BYTES = 8
const IMMEDIATE_BYTES = 4
const ICRC_BYTES = 4
const UDP = 17

/**
 * The receiver of datagrams (IBTA 1.7 §9.8.3): the network's header, then the payload. One with a wrong Q_Key, or without
 * a receive, is dropped. One that a receive is too short for ends the queue pair, as in Linux rxe.
 */
export class DatagramReceiver {
  private readonly context: QueuePairContext
  private readonly receives: ReceiveSide
  private readonly header = new Uint8Array(GRH_BYTES)

  constructor(context: QueuePairContext, receives: ReceiveSide) {
    this.context = context
    this.receives = receives
  }

  handleRequest(packet: Packet): void {
    const { context, receives } = this
    const { opcode, payloadBytes } = packet
    if (opcode !== Bth.UdSendOnly && opcode !== Bth.UdSendOnlyImmediate) return
    const queueKey = context.qpn === GSI_QPN ? GSI_QUEUE_KEY : context.settings.queueKey
    if (wordOf(packet, EXT.queueKey) !== queueKey >>> 0) return
    const { payload } = packet
    if (payloadBytes > 0 && payload === undefined) return
    if (!receives.begin()) return
    if (!receives.fits(GRH_BYTES + payloadBytes)) {
      this.breakOff(WcStatus.LocQpOpErr)
      return
    }
    this.writeHeader(packet)
    const written =
      receives.append(this.header, 0, GRH_BYTES) &&
      (payload === undefined || receives.append(payload.octets, payload.start, payloadBytes))
    if (!written) {
      this.breakOff(WcStatus.LocProtErr)
      return
    }
    receives.complete({
      opcode: WcOpcode.Recv,
      byteLength: receives.filled,
      immediate: opcode === Bth.UdSendOnlyImmediate ? wordOf(packet, EXT.immediate) : undefined,
      invalidatedKey: undefined,
      sourceQp: wordOf(packet, EXT.sourceQp) & 0xff_ffff,
      solicited: packet.has(Flag.Solicited),
    })
  }

  private breakOff(status: WcStatus): void {
    this.receives.fail(status)
    this.context.broken = Break.Error
  }

  /** IPv6's header, or that of IPv4 in the last 20 octets, as Linux leaves it (IBTA 1.7 annex A17). */
  private writeHeader(packet: Packet): void {
    const { header } = this
    header.fill(0)
    const immediate = packet.opcode === Bth.UdSendOnlyImmediate ? IMMEDIATE_BYTES : 0
    const padded = (packet.payloadBytes + 3) & ~3
    const udpBytes = UDP_BYTES + BTH_BYTES + DETH_BYTES + immediate + padded + ICRC_BYTES
    const mapped =
      wordOf(packet, EXT.ipv6Source) === 0 &&
      wordOf(packet, EXT.ipv6Source + 1) === 0 &&
      wordOf(packet, EXT.ipv6Source + 2) === 0xffff
    if (mapped) this.writeIpv4(packet, udpBytes)
    else this.writeIpv6(packet, udpBytes)
  }

  private writeIpv6(packet: Packet, udpBytes: number): void {
    const { header } = this
    put32(
      header,
      0,
      0x6000_0000 | (wordOf(packet, EXT.trafficClass) << 20) | (wordOf(packet, EXT.flowLabel) & 0xf_ffff),
    )
    header[4] = udpBytes >>> 8
    header[5] = udpBytes
    header[6] = UDP
    header[7] = wordOf(packet, EXT.hopLimit)
    for (let word = 0; word < 8; word++) put32(header, 8 + 4 * word, wordOf(packet, EXT.ipv6Source + word))
  }

  private writeIpv4(packet: Packet, udpBytes: number): void {
    const { header } = this
    const start = GRH_BYTES - IPV4_BYTES
    put32(header, start, 0x4500_0000 | (wordOf(packet, EXT.trafficClass) << 16) | (IPV4_BYTES + udpBytes))
    // Not to be fragmented, identification 0, as Linux rxe sends it.
    put32(header, start + 4, 0x0000_4000)
    put32(header, start + 8, (wordOf(packet, EXT.hopLimit) << 24) | (UDP << 16))
    put32(header, start + 12, wordOf(packet, EXT.ipv6Source + 3))
    put32(header, start + 16, wordOf(packet, EXT.ipv6Destination + 3))
    let sum = 0
    for (let at = start; at < GRH_BYTES; at += 2) sum += (header[at]! << 8) | header[at + 1]!
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
    header[start + 10] = ~sum >>> 8
    header[start + 11] = ~sum
  }
}

const put32 = (octets: Uint8Array, at: number, value: number): void => {
  octets[at] = value >>> 24
  octets[at + 1] = value >>> 16
  octets[at + 2] = value >>> 8
  octets[at + 3] = value
}
