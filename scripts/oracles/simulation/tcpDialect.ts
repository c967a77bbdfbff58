import { Flag, Layout, Opcode, type Packet } from "../../../packages/packet/src/index.ts"
import type { FlowOctets } from "../../../packages/protocol/src/index.ts"
import { formatIpv4 } from "../../../packages/wire/src/Address.ts"
import { addWords, foldWords, pseudoHeader } from "../../../packages/wire/src/Checksum.ts"
import { crc32c } from "../../../packages/wire/src/Crc.ts"
import { emitEthernet } from "../../../packages/wire/src/Ethernet.ts"
import { emitIpv4 } from "../../../packages/wire/src/Ipv4.ts"
import { emitMpa, type Mpa } from "../../../packages/wire/src/Mpa.ts"
import { emitTcp } from "../../../packages/wire/src/Tcp.ts"
import { type Dialect, hex, macText, pfcFields, pfcTexts, timeText } from "./Dialect.ts"

type TcpOctets = Extract<FlowOctets, { readonly protocol: "tcp" }>

/** What a unit of iWARP has beside its payload, padding apart: length, header and CRC. */
const UNIT_BYTES = 2 + 14 + 4
const NETWORK = 0x0b000001
const TENANT_NETWORK = 0x0a000001
const FIELDS = [
  ...["frame.time_epoch", "frame.len", "eth.src", "ip.src", "ip.dst", "ip.ttl", "ip.dsfield", "udp.srcport"],
  ...["tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw", "tcp.flags", "tcp.len"],
  ...["tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr", "tcp.options.sack_le", "tcp.options.sack_re"],
  ...["ip.checksum.status", "tcp.checksum.status", ...pfcFields],
]
const UNIT_FIELDS = [
  ...["iwarp_mpa.ulpdulength", "iwarp_mpa.crc_check", "iwarp_rdma.opcode", "iwarp_ddp.last_flag"],
  ...["iwarp_ddp.stag", "iwarp_ddp.tagged_offset"],
]
const FAULTS = ["_ws.malformed", "_ws.expert.message"]
const GOOD = "1"

/**
 * Segments of TCP, as `octets` of the transport has them. Where units have CRCs tshark is shown how connections opened, for
 * it knows units by that; without, they are octets of TCP to it.
 */
export const tcpDialect = ({ fpdu, tunnel }: TcpOctets): Dialect => {
  const isShown = fpdu === "crc"
  const streamBytes = (payload: number): number => (fpdu === undefined ? payload : UNIT_BYTES + ((payload + 3) & ~3))
  const outside = (text: string, inner: string): string => (tunnel === undefined ? text : `${text},${inner}`)

  const lineOf: Dialect["lineOf"] = ({ flows, parts }, now, node, packet) => {
    const noUnit = isShown ? UNIT_FIELDS.map(() => "") : []
    if (packet.opcode === Opcode.Pfc)
      return [timeText(now), 60, macText(node), ...Array(17).fill(""), ...pfcTexts(packet), ...noUnit, "", ""].join(
        "\t",
      )
    const flow = packet.flow >> 1
    const bytes = flows.bytes[flow]!
    const { mtuBytes } = parts.transport
    const packets = Math.max(1, Math.ceil(bytes / mtuBytes))
    const sequenceOf = (psn: number): number =>
      psn < packets
        ? 1 + psn * streamBytes(mtuBytes)
        : 1 + (packets - 1) * streamBytes(mtuBytes) + streamBytes(bytes - (packets - 1) * mtuBytes)
    const isData = packet.opcode === Opcode.SendMiddle
    const ticks = Math.floor(packet.stamp / 1e6)
    const edges = edgesOf(packet).map(sequenceOf)
    const octets = isData ? streamBytes(packet.payloadBytes) : 0
    const options = 12 + (edges.length === 0 ? 0 : 4 + 4 * edges.length)
    const ports = [flows.sourcePort[flow]!, flows.destinationPort[flow]!]
    if (!isData) ports.reverse()
    const trafficClass = (ecn: number): string => hex((packet.priority << 5) | ecn, 2)
    const address = (of: number): string =>
      outside(formatIpv4(NETWORK + of * 256), formatIpv4(TENANT_NETWORK + of * 256))
    const flags = 0x10 | (isData && packet.has(Flag.AckRequest) ? 8 : 0) | (packet.has(Flag.CongestionEcho) ? 0x40 : 0)
    const unit = isData ? unitTexts(packet, packet.psn === packets - 1, packet.psn * mtuBytes) : noUnit
    return [
      timeText(now),
      14 + 20 + 20 + options + octets + (tunnel === undefined ? 0 : 50),
      outside(macText(node), macText(packet.source).replace("02:00:00:00", "02:00:00:01")),
      address(packet.source),
      address(packet.destination),
      outside(String(255 - packet.hop), "255"),
      outside(trafficClass(packet.ecn), trafficClass(packet.ecn === 3 ? 2 : packet.ecn)),
      tunnel === undefined ? "" : packet.udpPorts & 0xffff,
      ...ports,
      ...(isData ? [sequenceOf(packet.psn), 1] : [1, sequenceOf(packet.psn)]),
      hex(flags, 4),
      octets,
      ...(isData ? [ticks, 0] : [0, ticks]),
      edges.filter((_, index) => index % 2 === 0).join(","),
      edges.filter((_, index) => index % 2 === 1).join(","),
      outside(GOOD, GOOD),
      GOOD,
      ...["", ""],
      ...(isShown ? unit : []),
      ...["", ""],
    ].join("\t")
  }

  return {
    fields: [...FIELDS, ...(isShown ? UNIT_FIELDS : []), ...FAULTS],
    options: [
      ...["tcp.check_checksum:TRUE", "ip.check_checksum:TRUE"],
      // Losses and what makes up for them are no faults of a frame's octets.
      ...["tcp.analyze_sequence_numbers:FALSE", "tcp.desegment_tcp_streams:FALSE"],
    ].flatMap((preference) => ["-o", preference]),
    lineOf,
    ...(isShown ? { openings } : {}),
  }
}

