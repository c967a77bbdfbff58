import { Ecn, Flag, Layout, Opcode, type Packet } from "@rdmakit/packet"
import { addWords, foldWords, pseudoHeader } from "@rdmakit/wire/checksum"
import { DDP_TAGGED_BYTES } from "@rdmakit/wire/ddp"
import { ETHERNET_BYTES, EtherType, emitEthernet } from "@rdmakit/wire/ethernet"
import { emitIpv4, IPV4_BYTES, IpProtocol } from "@rdmakit/wire/ipv4"
import { emitFpdu, fpduBytes, sealFpdu } from "@rdmakit/wire/mpa"
import { emitRdmap } from "@rdmakit/wire/rdmap"
import { emitTcp, TCP_BYTES, TcpFlag } from "@rdmakit/wire/tcp"
import { emitUdp, UDP_BYTES } from "@rdmakit/wire/udp"
import { emitVxlan, VXLAN_BYTES } from "@rdmakit/wire/vxlan"
import { type Link, macOfNode, memoryOfFlow, tenantIpv4OfNode, tenantMacOfNode } from "./Addresses.ts"
import { CodecError } from "./CodecError.ts"
import { type IpPart, ipOf, TTL } from "./IpHeader.ts"
import { put16, put32 } from "./Octets.ts"
import { payloadOf } from "./Payload.ts"
import { encodePfc } from "./PfcFrame.ts"
import { Segments, type TcpFlows } from "./Segments.ts"

export interface TcpCodecOptions {
  readonly flows: TcpFlows
  /** Payload of every segment but a message's last. */
  readonly mtuBytes: number
  /** Each segment of data is one FPDU of iWARP, a WRITE's, its CRC filled in or 0. Default: none is. */
  readonly fpdu?: "crc" | "noCrc" | undefined
  /** Frames go in a tunnel of VXLAN, from host to host. Default: they do not. */
  readonly tunnel?: "vxlan" | undefined
}

/** Without flow control the receiver has room for all that the field can say. */
const WINDOW = 0xffff
/** The peer's end of a connection has sent its SYN, and no octet since. */
const PEER_SEQUENCE = 1
const NETWORK = 1
/** Time stamps count microseconds, as Linux' do where a route has them so (tcp_usec_ts). */
const TICK_PS = 1e6
const TICKS = 2 ** 32
/** Two octets of padding, kind, length, and two numbers (RFC 7323 appendix A). */
const TIME_STAMP_OPTION = 0x0101_080a
const TIME_STAMP_BYTES = 12
const SACK_OPTION = 0x0101_0500
const SACK_HEADER_BYTES = 4
const BLOCK_BYTES = 8
const OPTIONS_BYTES_MAX = 40
const TUNNEL_BYTES = IPV4_BYTES + UDP_BYTES + VXLAN_BYTES + ETHERNET_BYTES
const CHECKSUM_AT = 16

/**
 * The simulator's packets as segments of TCP over IPv4 and Ethernet, without preamble and FCS: plain ones, or iWARP's, and
 * inside VXLAN or not. What stands for what is in the README: sequence numbers are those of octets, from 1 on, addresses
 * those of nodes, the payload is a ramp.
 *
 * What a packet does not have is 0: the time at which an acknowledgement was sent, and the peer's in data. Telemetry is left
 * out.
 */
export class TcpCodec {
  /** Octets of the IP packet of a full segment, the tunnel's included: more than 65,535 cannot be told. */
  readonly ipBytesMax: number
  private readonly flows: TcpFlows
  private readonly segments: Segments
  private readonly mtuBytes: number
  private readonly fpdu: TcpCodecOptions["fpdu"]
  private readonly isTunnel: boolean
  private readonly options = new Uint8Array(OPTIONS_BYTES_MAX)

  constructor({ flows, mtuBytes, fpdu, tunnel }: TcpCodecOptions) {
    this.flows = flows
    this.mtuBytes = mtuBytes
    this.fpdu = fpdu
    this.isTunnel = tunnel !== undefined
    this.segments = new Segments(flows.bytesOf, mtuBytes, (bytes) => this.unitBytes(bytes))
    const bytes = IPV4_BYTES + TCP_BYTES + TIME_STAMP_BYTES + this.unitBytes(mtuBytes)
    this.ipBytesMax = bytes + (this.isTunnel ? TUNNEL_BYTES : 0)
  }

  /** Octets of the longest frame. */
  get frameBytesMax(): number {
    return ETHERNET_BYTES + this.ipBytesMax + OPTIONS_BYTES_MAX
  }

  /**
   * Writes a packet as it is on a link, and returns the first octet after it: at least 60 after `start`.
   * @throws CodecError for what TCP cannot say: another transport's opcode
   * @throws EmitError of wire for a buffer too small, or an IP packet longer than 65,535 octets
   */
  encode(packet: Packet, link: Link, octets: Uint8Array, start = 0): number {
    const { opcode } = packet
    if (opcode === Opcode.Pfc) return encodePfc(packet, link, octets, start)
    if (opcode !== Opcode.SendMiddle && opcode !== Opcode.Acknowledge)
      throw new CodecError("opcode", opcode, "data or an acknowledgement of TCP")
    const options = this.optionsOf(packet)
    const isData = opcode === Opcode.SendMiddle
    const bytes = TCP_BYTES + options.length + (isData ? this.unitBytes(packet.payloadBytes) : 0)
    const [from, to] = [macOfNode(link.from), macOfNode(link.to)]
    const ip = ipOf(packet)
    if (!this.isTunnel) {
      const at = putIp(from, to, ip, IpProtocol.Tcp, bytes, octets, start)
      return this.putSegment(packet, options, octets, at)
    }
    const inside = UDP_BYTES + VXLAN_BYTES + ETHERNET_BYTES + IPV4_BYTES + bytes
    let at = putIp(from, to, ip, IpProtocol.Udp, inside, octets, start)
    at = putTunnel(packet.udpPorts, inside - UDP_BYTES, octets, at)
    const { source, destination } = packet
    at = putIp(
      tenantMacOfNode(source),
      tenantMacOfNode(destination),
      tenantIpOf(packet),
      IpProtocol.Tcp,
      bytes,
      octets,
      at,
    )
    return this.putSegment(packet, options, octets, at)
  }

