import { addWords, pseudoHeader, udpChecksum } from "../Checksum.ts"
import { type Crc, crc32 } from "../crc/Crc32.ts"
import { type Ethernet, EtherType, emitEthernet, ethernetBytes } from "../Ethernet.ts"
import { emitIpv4, type Ipv4, ipv4Bytes } from "../Ipv4.ts"
import { emitIpv6, IPV6_BYTES, type Ipv6 } from "../Ipv6.ts"
import type { Bth } from "../infiniband/Bth.ts"
import { emitGrh, GRH_BYTES, GRH_NEXT_BTH, type Grh } from "../infiniband/Grh.ts"
import { emitLrh, LRH_BYTES, type Lrh } from "../infiniband/Lrh.ts"
import { opcodeOf } from "../infiniband/Opcode.ts"
import { type ExtendedHeaders, emitTransport, ICRC_BYTES, transportBytes } from "../infiniband/Transport.ts"
import { EmitError, put16, space } from "../Octets.ts"
import { emitUdp, ROCE_PORT, UDP_BYTES } from "../Udp.ts"
import { type Carrier, icrcOf, putIcrc } from "./Icrc.ts"
import { putVcrc, VCRC_BYTES, vcrcOf } from "./Vcrc.ts"

type EthernetPart = Omit<Ethernet, "etherType"> | undefined

/** What carries the packet. Lengths, protocol numbers and checksums are filled in; without `ethernet`, IP comes first. */
export type RoceCarrier =
  | {
      readonly kind: "ipv4"
      readonly ethernet: EthernetPart
      readonly ip: Omit<Ipv4, "payloadBytes" | "protocol" | "moreFragments" | "fragmentOffset">
      readonly sourcePort: number
      /** By default none is sent, as by Linux and by adapters. */
      readonly udpChecksum?: boolean
    }
  | {
      readonly kind: "ipv6"
      readonly ethernet: EthernetPart
      readonly ip: Omit<Ipv6, "payloadBytes" | "nextHeader">
      readonly sourcePort: number
      /** By default none is sent, as by Linux; RFC 8200 §8.1 wants one unless RFC 6935 applies. */
      readonly udpChecksum?: boolean
    }
  | {
      readonly kind: "rocev1"
      readonly ethernet: EthernetPart
      readonly grh: Omit<Grh, "payloadBytes" | "nextHeader">
    }
  | { readonly kind: "local"; readonly lrh: Omit<Lrh, "payloadBytes" | "next"> }
  | {
      readonly kind: "global"
      readonly lrh: Omit<Lrh, "payloadBytes" | "next">
      readonly grh: Omit<Grh, "payloadBytes" | "nextHeader">
    }

export interface RocePacket {
  readonly carrier: RoceCarrier
  readonly bth: Omit<Bth, "padBytes">
  /** Those of the opcode, no fewer and no more. */
  readonly headers: Partial<ExtendedHeaders>
  /** A multiple of four octets is not needed: padding is added. */
  readonly payload: Uint8Array
}

const linkBytes = (ethernet: EthernetPart): number =>
  ethernet === undefined ? 0 : ethernetBytes({ ...ethernet, etherType: 0 })

const carrierBytes = (carrier: RoceCarrier): number => {
  switch (carrier.kind) {
    case "ipv4":
      return linkBytes(carrier.ethernet) + ipv4Bytes({ ...carrier.ip, ...noFragment, payloadBytes: 0 }) + UDP_BYTES
    case "ipv6":
      return linkBytes(carrier.ethernet) + IPV6_BYTES + UDP_BYTES
    case "rocev1":
      return linkBytes(carrier.ethernet) + GRH_BYTES
    case "local":
      return LRH_BYTES
    case "global":
      return LRH_BYTES + GRH_BYTES
  }
}

const noFragment = { protocol: 17, moreFragments: false, fragmentOffset: 0 } as const
const padOf = (payload: Uint8Array): number => -payload.length & 3
const isNative = ({ kind }: RoceCarrier): boolean => kind === "local" || kind === "global"

/** Octets of BTH, headers, payload, padding and ICRC. */
const datagramBytes = ({ bth, payload }: RocePacket): number =>
  transportBytes({ bth }) + payload.length + padOf(payload) + ICRC_BYTES

/** Octets of the whole packet, without Ethernet's own padding and FCS. */
export const rocePacketBytes = (packet: RocePacket): number =>
  carrierBytes(packet.carrier) + datagramBytes(packet) + (isNative(packet.carrier) ? VCRC_BYTES : 0)

