import { Flag, Opcode, type Packet } from "@rdmakit/packet"
import { crc32 } from "@rdmakit/wire/crc"
import { ETHERNET_BYTES, EtherType, parseEthernet } from "@rdmakit/wire/ethernet"
import { acknowledgement, type Bth, type ExtendedHeaders, nak, opcodeOf } from "@rdmakit/wire/infiniband"
import { emitIpv4, IPV4_BYTES, IpProtocol, parseIpv4 } from "@rdmakit/wire/ipv4"
import { PFC_MAC, parsePfc } from "@rdmakit/wire/pfc"
import { buildRoce, checkIcrc, ICRC_BYTES, parseTransport, type Transport } from "@rdmakit/wire/roce"
import { emitUdp, parseUdp, ROCE_PORT, UDP_BYTES } from "@rdmakit/wire/udp"
import { endpointOfQp, type Link, macOfNode, memoryOfFlow, nodeOfIpv4, nodeOfMac, qpOfEndpoint } from "./Addresses.ts"
import { CodecError } from "./CodecError.ts"
import {
  emitInt,
  type IntLayout,
  intBytes,
  intBytesAt,
  intKindOf,
  intPorts,
  markTelemetry,
  readInt,
} from "./IntHeader.ts"
import { type IpPart, ipOf, TTL } from "./IpHeader.ts"
import { payloadOctet, payloadOf } from "./Payload.ts"
import { encodePfc, padFrame } from "./PfcFrame.ts"

export interface RoceCodecOptions {
  /** Telemetry, written between UDP and BTH. Default "none". */
  readonly telemetry?: IntLayout
  /**
   * The messages of the run, one for each flow: a RETH tells the message's length, and the acknowledgement of its last packet
   * counts it. Default: a message is what its first packet carries, and none is counted.
   */
  readonly messages?: {
    /** @param flow a packet's `flow`, halved */
    readonly bytesOf: (flow: number) => number
    /** Payload of every packet but a message's last. */
    readonly mtuBytes: number
  }
  /** CRC-32, as `@rdmakit/wire/node` has a quicker one. */
  readonly crc?: typeof crc32
}

/** What octets say besides what the packet has room for, or why they are none of the simulator's. */
export type Decoded =
  | {
      readonly ok: true
      readonly link: Link
      /** Of the whole message; undefined in packets without a RETH. */
      readonly messageBytes: number | undefined
    }
  | { readonly ok: false; readonly error: CodecError }

/** Between Ethernet and what follows UDP. */
const IP_AT = ETHERNET_BYTES
const UDP_AT = IP_AT + IPV4_BYTES
const BTH_AT = UDP_AT + UDP_BYTES

/** The lower bits of RoCEv2's source ports, which are of the dynamic range (IBTA 1.7 §A17.3.1). */
const PORT_MIN = 0xc000
const PORT_MASK = 0x3fff
const DEFAULT_PARTITION = 0xffff
const MESSAGE_COUNT_END = 2 ** 24
/** Most that a RETH can say; responders refuse what is longer than 2^31. */
const DMA_BYTES_MAX = 0xffff_ffff
const NOTHING = new Uint8Array(0)

/** Octets that a frame takes at most beside its payload: its headers, telemetry and the ICRC. */
export const FRAME_OVERHEAD_BYTES = BTH_AT + 12 + 16 + 3 + ICRC_BYTES + 2 + 8 * 15
/** The longest payload of which IPv4 can tell the length. */
export const PAYLOAD_BYTES_MAX = 0xffff + ETHERNET_BYTES - FRAME_OVERHEAD_BYTES

/**
 * The simulator's packets as frames of RoCEv2 over IPv4 and Ethernet, without preamble and FCS, and back. What stands for
 * what is in the README: addresses are those of nodes, queue pairs those of flows, the payload is a ramp.
 *
 * What the octets do not have is lost: the time stamp, telemetry in the layout "none", that a packet was sent again, the
 * cause of a packet's `NakSequence` beside the PSN that is expected (IRN's selective acknowledgement has no octets).
 */
