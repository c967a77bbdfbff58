import { Flag, Layout, type Packet } from "@rdmakit/packet"
import { crc32 } from "@rdmakit/wire/crc"
import { icrcOf } from "@rdmakit/wire/roce"
import { CodecError } from "./CodecError.ts"
import { i32, put16, put32, u16 } from "./Octets.ts"
import { Refusal } from "./Refusal.ts"
import type { Route } from "./Route.ts"
import { putSrd, srdFirstOctet, srdOpcodeOf, takeSrd } from "./SrdHeaders.ts"
import { putHeaders, takeHeaders } from "./VerbsHeaders.ts"
import { BYTES_SHIFT, Header, opcodeHeaders } from "./VerbsOpcode.ts"

const { EXT, EXTENSION_SHIFT } = Layout

const ETHERNET_BYTES = 14
const TAG_BYTES = 4
const IPV4_BYTES = 20
const IPV6_BYTES = 40
const UDP_BYTES = 8
const BTH_BYTES = 12
const ICRC_BYTES = 4
/** Octet of the BTH with FECN, BECN and six reserved bits. */
const NOTIFICATIONS = 4
/** CRC-32 of whatever ends with its own CRC, low octet first. */
const CRC_RESIDUE = 0x2144_df1c
const UDP = 17
const ROCE_PORT = 4791
const IPV4 = 0x0800
const IPV6 = 0x86dd
const VLAN = 0x8100
/** The largest path MTU of InfiniBand (IBTA 1.7 §9.4.3), and what a slice of the pool holds. */
const PAYLOAD_BYTES_MAX = 4096
/** What `EXT.segment` has of packets whose stream carries RDMAP: no BTH says what they are. */
const STREAM = 1024
/** The longest headers in front of a payload: a tag, IPv6, UDP, BTH, SRD's WRITE with immediate. */
export const VERBS_HEADERS_BYTES_MAX = 18 + 40 + 8 + 12 + 44

/**
 * Packets of the verbs (`opcode` is the BTH's) as octets of RoCEv2, and back. Nothing is made per packet: headers are
 * written in front of the payload where it lies, and a payload that arrives is borrowed where it lies.
 *
 * RC, UC, UD and XRC, congestion notifications, and rdmakit's SRD (`wire`, srd). RD and FLUSH are not: a packet record has no room for RDETH and FETH.
 */
export class VerbsCodec {
  /** Where the last `encode` wrote; good until the packet is given back. */
  octets: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  private payload = 0
  private payloadBytes = 0
  private readonly crc: typeof crc32
  private readonly place: { carrier: "ipv4" | "ipv6"; header: number; bth: number; icrc: number } = {
    carrier: "ipv4",
    header: 0,
    bth: 0,
    icrc: 0,
  }

  /** @param crc CRC-32, as `@rdmakit/wire/node` has a quicker one */
  constructor(crc: typeof crc32 = crc32) {
    this.crc = crc
  }

  /**
   * Writes the packet's headers in front of its payload, padding and ICRC behind it: the packet is then from `start` to
   * `end` of `octets`. A packet without payload is given a slice of the pool to lie in.
   * @throws CodecError for an opcode that has no octets here, a payload that is synthetic, borrowed or too long
   * @throws PoolExhausted when there is no slice left
   */
  encode(packet: Packet, route: Route): void {
    const opcode = opcodeOf(packet)
    const word = opcodeHeaders[opcode]!
    if (word === 0) throw new CodecError("opcode", packet.opcode, "one of RC, UC, UD, XRC, or 0x81")
    const bytes = packet.payloadBytes
    if (!packet.has(Flag.SlabPayload)) {
      if (bytes > 0) throw new CodecError("payload", `${bytes} synthetic octets`, "real ones")
      packet.addPayload(0)
    }
    const { extension } = packet.pool
    const x = packet.extension << EXTENSION_SHIFT
    if (extension[x + EXT.payloadSlice]! < 0) throw new CodecError("payload", "somebody else's octets", "a slice")
    if (bytes > ((word & Header.Payload) === 0 ? 0 : PAYLOAD_BYTES_MAX))
      throw new CodecError("payload", bytes, "what the opcode and the path MTU allow")
    const { octets, start: payload } = packet.payload!
    const headers = payload - (word >>> BYTES_SHIFT)
    const bth = headers - BTH_BYTES
    const pad = -bytes & 3
    const icrc = payload + bytes + pad
    for (let at = icrc - pad; at < icrc; at++) octets[at] = 0
    if ((word & Header.Srd) === 0) putHeaders(word, extension, x, octets, headers)
    else putSrd(packet, extension, x, octets, headers)
    putBth(packet, opcode, extension, x, octets, bth, pad)
    this.octets = octets
    this.end = icrc + ICRC_BYTES
    this.start = putCarrier(packet, extension, x, route, octets, bth, this.end)
    const prefix = route.icrcPrefix(packet.udpPorts & 0xffff, this.end - bth + UDP_BYTES)
    this.put(octets, bth, icrc, prefix)
  }

