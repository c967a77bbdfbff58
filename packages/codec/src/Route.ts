import { Layout } from "@rdmakit/packet"
import { crc32 } from "@rdmakit/wire/crc"
import { ETHERNET_BYTES, EtherType, emitEthernet } from "@rdmakit/wire/ethernet"
import { emitIpv4, IPV4_BYTES, IpProtocol } from "@rdmakit/wire/ipv4"
import { emitIpv6, IPV6_BYTES } from "@rdmakit/wire/ipv6"
import { emitUdp, ROCE_PORT, UDP_BYTES } from "@rdmakit/wire/udp"
import { CodecError } from "./CodecError.ts"
import { i32, put16 } from "./Octets.ts"

export interface RouteOptions {
  /** 16 octets each, both of IPv4 (mapped, RFC 4291 §2.5.5.2) or neither. */
  readonly source: Uint8Array
  readonly destination: Uint8Array
  /** IPv4's, 16 bits. Default 0, as for all packets that may not be fragmented (RFC 6864 §4.1). */
  readonly identification?: number
  /** Without it, octets begin with the IP header. */
  readonly ethernet?: {
    readonly source: number
    readonly destination: number
    /** 802.1Q tag: VLAN 0 to 4,095, priority 0 to 7 (default 0). */
    readonly vlan?: { readonly id: number; readonly priority?: number } | undefined
  }
}

const NO_OPTIONS = new Uint8Array(0)
const ADDRESS_BYTES = 16
const ADDRESS_WORDS = 8
const { EXT } = Layout
/** Ones that stand for an LRH in the invariant CRC (IBTA 1.7 §A17.3.3). */
const LRH_BYTES = 8

/** Whether 16 octets are an IPv4 address, mapped. */
export const isMapped = (gid: Uint8Array): boolean => {
  for (let at = 0; at < 10; at++) if (gid[at] !== 0) return false
  return gid[10] === 0xff && gid[11] === 0xff
}

/**
 * The headers in front of the BTH that all packets between two addresses share: Ethernet or none, IP, UDP. A codec copies
 * them, and writes what differs from packet to packet.
 */
export class Route {
  readonly version: 4 | 6
  /** Octets of Ethernet: 0, 14, or 18 with a tag. */
  readonly linkBytes: number
  /** Link, IP and UDP, without lengths, traffic class, flow label, hop limit, UDP source port and checksums. */
  readonly octets: Uint8Array
  /** IPv4: the sum of the header's words as `octets` has them. */
  readonly headerSum: number
  /** Both addresses, as a packet's extension record has them. */
  private readonly addresses = new Int32Array(ADDRESS_WORDS)
  /** Link left out, after the LRH's ones: the headers as the invariant CRC takes them. */
  private readonly invariant: Uint8Array
  private prefixPort = -1
  private prefixBytes = -1
  private prefix = 0

  /** @throws CodecError for addresses of two kinds, or not of 16 octets */
  constructor({ source, destination, identification = 0, ethernet }: RouteOptions) {
    if (source.length !== ADDRESS_BYTES || destination.length !== ADDRESS_BYTES)
      throw new CodecError("address", `${source.length} and ${destination.length} octets`, "16 each")
    const mapped = isMapped(source)
    if (mapped !== isMapped(destination)) throw new CodecError("address", "IPv4 and IPv6", "two of one kind")
    this.version = mapped ? 4 : 6
    const vlan = ethernet?.vlan
    this.linkBytes = ethernet === undefined ? 0 : ETHERNET_BYTES + (vlan === undefined ? 0 : 4)
    const octets = new Uint8Array(this.linkBytes + (mapped ? IPV4_BYTES : IPV6_BYTES) + UDP_BYTES)
    if (ethernet !== undefined) {
      const etherType = mapped ? EtherType.Ipv4 : EtherType.Ipv6
      const tag =
        vlan && ({ protocol: 0x8100, priority: vlan.priority ?? 0, dropEligible: false, vlan: vlan.id } as const)
      emitEthernet({ ...ethernet, tags: tag === undefined ? [] : [tag], etherType }, octets)
    }
    const udp = mapped
      ? emitMapped(source, destination, identification, octets, this.linkBytes)
      : emitPlain(source, destination, octets, this.linkBytes)
    emitUdp({ sourcePort: 0, destinationPort: ROCE_PORT, payloadBytes: 0, checksum: 0 }, octets, udp)
    this.octets = octets
    let sum = 0
    if (mapped) for (let at = this.linkBytes; at < udp; at += 2) sum += (octets[at]! << 8) | octets[at + 1]!
    this.headerSum = sum
    for (let word = 0; word < ADDRESS_WORDS / 2; word++) {
      this.addresses[word] = i32(source, 4 * word)
      this.addresses[ADDRESS_WORDS / 2 + word] = i32(destination, 4 * word)
    }
    this.invariant = invariantOf(octets.subarray(this.linkBytes), mapped)
  }