export class RoceCodec {
  private readonly telemetry: IntLayout
  private readonly messages: RoceCodecOptions["messages"]
  private readonly crc: typeof crc32
  private scratch = new Uint8Array(2048)

  constructor(options: RoceCodecOptions = {}) {
    this.telemetry = options.telemetry ?? "none"
    this.messages = options.messages
    this.crc = options.crc ?? crc32
  }

  /**
   * Writes a packet as it is on a link, and returns the first octet after it: at least 60 after `start`.
   * @throws CodecError for what RoCEv2 cannot say: another transport's opcode, telemetry that does not fit its layout
   * @throws EmitError of wire for a buffer too small, or a payload longer than {@link PAYLOAD_BYTES_MAX}
   */
  encode(packet: Packet, link: Link, octets: Uint8Array, start = 0): number {
    if (packet.opcode === Opcode.Pfc) return encodePfc(packet, link, octets, start)
    return padFrame(octets, start, this.roce(packet, link, octets, start))
  }

  private roce(packet: Packet, link: Link, octets: Uint8Array, start: number): number {
    const { opcode } = packet
    const code = opcode === Opcode.NakSequence ? Opcode.Acknowledge : opcode
    const known = opcodeOf(code)
    if (known === undefined) throw new CodecError("opcode", opcode, "one of RoCEv2")
    const payload = known.payload ? payloadOf(packet.psn, packet.payloadBytes) : NOTHING
    const bth: Omit<Bth, "padBytes"> = {
      opcode: code,
      solicited: packet.has(Flag.Solicited),
      migrated: false,
      partition: DEFAULT_PARTITION,
      fecn: false,
      becn: opcode === Opcode.Cnp || packet.has(Flag.CongestionEcho),
      destinationQp: qpOfEndpoint(packet.flow ^ 1),
      ackRequest: packet.has(Flag.AckRequest),
      psn: packet.psn,
    }
    const ethernet = { destination: macOfNode(link.to), source: macOfNode(link.from), tags: [] }
    const ip = ipOf(packet)
    const sourcePort = sourcePortOf(packet)
    const end = buildRoce(
      {
        carrier: { kind: "ipv4", ethernet, ip, sourcePort },
        bth,
        headers: this.headersOf(packet, known.headers),
        payload,
      },
      octets,
      start,
      this.crc,
    )
    const bytes = intBytes(packet, this.telemetry)
    if (this.telemetry === "none" || bytes === 0) return end
    // Switches write telemetry after the sender has made the ICRC: it covers the packet as it is without.
    octets.copyWithin(start + BTH_AT + bytes, start + BTH_AT, end)
    emitInt(packet, this.telemetry, octets, start + BTH_AT)
    const destinationPort = intPorts[packet.pint >= 0 ? "pint" : this.telemetry]
    putLengths(octets, start, ip, sourcePort, destinationPort, end - start - BTH_AT + bytes)
    return end + bytes
  }

  private headersOf(packet: Packet, names: ReadonlyArray<string>): Partial<ExtendedHeaders> {
    if (names.includes("aeth")) {
      const syndrome = packet.opcode === Opcode.NakSequence ? nak("psnSequenceError") : acknowledgement()
      return { aeth: { syndrome, msn: this.messagesDone(packet) } }
    }
    if (names.includes("cnp")) return { cnp: {} }
    if (!names.includes("reth")) return {}
    const flow = packet.flow >> 1
    const bytes = packet.opcode === Opcode.WriteOnly ? undefined : this.messages?.bytesOf(flow)
    const { address, key } = memoryOfFlow(flow)
    return {
      reth: {
        virtualAddress: address,
        remoteKey: key,
        dmaBytes: Math.min(DMA_BYTES_MAX, bytes ?? packet.payloadBytes),
      },
    }
  }

  /** Messages that the sender of an acknowledgement has completed: the flow's one, or none yet. */
  private messagesDone(packet: Packet): number {
    if (this.messages === undefined || packet.opcode !== Opcode.Acknowledge) return 0
    const { bytesOf, mtuBytes } = this.messages
    const packets = Math.max(1, Math.ceil(bytesOf(packet.flow >> 1) / mtuBytes))
    return packets < MESSAGE_COUNT_END && packet.psn === packets - 1 ? 1 : 0
  }

