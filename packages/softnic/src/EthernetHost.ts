import type { Time } from "@rdmakit/protocol"
import { ipv4OfGid, mappedGid } from "@rdmakit/wire/address"
import { parseArp } from "@rdmakit/wire/arp"
import { addWords, foldWords } from "@rdmakit/wire/checksum"
import { EtherType, type VlanTag } from "@rdmakit/wire/ethernet"
import { IpProtocol, parseIpv4 } from "@rdmakit/wire/ipv4"
import { parseIpv6 } from "@rdmakit/wire/ipv6"
import { groupMac } from "./Address.ts"
import { wordAt } from "./AddressTable.ts"
import type { Counters } from "./Counters.ts"
import type { Neighbor, Neighbors } from "./Neighbors.ts"
import {
  ADVERTISEMENT,
  advertisementFrame,
  arpFrame,
  BROADCAST,
  type FrameEnds,
  icmpFrame,
  icmpv6Frame,
  icmpv6Sum,
  SOLICITATION,
  solicitationFrame,
  solicitedNode,
} from "./Replies.ts"

/** What a host does beside RDMA, on a network of Ethernet: it answers for its addresses and finds those of others. */
export class EthernetHost {
  private readonly mac: number
  private readonly addresses: ReadonlyArray<Uint8Array>
  private readonly tags: ReadonlyArray<VlanTag>
  private readonly counters: Counters
  private readonly emit: (now: Time, frame: Uint8Array) => boolean
  private readonly neighbors: () => Neighbors

  /** @param emit sends a frame; false: there is no room for it now */
  constructor(
    mac: number,
    addresses: ReadonlyArray<Uint8Array>,
    tags: ReadonlyArray<VlanTag>,
    counters: Counters,
    emit: (now: Time, frame: Uint8Array) => boolean,
    neighbors: () => Neighbors,
  ) {
    this.mac = mac
    this.addresses = addresses
    this.tags = tags
    this.counters = counters
    this.emit = emit
    this.neighbors = neighbors
  }

  /** Asks for the MAC of a neighbour. */
  ask(now: Time, { address, own }: Neighbor): void {
    const [target, sender] = [ipv4OfGid(address), ipv4OfGid(own)]
    if (target !== undefined && sender !== undefined) {
      const arp = { senderMac: this.mac, senderIp: sender, targetMac: 0, targetIp: target }
      this.emit(now, arpFrame(this.to(BROADCAST), 1, arp))
      return
    }
    this.emit(now, solicitationFrame(this.to(groupMac(solicitedNode(address))), own, address))
  }

  /**
   * Takes a frame that is not RoCEv2.
   * @param at where the header after Ethernet's begins @param from MAC of the sender
   */
  handle(now: Time, octets: Uint8Array, type: number, at: number, end: number, from: number): void {
    const frame = octets.subarray(0, end)
    const known =
      type === EtherType.Arp
        ? this.handleArp(now, frame, at)
        : type === EtherType.Ipv4
          ? this.handleIpv4(now, frame, at, from)
          : type === EtherType.Ipv6 && this.handleIpv6(now, frame, at, from)
    if (!known) this.counters.otherProtocols++
  }

  private to(destination: number): FrameEnds {
    return { source: this.mac, destination, tags: this.tags }
  }

  private answer(now: Time, frame: Uint8Array): true {
    if (this.emit(now, frame)) this.counters.answers++
    return true
  }

  private isOwn(address: Uint8Array): boolean {
    return this.addresses.some((own) => own.every((octet, at) => octet === address[at]))
  }

  private handleArp(now: Time, octets: Uint8Array, at: number): boolean {
    const arp = parseArp(octets, at)
    if (!arp.ok) return false
    const { operation, senderIp, senderMac, targetIp } = arp.value
    if (isUnicast(senderMac)) this.neighbors().heard(now, 0, 0, 0xffff, senderIp | 0, senderMac)
    if (operation !== 1 || !this.isOwn(mappedGid(targetIp))) return true
    const reply = { senderMac: this.mac, senderIp: targetIp, targetMac: senderMac, targetIp: senderIp }
    return this.answer(now, arpFrame(this.to(senderMac), 2, reply))
  }