  /** Octets of the stream that a payload takes. */
  private unitBytes(payloadBytes: number): number {
    return this.fpdu === undefined ? payloadBytes : fpduBytes(DDP_TAGGED_BYTES + payloadBytes)
  }

  /** Time stamps, and the blocks of a selective acknowledgement (RFC 2018). */
  private optionsOf(packet: Packet): Uint8Array {
    const { options, segments } = this
    const flow = packet.flow >> 1
    const ticks = Math.floor(packet.stamp / TICK_PS) % TICKS
    const isData = packet.opcode === Opcode.SendMiddle
    put32(options, 0, TIME_STAMP_OPTION)
    put32(options, 4, isData ? ticks : 0)
    put32(options, 8, isData ? 0 : ticks)
    if (isData || packet.extension < 0) return options.subarray(0, TIME_STAMP_BYTES)
    const x = packet.extend()
    const { extension } = packet.pool
    const count = extension[x + Layout.EXT.sackBlocks]!
    if (count === 0) return options.subarray(0, TIME_STAMP_BYTES)
    put32(options, TIME_STAMP_BYTES, SACK_OPTION | (2 + count * BLOCK_BYTES))
    let at = TIME_STAMP_BYTES + SACK_HEADER_BYTES
    for (let edge = 0; edge < 2 * count; edge++) {
      const number = segments.numberOf(flow, extension[x + Layout.EXT.sackRanges + edge]!)
      put32(options, at, segments.sequenceOf(flow, number))
      at += 4
    }
    return options.subarray(0, at)
  }

  private putSegment(packet: Packet, options: Uint8Array, octets: Uint8Array, start: number): number {
    const { flows, segments } = this
    const flow = packet.flow >> 1
    const number = segments.numberOf(flow, packet.psn)
    const sequence = segments.sequenceOf(flow, number)
    const isData = packet.opcode === Opcode.SendMiddle
    const isForward = (packet.flow & 1) === 0
    const ports = [flows.sourcePortOf(flow), flows.destinationPortOf(flow)] as const
    const flags =
      TcpFlag.Acknowledge |
      (isData && packet.has(Flag.AckRequest) ? TcpFlag.Push : 0) |
      (packet.has(Flag.CongestionEcho) ? TcpFlag.EcnEcho : 0)
    const header = {
      sourcePort: isForward ? ports[0] : ports[1],
      destinationPort: isForward ? ports[1] : ports[0],
      sequence: isData ? sequence : PEER_SEQUENCE,
      acknowledgement: isData ? PEER_SEQUENCE : sequence,
      flags,
      window: WINDOW,
      checksum: 0,
      urgentPointer: 0,
      options,
    }
    const at = emitTcp(header, octets, start)
    const end = isData ? this.putData(packet, flow, number, octets, at) : at
    const sum = pseudoHeader(octets, start - 8, 4, IpProtocol.Tcp, end - start)
    put16(octets, start + CHECKSUM_AT, foldWords(addWords(sum, octets, start, end)))
    return end
  }

  private putData(packet: Packet, flow: number, number: number, octets: Uint8Array, start: number): number {
    const payload = payloadOf(packet.psn, packet.payloadBytes)
    if (this.fpdu === undefined) {
      octets.set(payload, start)
      return start + payload.length
    }
    const { address, key } = memoryOfFlow(flow)
    const sinkOffset = address + BigInt(number * this.mtuBytes)
    const at = emitFpdu({ ulpduBytes: DDP_TAGGED_BYTES + payload.length }, octets, start)
    const header = { kind: "write", last: packet.has(Flag.AckRequest), sinkStag: key, sinkOffset } as const
    octets.set(payload, emitRdmap(header, octets, at))
    return sealFpdu(octets, start, this.fpdu === "crc")
  }
}

/** Inside a tunnel no switch is passed, and none marks: what is marked was capable (RFC 6040 §4.1). */
const tenantIpOf = (packet: Packet): IpPart => ({
  ...ipOf(packet),
  trafficClass: (packet.priority << 5) | (packet.ecn === Ecn.Experienced ? Ecn.Capable0 : packet.ecn),
  ttl: TTL,
  source: tenantIpv4OfNode(packet.source),
  destination: tenantIpv4OfNode(packet.destination),
})

/** Writes the headers of Ethernet and IP in front of so many octets, and returns where they go. */
const putIp = (
  from: number,
  to: number,
  ip: IpPart,
  protocol: number,
  payloadBytes: number,
  octets: Uint8Array,
  start: number,
): number => {
  const at = emitEthernet({ destination: to, source: from, tags: [], etherType: EtherType.Ipv4 }, octets, start)
  return emitIpv4({ ...ip, moreFragments: false, fragmentOffset: 0, protocol, payloadBytes }, octets, at)
}

/** Writes the headers of UDP, without a checksum, and VXLAN (RFC 7348 §5). */
const putTunnel = (ports: number, payloadBytes: number, octets: Uint8Array, start: number): number => {
  const udp = { sourcePort: ports & 0xffff, destinationPort: ports >>> 16, payloadBytes, checksum: 0 }
  return emitVxlan({ vni: NETWORK }, octets, emitUdp(udp, octets, start))
}