  /**
   * Reads a frame into a packet as `alloc` gives it. Frames that `encode` did not make are refused: with other addresses,
   * another payload, an ICRC that is wrong. The packet is then half written, and to be released.
   */
  decode(octets: Uint8Array, packet: Packet): Decoded {
    const ethernet = parseEthernet(octets)
    if (!ethernet.ok) return refused(`ethernet.${ethernet.error.field}`, ethernet.error.what, "an Ethernet frame")
    const { source, destination, etherType } = ethernet.value
    const from = nodeOfMac(source)
    if (from === undefined) return refused("ethernet.source", source.toString(16), "a node's address")
    packet.wireBytes = octets.length
    if (etherType === EtherType.MacControl && destination === PFC_MAC) return decodePfc(octets, from, packet)
    const to = nodeOfMac(destination)
    if (to === undefined) return refused("ethernet.destination", destination.toString(16), "a node's address")
    if (etherType !== EtherType.Ipv4) return refused("ethernet.etherType", etherType, "IPv4, or PFC")
    return this.decodeIp(octets, { from, to }, packet)
  }

  private decodeIp(octets: Uint8Array, link: Link, packet: Packet): Decoded {
    const ip = parseIpv4(octets, IP_AT)
    if (!ip.ok) return refused(`ipv4.${ip.error.field}`, ip.error.what, "a packet of IPv4")
    if (ip.faults.length > 0 || ip.value.options.length > 0) return refused("ipv4", "faults or options", "neither")
    const udp = ip.value.protocol === IpProtocol.Udp ? parseUdp(octets, UDP_AT, ip.payloadEnd) : undefined
    if (udp?.ok !== true) return refused("ipv4.protocol", ip.value.protocol, "UDP")
    const { trafficClass, ttl } = ip.value
    const nodes = [nodeOfIpv4(ip.value.source), nodeOfIpv4(ip.value.destination)] as const
    if (nodes[0] === undefined || nodes[1] === undefined)
      return refused("ipv4.source", ip.value.source, "nodes' addresses")
    packet.setNodes(nodes[0], nodes[1])
    packet.meta = ((trafficClass >> 5) << 24) | ((trafficClass & 3) << 28)
    packet.hop = TTL - ttl
    const { destinationPort, sourcePort } = udp.value
    if (destinationPort === ROCE_PORT) return this.decodeRoce(octets, ip.payloadEnd, sourcePort, link, packet)
    const kind = intKindOf(destinationPort)
    if (kind === undefined)
      return refused("udp.destinationPort", destinationPort, `${ROCE_PORT}, or a port of telemetry`)
    const bytes = intBytesAt(kind, octets, BTH_AT)
    if (BTH_AT + bytes > udp.payloadEnd) return refused("udp.length", udp.value.payloadBytes, "room for telemetry")
    const error = readInt(kind, octets, BTH_AT, bytes, packet)
    if (error !== undefined) return { ok: false, error }
    const end = ip.payloadEnd - bytes
    if (this.scratch.length < end) this.scratch = new Uint8Array(2 * end)
    const plain = this.scratch
    plain.set(octets.subarray(0, BTH_AT))
    plain.set(octets.subarray(BTH_AT + bytes, ip.payloadEnd), BTH_AT)
    putLengths(plain, 0, ip.value, sourcePort, ROCE_PORT, end - BTH_AT)
    return this.decodeRoce(plain, end, sourcePort, link, packet)
  }