  /** Writes the ICRC, which takes in the octet with FECN and BECN as all ones. @param prefix of what precedes the BTH */
  private put(octets: Uint8Array, bth: number, icrc: number, prefix: number): void {
    const notifications = octets[bth + NOTIFICATIONS]!
    octets[bth + NOTIFICATIONS] = 0xff
    const crc = this.crc(octets, bth, icrc, prefix)
    octets[bth + NOTIFICATIONS] = notifications
    octets[icrc] = crc
    octets[icrc + 1] = crc >>> 8
    octets[icrc + 2] = crc >>> 16
    octets[icrc + 3] = crc >>> 24
  }

  /**
   * Reads an Ethernet frame, with at most one tag, into a packet as `alloc` gives it. What is not `Refusal.None` is to be
   * dropped: the packet is then half written. Padding after the IP packet is not looked at.
   */
  decodeFrame(octets: Uint8Array, start: number, end: number, packet: Packet): Refusal {
    if (end > octets.length || end - start < ETHERNET_BYTES + TAG_BYTES) return Refusal.Length
    let at = start + 12
    let type = u16(octets, at)
    if (type === VLAN) {
      at += TAG_BYTES
      type = u16(octets, at)
    }
    if (type !== IPV4 && type !== IPV6) return Refusal.Protocol
    return this.decode(octets, at + 2, end, packet)
  }

  /**
   * Reads a packet of IP into a packet as `alloc` gives it, every length and the ICRC checked. Its payload stays where it
   * is, and is the packet's as long as `octets` are left alone. Not checked: whom it is for, the partition, the UDP
   * checksum (the ICRC covers more).
   */
  decode(octets: Uint8Array, start: number, end: number, packet: Packet): Refusal {
    if (end > octets.length || start >= end) return Refusal.Length
    const version = octets[start]! >> 4
    if (version === 4) return this.decodeIpv4(octets, start, end, packet)
    return version === 6 ? this.decodeIpv6(octets, start, end, packet) : Refusal.Protocol
  }

  private decodeIpv4(octets: Uint8Array, start: number, end: number, packet: Packet): Refusal {
    if (end - start < IPV4_BYTES) return Refusal.Length
    const headerBytes = (octets[start]! & 15) * 4
    const total = u16(octets, start + 2)
    const udp = start + headerBytes
    if (headerBytes < IPV4_BYTES || total < headerBytes + UDP_BYTES || total > end - start) return Refusal.Length
    if (octets[start + 9] !== UDP) return Refusal.Protocol
    if ((u16(octets, start + 6) & 0x3fff) !== 0) return Refusal.Fragment
    let sum = 0
    for (let at = start; at < udp; at += 2) sum += u16(octets, at)
    sum = (sum & 0xffff) + (sum >>> 16)
    if ((sum & 0xffff) + (sum >>> 16) !== 0xffff) return Refusal.Checksum
    const x = packet.extend()
    const { extension } = packet.pool
    extension[x + EXT.ipv6Source + 2] = 0xffff
    extension[x + EXT.ipv6Source + 3] = i32(octets, start + 12)
    extension[x + EXT.ipv6Destination + 2] = 0xffff
    extension[x + EXT.ipv6Destination + 3] = i32(octets, start + 16)
    extension[x + EXT.trafficClass] = octets[start + 1]!
    extension[x + EXT.hopLimit] = octets[start + 8]!
    this.place.carrier = "ipv4"
    return this.decodeUdp(octets, start, udp, start + total, packet, x)
  }

