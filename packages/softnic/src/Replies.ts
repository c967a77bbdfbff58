import { emitArp } from "@rdmakit/wire/arp"
import { addWords, foldWords, pseudoHeader } from "@rdmakit/wire/checksum"
import { EtherType, emitEthernet, ethernetBytes, type VlanTag } from "@rdmakit/wire/ethernet"
import { emitIpv4, IpProtocol } from "@rdmakit/wire/ipv4"
import { emitIpv6 } from "@rdmakit/wire/ipv6"

/*
 * The frames that a host on Ethernet owes its neighbours beside those of its programs: ARP (RFC 826), echo (RFC 792,
 * RFC 4443 §4.2) and neighbour discovery (RFC 4861 §4.3, §4.4). They are few: each is an array of its own.
 */

/** Whom a frame is from and to. */
export interface FrameEnds {
  readonly source: number
  readonly destination: number
  readonly tags: ReadonlyArray<VlanTag>
}

export const BROADCAST = 0xffff_ffff_ffff
const FRAME_BYTES_MIN = 60
const ICMPV6_HOP_LIMIT = 255
const HOP_LIMIT = 64
const NO_OPTIONS = new Uint8Array(0)

/** Neighbour discovery's types of ICMPv6. */
export const SOLICITATION = 135
export const ADVERTISEMENT = 136
/** Options of neighbour discovery: the link-layer address of the sender, and of the target. */
const SOURCE_ADDRESS = 1
const TARGET_ADDRESS = 2

/** An empty frame with so many octets behind its header, at least 60 in all, and where they begin. */
const frameOf = (ends: FrameEnds, etherType: number, bytes: number): readonly [Uint8Array, number] => {
  const header = { ...ends, etherType }
  const octets = new Uint8Array(Math.max(FRAME_BYTES_MIN, ethernetBytes(header) + bytes))
  return [octets, emitEthernet(header, octets)]
}

export interface ArpEnds {
  readonly senderMac: number
  readonly senderIp: number
  readonly targetMac: number
  readonly targetIp: number
}

export const arpFrame = (ends: FrameEnds, operation: 1 | 2, arp: ArpEnds): Uint8Array => {
  const [octets, at] = frameOf(ends, EtherType.Arp, 28)
  emitArp({ operation, ...arp }, octets, at)
  return octets
}

/** @param message ICMP from its type on, whose checksum is filled in */
export const icmpFrame = (ends: FrameEnds, source: number, destination: number, message: Uint8Array): Uint8Array => {
  const [octets, ip] = frameOf(ends, EtherType.Ipv4, 20 + message.length)
  const at = emitIpv4(
    {
      trafficClass: 0,
      identification: 0,
      dontFragment: true,
      moreFragments: false,
      fragmentOffset: 0,
      ttl: HOP_LIMIT,
      protocol: IpProtocol.Icmp,
      source,
      destination,
      options: NO_OPTIONS,
      payloadBytes: message.length,
    },
    octets,
    ip,
  )
  octets.set(message, at)
  octets.fill(0, at + 2, at + 4)
  const sum = foldWords(addWords(0, octets, at, at + message.length))
  octets[at + 2] = sum >> 8
  octets[at + 3] = sum
  return octets
}

/** @param message ICMPv6 from its type on, whose checksum is filled in */
export const icmpv6Frame = (
  ends: FrameEnds,
  source: Uint8Array,
  destination: Uint8Array,
  message: Uint8Array,
  hopLimit: number = HOP_LIMIT,
): Uint8Array => {
  const [octets, ip] = frameOf(ends, EtherType.Ipv6, 40 + message.length)
  const header = { trafficClass: 0, flowLabel: 0, payloadBytes: message.length, nextHeader: IpProtocol.Icmpv6 }
  const at = emitIpv6({ ...header, hopLimit, source, destination }, octets, ip)
  octets.set(message, at)
  octets.fill(0, at + 2, at + 4)
  const sum = foldWords(icmpv6Sum(octets, ip, at, message.length))
  octets[at + 2] = sum >> 8
  octets[at + 3] = sum
  return octets
}

/** The sum of an ICMPv6 message with its pseudo-header; folded it is 0 when the checksum is right. */
export const icmpv6Sum = (octets: Uint8Array, ip: number, at: number, bytes: number): number =>
  addWords(pseudoHeader(octets, ip + 8, 16, IpProtocol.Icmpv6, bytes), octets, at, at + bytes)

/** Solicitation and advertisement have one shape: a word of flags, the target, one option. */
const discovery = (type: number, flags: number, target: Uint8Array, option: number, mac: number): Uint8Array => {
  const message = new Uint8Array(32)
  message[0] = type
  message[4] = flags
  message.set(target, 8)
  message[24] = option
  message[25] = 1
  for (let at = 31, rest = mac; at >= 26; at--, rest = Math.floor(rest / 256)) message[at] = rest % 256
  return message
}

/** The group of everybody whose address ends in the same three octets (RFC 4291 §2.7.1). */
export const solicitedNode = (target: Uint8Array): Uint8Array => {
  const group = new Uint8Array([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 0])
  group.set(target.subarray(13), 13)
  return group
}

export const solicitationFrame = (ends: FrameEnds, source: Uint8Array, target: Uint8Array): Uint8Array =>
  icmpv6Frame(
    ends,
    source,
    solicitedNode(target),
    discovery(SOLICITATION, 0, target, SOURCE_ADDRESS, ends.source),
    ICMPV6_HOP_LIMIT,
  )

const SOLICITED = 0x40
const OVERRIDE = 0x20

/** @param solicited it answers somebody, and not all nodes */
export const advertisementFrame = (
  ends: FrameEnds,
  target: Uint8Array,
  destination: Uint8Array,
  solicited: boolean,
): Uint8Array =>
  icmpv6Frame(
    ends,
    target,
    destination,
    discovery(ADVERTISEMENT, (solicited ? SOLICITED : 0) | OVERRIDE, target, TARGET_ADDRESS, ends.source),
    ICMPV6_HOP_LIMIT,
  )