  /** From the BTH on, in a frame whose IP packet ends at `end`. */
  private decodeRoce(octets: Uint8Array, end: number, sourcePort: number, link: Link, packet: Packet): Decoded {
    const parsed = parseTransport(octets, BTH_AT, end)
    if (!parsed.ok)
      return refused(`${parsed.error.format}.${parsed.error.field}`, parsed.error.what, "a packet of RoCEv2")
    const icrc = end - ICRC_BYTES
    const place = { carrier: "ipv4", header: IP_AT, bth: BTH_AT, icrc } as const
    if (checkIcrc(octets.subarray(0, end), place, this.crc) !== "right")
      return refused("icrc", "a wrong one", "the packet's")
    const { bth, headers } = parsed.value
    const endpoint = endpointOfQp(bth.destinationQp)
    if (endpoint === undefined) return refused("bth.destinationQp", bth.destinationQp, "one of a flow, from 0x100 on")
    const opcode = simulatorOpcode(parsed.value)
    if (opcode === undefined) return refused("bth.opcode", bth.opcode, "one of the simulator's")
    packet.opcode = opcode
    if (bth.solicited) packet.set(Flag.Solicited)
    if (bth.ackRequest) packet.set(Flag.AckRequest)
    if (bth.becn && opcode !== Opcode.Cnp) packet.set(Flag.CongestionEcho)
    packet.psn = bth.psn
    packet.flow = endpoint ^ 1
    packet.udpPorts = ((packet.flow & 1) === 0 ? sourcePort | (ROCE_PORT << 16) : ROCE_PORT | (sourcePort << 16)) >>> 0
    packet.payloadBytes = parsed.payloadEnd - parsed.payloadStart
    if (opcode < Opcode.Acknowledge) markTelemetry(packet)
    for (let index = 0; index < packet.payloadBytes; index++) {
      const found = octets[parsed.payloadStart + index]!
      if (found !== payloadOctet(bth.psn, index)) return refused(`payload octet ${index}`, found, "the ramp of its PSN")
    }
    return { ok: true, link, messageBytes: headers.reth?.dmaBytes }
  }
}

const refused = (field: string, found: number | string, expected: string): Decoded => ({
  ok: false,
  error: new CodecError(field, found, expected),
})

/** One for both directions of a connection, as Linux has it: from the flow's own source port, which its ECMP hash sees. */
const sourcePortOf = ({ udpPorts, flow }: Packet): number =>
  PORT_MIN | (((flow & 1) === 0 ? udpPorts : udpPorts >>> 16) & PORT_MASK)

/** Writes the headers of IP and UDP anew, around `bytes` octets. */
const putLengths = (
  octets: Uint8Array,
  start: number,
  ip: IpPart,
  sourcePort: number,
  destinationPort: number,
  bytes: number,
): void => {
  const whole = { moreFragments: false, fragmentOffset: 0, protocol: IpProtocol.Udp, payloadBytes: UDP_BYTES + bytes }
  emitIpv4({ ...ip, ...whole }, octets, start + IP_AT)
  emitUdp({ sourcePort, destinationPort, payloadBytes: bytes, checksum: 0 }, octets, start + UDP_AT)
}

/** The link's other end is not in the frame: it is told as the one that sent it. */
const decodePfc = (octets: Uint8Array, from: number, packet: Packet): Decoded => {
  const parsed = parsePfc(octets, ETHERNET_BYTES)
  const quanta = parsed.ok && parsed.value.kind === "pfc" ? parsed.value.quanta : []
  const enabled = quanta.flatMap((each, priority) => (each === undefined ? [] : [priority]))
  if (enabled.length !== 1) return refused("pfc.enabled", enabled.length, "one priority")
  const priority = enabled[0]!
  packet.meta = Opcode.Pfc | (quanta[priority]! > 0 ? Flag.Pause : 0) | (priority << 24)
  packet.setNodes(from, 0)
  return { ok: true, link: { from, to: from }, messageBytes: undefined }
}

const simulatorOpcodes: ReadonlySet<number> = new Set(Object.values(Opcode))

/** A NAK has a number of its own in the simulator. */
const simulatorOpcode = ({ bth, headers }: Transport): number | undefined => {
  if (!simulatorOpcodes.has(bth.opcode)) return undefined
  const syndrome = headers.aeth?.syndrome
  if (syndrome === undefined || syndrome.kind === "ack") return bth.opcode
  return syndrome.kind === "nak" && syndrome.meaning === "psnSequenceError" ? Opcode.NakSequence : undefined
}