  private decodeIpv6(octets: Uint8Array, start: number, end: number, packet: Packet): Refusal {
    if (end - start < IPV6_BYTES + UDP_BYTES) return Refusal.Length
    const bytes = u16(octets, start + 4)
    if (bytes < UDP_BYTES || bytes > end - start - IPV6_BYTES) return Refusal.Length
    if (octets[start + 6] !== UDP) return Refusal.Protocol
    const x = packet.extend()
    const { extension } = packet.pool
    for (let index = 0; index < 8; index++) {
      extension[x + EXT.ipv6Source + index] = i32(octets, start + 8 + 4 * index)
    }
    const first = i32(octets, start)
    extension[x + EXT.trafficClass] = (first >>> 20) & 0xff
    extension[x + EXT.flowLabel] = first & 0xf_ffff
    extension[x + EXT.hopLimit] = octets[start + 7]!
    this.place.carrier = "ipv6"
    return this.decodeUdp(octets, start, start + IPV6_BYTES, start + IPV6_BYTES + bytes, packet, x)
  }

  private decodeUdp(octets: Uint8Array, ip: number, udp: number, end: number, packet: Packet, x: number): Refusal {
    if (u16(octets, udp + 2) !== ROCE_PORT) return Refusal.Port
    const bth = udp + UDP_BYTES
    // The ICRC is found from the end of UDP: a length that is another than IP's would put it elsewhere.
    if (u16(octets, udp + 4) !== end - udp) return Refusal.Length
    const refusal = this.measure(octets, bth, end)
    if (refusal !== Refusal.None) return refusal
    const { place } = this
    place.header = ip
    place.bth = bth
    place.icrc = end - ICRC_BYTES
    if (icrcOf(octets, place, this.crc) !== icrcAt(octets, place.icrc)) return Refusal.Icrc
    packet.udpPorts = (u16(octets, udp) | (ROCE_PORT << 16)) >>> 0
    packet.wireBytes = end - ip
    this.take(octets, bth, packet, x)
    return Refusal.None
  }

  /**
   * Reads what follows UDP's header, all of `octets`, as a packet of this route: for who sees no more of it, as a socket. It
   * has no traffic class and no flow label. Else as `decode`; while it runs an octet is another.
   */
  decodeDatagram(octets: Uint8Array, route: Route, sourcePort: number, hopLimit: number, packet: Packet): Refusal {
    const end = octets.length
    const refusal = this.measure(octets, 0, end)
    if (refusal !== Refusal.None) return refusal
    const notifications = octets[NOTIFICATIONS]!
    octets[NOTIFICATIONS] = 0xff
    const crc = this.crc(octets, 0, end, route.icrcPrefix(sourcePort, UDP_BYTES + end))
    octets[NOTIFICATIONS] = notifications
    if (crc !== CRC_RESIDUE) return Refusal.Icrc
    const x = packet.extend()
    const { extension } = packet.pool
    route.putAddresses(extension, x)
    extension[x + EXT.hopLimit] = hopLimit
    packet.udpPorts = (sourcePort | (ROCE_PORT << 16)) >>> 0
    packet.wireBytes = (route.version === 4 ? IPV4_BYTES : IPV6_BYTES) + UDP_BYTES + end
    this.take(octets, 0, packet, x)
    return Refusal.None
  }

  /** Whether the opcode is one of these, and all lengths agree: then says where the payload is, and how long. */
  private measure(octets: Uint8Array, bth: number, end: number): Refusal {
    if (end - bth < BTH_BYTES + ICRC_BYTES) return Refusal.Length
    const word = opcodeHeaders[octets[bth]!]!
    if (word === 0) return Refusal.Opcode
    const flags = octets[bth + 1]!
    if ((flags & 15) !== 0) return Refusal.Version
    if ((word & Header.Srd) !== 0 && octets[bth + BTH_BYTES] !== srdFirstOctet(octets[bth]!)) return Refusal.Version
    const payload = bth + BTH_BYTES + (word >>> BYTES_SHIFT)
    const icrc = end - ICRC_BYTES
    const bytes = icrc - payload - ((flags >> 4) & 3)
    if (bytes < 0 || bytes > PAYLOAD_BYTES_MAX || ((icrc - payload) & 3) !== 0) return Refusal.Length
    if ((word & Header.Payload) === 0 && icrc !== payload) return Refusal.Length
    this.payload = payload
    this.payloadBytes = bytes
    return Refusal.None
  }