  /**
   * The invariant CRC over all that comes before the BTH: it changes with the length and the source port alone, which are as
   * a rule those of the packet before.
   * @param bytes of UDP, its header included
   */
  icrcPrefix(sourcePort: number, bytes: number): number {
    if (sourcePort === this.prefixPort && bytes === this.prefixBytes) return this.prefix
    const { invariant } = this
    const udp = invariant.length - UDP_BYTES
    if (this.version === 4) put16(invariant, LRH_BYTES + 2, IPV4_BYTES + bytes)
    else put16(invariant, LRH_BYTES + 4, bytes)
    put16(invariant, udp, sourcePort)
    put16(invariant, udp + 4, bytes)
    this.prefixPort = sourcePort
    this.prefixBytes = bytes
    this.prefix = crc32(invariant)
    return this.prefix
  }

  /** Writes both addresses into the extension record at `at`. */
  putAddresses(extension: Int32Array, at: number): void {
    for (let word = 0; word < ADDRESS_WORDS; word++) extension[at + EXT.ipv6Source + word] = this.addresses[word]!
  }

  /** The next hop's address has become known, or another. */
  setDestinationMac(mac: number): void {
    for (let at = 5, rest = mac; at >= 0; at--, rest = Math.floor(rest / 256)) this.octets[at] = rest % 256
  }
}

/** Headers of IP and UDP with all ones where packets change on their way (IBTA 1.7 §A17.3.3). */
const invariantOf = (headers: Uint8Array, mapped: boolean): Uint8Array => {
  const out = new Uint8Array(LRH_BYTES + headers.length).fill(0xff, 0, LRH_BYTES)
  out.set(headers, LRH_BYTES)
  if (mapped) {
    for (const at of [1, 8, 10, 11]) out[LRH_BYTES + at] = 0xff
  } else {
    out[LRH_BYTES] = 0x6f
    for (const at of [1, 2, 3, 7]) out[LRH_BYTES + at] = 0xff
  }
  return out.fill(0xff, out.length - 2)
}

/** Total length and time to live are left 0; fragmenting is forbidden, as by Linux. */
const emitMapped = (
  source: Uint8Array,
  destination: Uint8Array,
  identification: number,
  octets: Uint8Array,
  at: number,
): number => {
  const end = emitIpv4(
    {
      trafficClass: 0,
      identification,
      dontFragment: true,
      moreFragments: false,
      fragmentOffset: 0,
      ttl: 0,
      protocol: IpProtocol.Udp,
      source: word(source, 12),
      destination: word(destination, 12),
      options: NO_OPTIONS,
      payloadBytes: 0,
    },
    octets,
    at,
  )
  // The length of the header alone, and its checksum.
  octets.fill(0, at + 2, at + 4)
  octets.fill(0, at + 10, at + 12)
  return end
}

const emitPlain = (source: Uint8Array, destination: Uint8Array, octets: Uint8Array, at: number): number =>
  emitIpv6(
    { trafficClass: 0, flowLabel: 0, payloadBytes: 0, nextHeader: IpProtocol.Udp, hopLimit: 0, source, destination },
    octets,
    at,
  )

const word = (octets: Uint8Array, at: number): number =>
  ((octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!) >>> 0