  private handleIpv4(now: Time, octets: Uint8Array, at: number, from: number): boolean {
    const ip = parseIpv4(octets, at)
    if (!ip.ok || ip.faults.length > 0 || ip.value.protocol !== IpProtocol.Icmp) return false
    const { source, destination, moreFragments, fragmentOffset } = ip.value
    const message = octets.subarray(ip.payloadStart, ip.payloadEnd)
    if (moreFragments || fragmentOffset > 0 || message.length < 8) return false
    if (message[0] !== 8 || message[1] !== 0) return false
    if (foldWords(addWords(0, message, 0, message.length)) !== 0 || !this.isOwn(mappedGid(destination))) return false
    const reply = message.slice()
    reply[0] = 0
    return this.answer(now, icmpFrame(this.to(from), destination, source, reply))
  }

  private handleIpv6(now: Time, octets: Uint8Array, at: number, from: number): boolean {
    const ip = parseIpv6(octets, at)
    if (!ip.ok || ip.value.nextHeader !== IpProtocol.Icmpv6) return false
    const { payloadStart, payloadEnd, value } = ip
    const bytes = payloadEnd - payloadStart
    if (bytes < 8 || foldWords(icmpv6Sum(octets, at, payloadStart, bytes)) !== 0) return false
    const message = octets.subarray(payloadStart, payloadEnd)
    if (message[1] !== 0) return false
    if (message[0] === 128 && this.isOwn(value.destination)) {
      const reply = message.slice()
      reply[0] = 129
      return this.answer(now, icmpv6Frame(this.to(from), value.destination, value.source, reply))
    }
    // From another network nobody may speak of neighbours (RFC 4861 §7.1).
    if (value.hopLimit !== 255 || bytes < 24) return false
    const target = message.subarray(8, 24)
    if (message[0] === SOLICITATION) return this.solicited(now, value.source, target, message, from)
    if (message[0] !== ADVERTISEMENT) return false
    const mac = linkAddress(message, 2) ?? from
    if (isUnicast(mac)) this.heard(now, target, mac)
    return true
  }

  private heard(now: Time, address: Uint8Array, mac: number): void {
    this.neighbors().heard(now, wordAt(address, 0), wordAt(address, 4), wordAt(address, 8), wordAt(address, 12), mac)
  }

  private solicited(now: Time, source: Uint8Array, target: Uint8Array, message: Uint8Array, from: number): boolean {
    // Somebody without an address looks whether one is taken (RFC 4862 §5.4): all nodes are told.
    const anonymous = source.every((octet) => octet === 0)
    const mac = linkAddress(message, 1) ?? from
    if (!anonymous && isUnicast(mac)) this.heard(now, source, mac)
    if (!this.isOwn(target)) return true
    const destination = anonymous ? ALL_NODES : source
    const ends = this.to(anonymous ? groupMac(ALL_NODES) : mac)
    return this.answer(now, advertisementFrame(ends, target.slice(), destination, !anonymous))
  }
}

const ALL_NODES = new Uint8Array([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])

const isUnicast = (mac: number): boolean => mac !== 0 && (Math.floor(mac / 0x100_0000_0000) & 1) === 0

/** The MAC in an option of neighbour discovery; undefined: there is none. */
const linkAddress = (message: Uint8Array, option: number): number | undefined => {
  let at = 24
  while (at + 8 <= message.length) {
    const bytes = message[at + 1]! * 8
    if (bytes === 0) return undefined
    if (message[at] === option) return macAt(message, at + 2)
    at += bytes
  }
  return undefined
}

export const macAt = (octets: Uint8Array, at: number): number => {
  let mac = 0
  for (let index = 0; index < 6; index++) mac = mac * 256 + octets[at + index]!
  return mac
}