/** Writes what carries the BTH and returns where the BTH goes, and the header that the ICRC starts from. */
const emitCarrier = (
  carrier: RoceCarrier,
  bytes: number,
  octets: Uint8Array,
  start: number,
): { readonly header: number; readonly bth: number } => {
  const link = (ethernet: EthernetPart, etherType: number): number =>
    ethernet === undefined ? start : emitEthernet({ ...ethernet, etherType }, octets, start)
  const udp = (sourcePort: number, at: number): number =>
    emitUdp({ sourcePort, destinationPort: ROCE_PORT, payloadBytes: bytes, checksum: 0 }, octets, at)
  switch (carrier.kind) {
    case "ipv4": {
      const header = link(carrier.ethernet, EtherType.Ipv4)
      const ip = { ...carrier.ip, ...noFragment, payloadBytes: UDP_BYTES + bytes }
      return { header, bth: udp(carrier.sourcePort, emitIpv4(ip, octets, header)) }
    }
    case "ipv6": {
      const header = link(carrier.ethernet, EtherType.Ipv6)
      const ip = { ...carrier.ip, nextHeader: noFragment.protocol, payloadBytes: UDP_BYTES + bytes }
      return { header, bth: udp(carrier.sourcePort, emitIpv6(ip, octets, header)) }
    }
    case "rocev1": {
      const header = link(carrier.ethernet, EtherType.RoceV1)
      const grh = { ...carrier.grh, nextHeader: GRH_NEXT_BTH, payloadBytes: bytes }
      return { header, bth: emitGrh(grh, octets, header) }
    }
    case "local": {
      const bth = emitLrh({ ...carrier.lrh, next: "local", payloadBytes: bytes }, octets, start)
      return { header: start, bth }
    }
    case "global": {
      const at = emitLrh({ ...carrier.lrh, next: "global", payloadBytes: GRH_BYTES + bytes }, octets, start)
      const grh = { ...carrier.grh, nextHeader: GRH_NEXT_BTH, payloadBytes: bytes }
      return { header: start, bth: emitGrh(grh, octets, at) }
    }
  }
}

/** Fills the UDP checksum, which covers the ICRC and so comes last. */
const fillUdpChecksum = (octets: Uint8Array, carrier: Carrier, header: number, bth: number, end: number): void => {
  const udp = bth - UDP_BYTES
  const [addresses, bytes] = carrier === "ipv4" ? [header + 12, 4] : [header + 8, 16]
  const sum = pseudoHeader(octets, addresses, bytes, noFragment.protocol, end - udp)
  put16(octets, udp + 6, udpChecksum(addWords(sum, octets, udp, end)))
}

/**
 * Writes a whole packet, lengths, padding and checksums filled in, and returns the first octet after it. Throws an
 * `EmitError` for headers that are not the opcode's, a value out of its range, or a buffer too small.
 */
export const buildRoce = (packet: RocePacket, octets: Uint8Array, start = 0, crc: Crc = crc32): number => {
  const { carrier, payload } = packet
  const opcode = opcodeOf(packet.bth.opcode)
  if (opcode === undefined) throw new EmitError("bth", "opcode", packet.bth.opcode, "a known opcode")
  if (!opcode.payload && payload.length > 0)
    throw new EmitError("bth", "payload", payload.length, "0 octets for this opcode")
  space(octets, start, rocePacketBytes(packet), "roce")
  const { header, bth } = emitCarrier(carrier, datagramBytes(packet), octets, start)
  const padBytes = padOf(payload)
  const at = emitTransport({ bth: { ...packet.bth, padBytes }, headers: packet.headers }, octets, bth)
  octets.set(payload, at)
  const icrc = at + payload.length + padBytes
  octets.fill(0, icrc - padBytes, icrc)
  putIcrc(octets, icrc, icrcOf(octets, { carrier: carrier.kind, header, bth, icrc }, crc))
  const end = icrc + ICRC_BYTES
  if (isNative(carrier)) {
    putVcrc(octets, end, vcrcOf(octets, start, end))
    return end + VCRC_BYTES
  }
  if ((carrier.kind === "ipv4" || carrier.kind === "ipv6") && carrier.udpChecksum === true)
    fillUdpChecksum(octets, carrier.kind, header, bth, end)
  return end
}
