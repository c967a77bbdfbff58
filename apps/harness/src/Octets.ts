import { DDP_TAGGED_BYTES } from "@rdmakit/wire/ddp"
import { decode } from "@rdmakit/wire/decode"
import { ETHERNET_BYTES, ETHERNET_FRAME_BYTES_MIN, EtherType, emitEthernet } from "@rdmakit/wire/ethernet"
import { Operation } from "@rdmakit/wire/infiniband"
import { emitIpv4, IPV4_BYTES, IpProtocol } from "@rdmakit/wire/ipv4"
import { FPDU_BYTES, FPDU_CRC_BYTES, FpduFramer } from "@rdmakit/wire/mpa"
import { emitRdmap } from "@rdmakit/wire/rdmap"
import { buildRoce, pathMtuOf, type RoceCarrier, rocePacketBytes } from "@rdmakit/wire/roce"
import { emitTcp, TCP_BYTES, TcpFlag } from "@rdmakit/wire/tcp"

/** What carries an RDMA WRITE: native InfiniBand inside a subnet, RoCE of both versions over IPv4, iWARP over IPv4. */
export const wireFormats = ["infiniband", "rocev1", "rocev2", "iwarp"] as const
export type WireFormat = (typeof wireFormats)[number]

/** One part of a packet as it is on the line. */
export interface Part {
  readonly name: string
  readonly octets: number
}

/** A packet of a message, from its first octet on the line to the last. */
export type LinePacket = ReadonlyArray<Part>

/** Of every Ethernet frame: preamble and start delimiter before it, check sequence and the least gap after it (802.3 §3, §4). */
const PREAMBLE: Part = { name: "preamble", octets: 8 }
const FCS: Part = { name: "FCS", octets: 4 }
const GAP: Part = { name: "gap", octets: 12 }
/** Parts that are no part of a frame. */
const betweenFrames: ReadonlySet<string> = new Set([PREAMBLE.name, GAP.name])
const PAYLOAD = "payload"
const PADDING = "padding"

/** How wire's formats are called. */
const names: Readonly<Record<string, string>> = {
  ...{ ethernet: "Ethernet", ipv4: "IPv4", udp: "UDP", tcp: "TCP", lrh: "LRH", grh: "GRH", bth: "BTH", reth: "RETH" },
  ...{ icrc: "ICRC", vcrc: "VCRC", payload: PAYLOAD, padding: PADDING },
}

/** A path MTU in Ethernet frames of this size; as large as InfiniBand's own for the same comparison. */
const mtuOf = (ethernetMtuBytes: number): number => {
  const mtu = pathMtuOf(ethernetMtuBytes)
  if (mtu === undefined) throw new RangeError(`Ethernet MTU of ${ethernetMtuBytes}: at least 352`)
  return mtu
}

/** Payload of a full segment of iWARP: what RFC 5044 §5 leaves of TCP's, without markers and options. */
const segmentBytesOf = (ethernetMtuBytes: number): number => {
  const segment = ethernetMtuBytes - IPV4_BYTES - TCP_BYTES
  return segment - (segment % 4) - FPDU_BYTES - FPDU_CRC_BYTES - DDP_TAGGED_BYTES
}

/**
 * The packets of an RDMA WRITE, made by `wire` and taken apart again. Acknowledgements are not counted.
 * @param messageBytes a whole number, 0 or more: a message without payload takes a packet
 */
export const packetsOf = (
  format: WireFormat,
  messageBytes: number,
  ethernetMtuBytes: number,
): ReadonlyArray<LinePacket> => {
  const most = format === "iwarp" ? segmentBytesOf(ethernetMtuBytes) : mtuOf(ethernetMtuBytes)
  const count = Math.max(1, Math.ceil(messageBytes / most))
  // All but the first and the last are alike.
  const middle = count > 2 ? packetOf(format, most, 1, count, messageBytes) : []
  return Array.from({ length: count }, (_, index) =>
    index > 0 && index < count - 1
      ? middle
      : packetOf(format, Math.min(most, messageBytes - index * most), index, count, messageBytes),
  )
}

const packetOf = (format: WireFormat, bytes: number, index: number, count: number, messageBytes: number): LinePacket =>
  format === "iwarp" ? iwarpPacket(bytes, index === count - 1) : verbsPacket(format, bytes, index, count, messageBytes)

