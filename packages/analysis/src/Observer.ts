import type { PacketRecord } from "@rdmakit/pcap"
import { decode, type LinkType, linkTypeOf, type Node, nodeOf } from "@rdmakit/wire/decode"
import { CNP, CNP_NATIVE } from "@rdmakit/wire/infiniband"
import { type IcrcPlace, placeInEthernet, placeInIp, readIcrc } from "@rdmakit/wire/roce"
import { Addresses } from "./Addresses.ts"
import { Clock } from "./Clock.ts"
import { u16, u24, u32 } from "./Octets.ts"
import { operationOf } from "./Operations.ts"
import { Sighting } from "./Sighting.ts"

const BTH_BYTES = 12
const ICRC_BYTES = 4
/** No checksum is asked for here. */
const NO_CRC = (): number => 0

/** Takes the packets of a capture one by one and says of each what conversations are followed by. */
export class Observer {
  readonly addresses = new Addresses()
  readonly clock = new Clock()
  readonly #sighting = new Sighting()

  /**
   * What a packet is. The same object is filled at each call.
   *
   * @param frame its number, when it is not that of its file: captures that are read together are numbered through
   */
  observe(packet: PacketRecord, frame: number = packet.frame): Sighting {
    const sighting = this.#sighting
    sighting.clear()
    sighting.frame = frame
    sighting.timeNs = this.clock.read(packet)
    const data = packet.data
    sighting.data = data
    sighting.interface = packet.interface
    const end = Math.max(packet.originalOctets, data.length)
    sighting.wireBytes = end
    sighting.isTruncated = packet.isTruncated
    const link = linkTypeOf(packet.interface.linkType)
    if (link === undefined) return sighting
    sighting.link = link
    const place =
      link === "ethernet" ? placeInEthernet(data, 0, end) : link === "ip" ? placeInIp(data, 0, end) : undefined
    if (place !== undefined) this.#roce(place)
    else this.#other(link, end, packet.interface.fcsOctets === 4 ? 4 : 0)
    return sighting
  }