/** What a unit says, and its CRC, of octets that are put together here. */
const unitTexts = (packet: Packet, isLast: boolean, offset: number): ReadonlyArray<string | number> => {
  const { payloadBytes, psn } = packet
  const number = (packet.flow >> 1) + 1
  const key = hex(number * 256 + 1, 8)
  const place = (BigInt(number) * 2n ** 32n + BigInt(offset)).toString(16).padStart(16, "0")
  const head = `${hex(14 + payloadBytes, 4)}${isLast ? "c1" : "81"}40${key.slice(2)}${place}`.slice(2)
  const payload = Uint8Array.from({ length: payloadBytes }, (_, index) => psn + index)
  const padding = new Uint8Array(-(2 + 14 + payloadBytes) & 3)
  // Low octet first, and tshark prints octets as they come.
  const crc = Buffer.alloc(4)
  crc.writeUInt32LE(crc32c(Buffer.concat([Buffer.from(head, "hex"), payload, padding])))
  return [14 + payloadBytes, `0x${crc.toString("hex")}`, hex(0, 2), isLast ? "1" : "0", key, `0x${place}`]
}

const edgesOf = (packet: Packet): ReadonlyArray<number> => {
  if (packet.extension < 0) return []
  const { extension } = packet.pool
  const at = packet.extension << Layout.EXTENSION_SHIFT
  const first = at + Layout.EXT.sackRanges
  return Array.from(extension.subarray(first, first + 2 * extension[at + Layout.EXT.sackBlocks]!))
}

/** A request and a reply of MPA for each flow. */
const openings: NonNullable<Dialect["openings"]> = ({ flows }) =>
  Array.from({ length: flows.count }, (_, flow) => {
    const ends = [
      { node: flows.source[flow]!, port: flows.sourcePort[flow]! },
      { node: flows.destination[flow]!, port: flows.destinationPort[flow]! },
    ] as const
    return [opening(ends[0], ends[1], "request"), opening(ends[1], ends[0], "reply")]
  }).flat()

interface End {
  readonly node: number
  readonly port: number
}

const opening = (from: End, to: End, kind: Mpa["kind"]): Uint8Array => {
  const octets = new Uint8Array(14 + 20 + 20 + 20)
  const ethernet = { source: 0x02_0000_0000 + from.node, destination: 0x02_0000_0000 + to.node, tags: [] }
  const tcpAt = emitIpv4(
    {
      ...{ trafficClass: 0, identification: 0, dontFragment: true, moreFragments: false, fragmentOffset: 0 },
      ...{ ttl: 255, protocol: 6, source: NETWORK + from.node * 256, destination: NETWORK + to.node * 256 },
      ...{ options: new Uint8Array(0), payloadBytes: 40 },
    },
    octets,
    emitEthernet({ ...ethernet, etherType: 0x0800 }, octets),
  )
  const ports = { sourcePort: from.port, destinationPort: to.port }
  const numbers = { sequence: 0, acknowledgement: 0, flags: 0x10, window: 0xffff, checksum: 0, urgentPointer: 0 }
  const at = emitTcp({ ...ports, ...numbers, options: new Uint8Array(0) }, octets, tcpAt)
  const mpa = { kind, markers: false, crc: true, rejected: false, revision: 1, enhanced: undefined } as const
  emitMpa({ ...mpa, privateData: new Uint8Array(0) }, octets, at)
  const sum = foldWords(addWords(pseudoHeader(octets, tcpAt - 8, 4, 6, 40), octets, tcpAt, octets.length))
  octets[tcpAt + 16] = sum >> 8
  octets[tcpAt + 17] = sum
  return octets
}