const verbsPacket = (
  format: Exclude<WireFormat, "iwarp">,
  bytes: number,
  index: number,
  count: number,
  messageBytes: number,
): LinePacket => {
  const { WriteFirst, WriteMiddle, WriteLast, WriteOnly } = Operation
  const isLast = index === count - 1
  const opcode = index === 0 ? (isLast ? WriteOnly : WriteFirst) : isLast ? WriteLast : WriteMiddle
  const bth = { opcode, solicited: false, migrated: false, partition: 0xffff, fecn: false, becn: false }
  const packet = {
    carrier: carriers[format],
    bth: { ...bth, destinationQp: 0x100, ackRequest: isLast, psn: index },
    headers: index === 0 ? { reth: { virtualAddress: 0n, remoteKey: 1, dmaBytes: messageBytes } } : {},
    payload: new Uint8Array(bytes),
  }
  const octets = new Uint8Array(rocePacketBytes(packet))
  buildRoce(packet, octets)
  const nodes = decode(octets, { link: format === "infiniband" ? "infiniband" : "ethernet" })
  const parts = nodes.map(({ format: name, start, end }) => ({ name: names[name] ?? name, octets: end - start }))
  return format === "infiniband" ? parts : onEthernet(parts)
}

const ethernet = { destination: 2, source: 1, tags: [] }
const ip = {
  ...{ trafficClass: 0, identification: 0, dontFragment: true, ttl: 64, source: 1, destination: 2 },
  options: new Uint8Array(0),
}
const gid = new Uint8Array(16)
const carriers: Readonly<Record<Exclude<WireFormat, "iwarp">, RoceCarrier>> = {
  infiniband: { kind: "local", lrh: { virtualLane: 0, serviceLevel: 0, destinationLid: 2, sourceLid: 1 } },
  rocev1: {
    kind: "rocev1",
    ethernet,
    grh: { trafficClass: 0, flowLabel: 0, hopLimit: 64, sourceGid: gid, destinationGid: gid },
  },
  rocev2: { kind: "ipv4", ethernet, ip, sourcePort: 0xc000 },
}

/** A segment of an RDMA WRITE in a frame of its own, with a CRC and without markers: as adapters have it. */
const iwarpPacket = (bytes: number, last: boolean): LinePacket => {
  const ulpdu = new Uint8Array(DDP_TAGGED_BYTES + bytes)
  emitRdmap({ kind: "write", last, sinkStag: 1, sinkOffset: 0n }, ulpdu)
  const unit = new FpduFramer({ markers: false, crc: true }).frame(ulpdu)
  const octets = new Uint8Array(ETHERNET_BYTES + IPV4_BYTES + TCP_BYTES + unit.length)
  const network = emitEthernet({ ...ethernet, etherType: EtherType.Ipv4 }, octets)
  const whole = { protocol: IpProtocol.Tcp, moreFragments: false, fragmentOffset: 0 }
  const transport = emitIpv4({ ...ip, ...whole, payloadBytes: TCP_BYTES + unit.length }, octets, network)
  const tcp = { sourcePort: 1, destinationPort: 2, sequence: 0, acknowledgement: 0, window: 0, urgentPointer: 0 }
  const stream = emitTcp(
    { ...tcp, flags: TcpFlag.Acknowledge, checksum: 0, options: new Uint8Array(0) },
    octets,
    transport,
  )
  octets.set(unit, stream)
  const padding = unit.length - FPDU_BYTES - ulpdu.length - FPDU_CRC_BYTES
  return onEthernet([
    { name: "Ethernet", octets: network },
    { name: "IPv4", octets: transport - network },
    { name: "TCP", octets: stream - transport },
    { name: "MPA", octets: FPDU_BYTES },
    { name: "DDP and RDMAP", octets: DDP_TAGGED_BYTES },
    ...(bytes === 0 ? [] : [{ name: PAYLOAD, octets: bytes }]),
    ...(padding === 0 ? [] : [{ name: PADDING, octets: padding }]),
    { name: "MPA CRC", octets: FPDU_CRC_BYTES },
  ])
}

/** Short frames are filled up. */
const onEthernet = (parts: LinePacket): LinePacket => {
  const frame = octetsOf(parts)
  const missing = ETHERNET_FRAME_BYTES_MIN - frame
  return [PREAMBLE, ...parts, ...(missing > 0 ? [{ name: "frame padding", octets: missing }] : []), FCS, GAP]
}

const octetsOf = (parts: LinePacket): number => parts.reduce((sum, { octets }) => sum + octets, 0)

/** Octets of packets that are no payload: of their frames, or with what is between frames. */
export const besidePayload = (packets: ReadonlyArray<LinePacket>, of: "frame" | "line"): number =>
  packets.reduce(
    (sum, parts) =>
      sum + octetsOf(parts.filter(({ name }) => name !== PAYLOAD && (of === "line" || !betweenFrames.has(name)))),
    0,
  )