  #roce(place: IcrcPlace): void {
    const sighting = this.#sighting
    const { data } = sighting
    const { bth, icrc, carrier, header } = place
    sighting.kind = "roce"
    sighting.place = place
    const { addresses } = this
    if (carrier === "ipv4") {
      sighting.source = addresses.ipv4(data, header + 12)
      sighting.destination = addresses.ipv4(data, header + 16)
      sighting.trafficClass = data[header + 1]!
      sighting.ipId = u16(data, header + 4)
      sighting.hopLimit = data[header + 8]!
      sighting.sourcePort = u16(data, bth - 8)
      sighting.destinationPort = u16(data, bth - 6)
    } else if (carrier === "local") {
      sighting.source = addresses.lid(u16(data, header + 6))
      sighting.destination = addresses.lid(u16(data, header + 2))
    } else {
      const ip = carrier === "global" ? header + 8 : header
      sighting.source = addresses.ipv6(data, ip + 8)
      sighting.destination = addresses.ipv6(data, ip + 24)
      sighting.trafficClass = (u16(data, ip) >> 4) & 0xff
      sighting.hopLimit = data[ip + 7]!
      if (carrier === "ipv6") {
        sighting.sourcePort = u16(data, bth - 8)
        sighting.destinationPort = u16(data, bth - 6)
      }
    }
    if (bth + BTH_BYTES <= data.length) this.#transport(bth, icrc)
    if (icrc + ICRC_BYTES <= data.length) sighting.icrc = readIcrc(data, icrc)
  }

  #transport(bth: number, icrc: number): void {
    const sighting = this.#sighting
    const { data } = sighting
    const flags = data[bth + 1]!
    const congestion = data[bth + 4]!
    sighting.opcode = data[bth]!
    sighting.destinationQp = u24(data, bth + 5)
    sighting.psn = u24(data, bth + 9)
    sighting.isAckRequest = data[bth + 8]! >= 0x80
    sighting.isFecn = congestion >= 0x80
    sighting.isBecn = (congestion & 0x40) !== 0
    sighting.padBytes = (flags >> 4) & 3
    const carrier = sighting.place?.carrier
    // A CNP has one code on RoCEv2 and another on native InfiniBand: the two are not equated.
    const foreign = carrier === "local" || carrier === "global" ? CNP : CNP_NATIVE
    const operation = sighting.opcode === foreign ? undefined : operationOf(sighting.opcode)
    sighting.operation = operation
    if (operation === undefined) return
    sighting.payloadBytes = Math.max(0, icrc - sighting.padBytes - bth - operation.headerBytes)
    if (bth + operation.headerBytes > Math.min(data.length, icrc)) return
    const { aeth, reth, deth, immediate } = operation
    if (aeth > 0) {
      sighting.syndrome = data[bth + aeth]!
      sighting.msn = u24(data, bth + aeth + 1)
    }
    if (reth > 0) {
      sighting.remoteKey = u32(data, bth + reth + 8)
      sighting.dmaBytes = u32(data, bth + reth + 12)
    }
    if (deth > 0) sighting.sourceQp = u24(data, bth + deth + 5)
    if (immediate > 0) sighting.immediate = u32(data, bth + immediate)
  }

  #other(link: LinkType, end: number, fcsBytes: 0 | 4): void {
    const sighting = this.#sighting
    const { data } = sighting
    const nodes = decode(data, { link, wireBytes: end, fcsBytes, crc: NO_CRC })
    sighting.nodes = nodes
    sighting.isTunnelled = isTunnelled(nodes)
    const icrc = nodeOf(nodes, "icrc")
    if (icrc?.covers !== undefined) {
      this.#roce(icrc.covers)
      return
    }
    this.#network(nodes)
    if (icrc !== undefined) {
      // Behind extension headers of IPv6: a transport whose ICRC nobody can check.
      sighting.kind = "roce"
      const bth = nodeOf(nodes, "bth")
      if (bth !== undefined) this.#transport(bth.start, icrc.start)
    } else if (nodeOf(nodes, "pfc") !== undefined) sighting.kind = "pause"
  }

  #network(nodes: ReadonlyArray<Node>): void {
    const sighting = this.#sighting
    const { data } = sighting
    const ip = nodes.findLast(({ format }) => format === "ipv4" || format === "ipv6")
    if (ip?.format === "ipv4") {
      sighting.source = this.addresses.ipv4(data, ip.start + 12)
      sighting.destination = this.addresses.ipv4(data, ip.start + 16)
      sighting.trafficClass = ip.value.trafficClass
      sighting.ipId = ip.value.identification
      sighting.hopLimit = ip.value.ttl
    } else if (ip?.format === "ipv6") {
      sighting.source = this.addresses.ipv6(data, ip.start + 8)
      sighting.destination = this.addresses.ipv6(data, ip.start + 24)
      sighting.trafficClass = ip.value.trafficClass
      sighting.hopLimit = ip.value.hopLimit
    } else {
      const ethernet = nodeOf(nodes, "ethernet")
      if (ethernet === undefined) return
      sighting.source = this.addresses.mac(ethernet.value.source)
      sighting.destination = this.addresses.mac(ethernet.value.destination)
      return
    }
    const udp = nodeOf(nodes, "udp")
    const tcp = nodeOf(nodes, "tcp")
    const ports = tcp ?? udp
    if (ports === undefined) return
    sighting.sourcePort = ports.value.sourcePort
    sighting.destinationPort = ports.value.destinationPort
    if (tcp === undefined) return
    sighting.kind = "tcp"
    sighting.tcpSequence = tcp.value.sequence
    sighting.tcpFlags = data[tcp.start + 13]!
    sighting.tcpStart = tcp.end
    sighting.tcpEnd = ip.start + ipBytes(data, ip.start)
  }
}

/** Octets of an IP packet as its header says. */
const ipBytes = (data: Uint8Array, at: number): number =>
  data[at]! >> 4 === 4 ? u16(data, at + 2) : 40 + u16(data, at + 4)

const isTunnelled = (nodes: ReadonlyArray<Node>): boolean => {
  let networks = 0
  for (const { format } of nodes) if (format === "ipv4" || format === "ipv6") networks++
  return networks > 1
}