  /** Reads BTH and what follows it, as it was measured. */
  private take(octets: Uint8Array, bth: number, packet: Packet, x: number): void {
    const { extension } = packet.pool
    takeBth(packet, extension, x, octets, bth)
    const word = opcodeHeaders[octets[bth]!]!
    if ((word & Header.Srd) === 0) takeHeaders(word, extension, x, octets, bth + BTH_BYTES)
    else takeSrd(packet, extension, x, octets, bth + BTH_BYTES)
    if (this.payloadBytes > 0) packet.borrowPayload(octets, this.payload, this.payloadBytes)
  }
}

const icrcAt = (octets: Uint8Array, at: number): number =>
  (octets[at]! | (octets[at + 1]! << 8) | (octets[at + 2]! << 16) | (octets[at + 3]! << 24)) >>> 0

/** The BTH's opcode: that of the record, but for SRD. @throws CodecError for eRDMA's packets */
const opcodeOf = (packet: Packet): number => {
  const { extension } = packet
  const segment = extension < 0 ? 0 : packet.pool.extension[(extension << EXTENSION_SHIFT) + EXT.segment]!
  if ((segment & STREAM) !== 0)
    throw new CodecError("opcode", "one of eRDMA's stream", "one of RC, UC, UD, XRC, or 0x81")
  return srdOpcodeOf(segment) || packet.opcode
}

const putBth = (
  packet: Packet,
  opcode: number,
  extension: Int32Array,
  x: number,
  octets: Uint8Array,
  bth: number,
  pad: number,
): void => {
  octets[bth] = opcode
  octets[bth + 1] = (packet.has(Flag.Solicited) ? 0x80 : 0) | (packet.has(Flag.Migrated) ? 0x40 : 0) | (pad << 4)
  put16(octets, bth + 2, extension[x + EXT.partition]!)
  put32(
    octets,
    bth + 4,
    (extension[x + EXT.destinationQp]! & 0xff_ffff) | (packet.has(Flag.Backward) ? 0x4000_0000 : 0),
  )
  put32(octets, bth + 8, packet.psn | (packet.has(Flag.AckRequest) ? 0x8000_0000 : 0))
}

const takeBth = (packet: Packet, extension: Int32Array, x: number, octets: Uint8Array, bth: number): void => {
  const flags = octets[bth + 1]!
  const second = i32(octets, bth + 4)
  const third = i32(octets, bth + 8)
  packet.meta =
    octets[bth]! |
    ((flags & 0x80) !== 0 ? Flag.Solicited : 0) |
    ((flags & 0x40) !== 0 ? Flag.Migrated : 0) |
    ((second & 0x4000_0000) !== 0 ? Flag.Backward : 0) |
    (third < 0 ? Flag.AckRequest : 0) |
    ((extension[x + EXT.trafficClass]! & 3) << 28)
  extension[x + EXT.partition] = u16(octets, bth + 2)
  extension[x + EXT.destinationQp] = second & 0xff_ffff
  packet.psn = third & 0xff_ffff
}

/** Link, IP and UDP in front of the BTH; returns where they start. */
const putCarrier = (
  packet: Packet,
  extension: Int32Array,
  x: number,
  route: Route,
  octets: Uint8Array,
  bth: number,
  end: number,
): number => {
  const { octets: headers, linkBytes } = route
  const start = bth - headers.length
  for (let index = 0; index < headers.length; index++) octets[start + index] = headers[index]!
  const ip = start + linkBytes
  const udp = bth - UDP_BYTES
  const trafficClass = extension[x + EXT.trafficClass]! & 0xff
  if (route.version === 4) {
    const total = end - ip
    const hopLimit = extension[x + EXT.hopLimit]! & 0xff
    octets[ip + 1] = trafficClass
    put16(octets, ip + 2, total)
    octets[ip + 8] = hopLimit
    let sum = route.headerSum + trafficClass + total + (hopLimit << 8)
    sum = (sum & 0xffff) + (sum >>> 16)
    put16(octets, ip + 10, ~((sum & 0xffff) + (sum >>> 16)))
  } else {
    put32(octets, ip, 0x6000_0000 | (trafficClass << 20) | (extension[x + EXT.flowLabel]! & 0xf_ffff))
    put16(octets, ip + 4, end - udp)
    octets[ip + 7] = extension[x + EXT.hopLimit]!
  }
  put16(octets, udp, packet.udpPorts & 0xffff)
  put16(octets, udp + 4, end - udp)
  return start
}
