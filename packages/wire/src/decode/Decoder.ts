import { parseArp } from "../Arp.ts"
import { addWords, foldWords, pseudoHeader } from "../Checksum.ts"
import { parseCm } from "../Cm.ts"
import type { Crc } from "../crc/Crc32.ts"
import { EtherType, parseEthernet } from "../Ethernet.ts"
import { GreProtocol, parseErspan, parseGre } from "../Gre.ts"
import { parseIcmpEcho } from "../Icmp.ts"
import { GRH_NEXT_BTH, parseGrh, parseLrh } from "../Infiniband.ts"
import { parseIpv4 } from "../Ipv4.ts"
import { isIpv6Extension, parseIpv6, parseIpv6Extension } from "../Ipv6.ts"
import { ErfType, parseErf, parseLinuxCooked, parseLinuxCooked2 } from "../Link.ts"
import { parseLldp } from "../Lldp.ts"
import { ManagementClass, parseMad } from "../Mad.ts"
import { u16, u32le } from "../Octets.ts"
import { parsePfc } from "../Pfc.ts"
import { failed, type Parse, type Parsed, type WireError, wrong } from "../Result.ts"
import { checkVcrc, readVcrc, VCRC_BYTES } from "../roce/Vcrc.ts"
import { parseTcp } from "../Tcp.ts"
import { parseUdp, ROCE_PORT } from "../Udp.ts"
import { parseVxlan, VXLAN_PORT } from "../Vxlan.ts"
import type { AnyHeaderNode, Headers, Node, PaddingNode, PayloadNode } from "./Node.ts"
import { type Around, walkTransport } from "./TransportWalk.ts"

/** Tunnels in tunnels are followed this deep. */
const TUNNELS_MAX = 8
const FCS_BYTES = 4

/** The addresses that a pseudo-header takes in. */
interface Network {
  readonly carrier: "ipv4" | "ipv6"
  readonly header: number
  /** Extension headers came between. */
  readonly extended: boolean
}

/**
 * Walks a frame from the link downward. Each method reads one header from `start`, adds its node and what follows it, and
 * returns where what it read ends on the wire, which may lie past the captured octets. Nodes tile the captured octets.
 */
export class Decoder {
  readonly octets: Uint8Array
  readonly crc: Crc
  readonly nodes: Array<Node> = []
  private tunnels = 0

  constructor(octets: Uint8Array, crc: Crc) {
    this.octets = octets
    this.crc = crc
  }

  private clip(at: number): number {
    return at < this.octets.length ? at : this.octets.length
  }

  /** Adds the node of a header that was read; undefined and a raw node up to `end` when it was not. */
  header<F extends keyof Headers>(
    format: F,
    outcome: Parse<Headers[F]>,
    start: number,
    end: number,
    more: ReadonlyArray<WireError> = [],
  ): Parsed<Headers[F]> | undefined {
    if (!outcome.ok) {
      this.raw(outcome.error, start, end)
      return undefined
    }
    const faults = more.length === 0 ? outcome.faults : [...outcome.faults, ...more]
    this.nodes.push({ format, start, end: outcome.payloadStart, value: outcome.value, faults } as AnyHeaderNode)
    return outcome
  }

  raw(error: WireError, start: number, end: number): number {
    this.nodes.push({ format: "raw", start: this.clip(start), end: this.clip(end), error })
    return end
  }

  payload(of: PayloadNode["of"], start: number, end: number): number {
    if (this.clip(start) < this.clip(end)) this.nodes.push({ format: "payload", of, start, end: this.clip(end) })
    return end
  }

  padding(of: PaddingNode["of"], start: number, end: number): void {
    if (this.clip(start) < this.clip(end)) this.nodes.push({ format: "padding", of, start, end: this.clip(end) })
  }

  /** An Ethernet frame that ends at `end`, with `fcsBytes` of check sequence. */
  ethernet(start: number, end: number, fcsBytes = 0): number {
    const frameEnd = Math.max(start, end - fcsBytes)
    const ethernet = this.header("ethernet", parseEthernet(this.octets, start, frameEnd), start, frameEnd)
    if (ethernet !== undefined) {
      const { etherType } = ethernet.value
      const { payloadStart, payloadEnd } = ethernet
      const used =
        etherType <= 1500
          ? this.payload("llc", payloadStart, payloadEnd)
          : this.network(etherType, payloadStart, payloadEnd)
      this.padding("frame", used, frameEnd)
    }
    if (fcsBytes === FCS_BYTES) this.fcs(start, frameEnd)
    return end
  }

  private fcs(start: number, at: number): void {
    const place = { start: this.clip(at), end: this.clip(at + FCS_BYTES) }
    if (at + FCS_BYTES > this.octets.length) {
      this.nodes.push({ format: "fcs", ...place, value: undefined, verdict: "cut" })
      return
    }
    const value = u32le(this.octets, at)
    const verdict = this.crc(this.octets, start, at) === value ? "right" : "wrong"
    this.nodes.push({ format: "fcs", ...place, value, verdict })
  }

  network(etherType: number, start: number, end: number): number {
    switch (etherType) {
      case EtherType.Ipv4:
        return this.ipv4(start, end)
      case EtherType.Ipv6:
        return this.ipv6(start, end)
      case EtherType.Arp:
        return this.header("arp", parseArp(this.octets, start, end), start, end)?.payloadEnd ?? end
      case EtherType.MacControl:
        return this.header("pfc", parsePfc(this.octets, start, end), start, end)?.payloadEnd ?? end
      case EtherType.Lldp:
        return this.header("lldp", parseLldp(this.octets, start, end), start, end)?.payloadEnd ?? end
      case EtherType.RoceV1:
        return this.global({ carrier: "rocev1", header: start }, start, end)
      case EtherType.TransparentBridging:
        return this.tunnelled(start, end)
      default:
        return this.payload("etherType", start, end)
    }
  }

  /** IPv4 or IPv6, whichever the first four bits say. */
  ip(start: number, end: number): number {
    return this.octets[start] !== undefined && this.octets[start]! >> 4 === 6
      ? this.ipv6(start, end)
      : this.ipv4(start, end)
  }

  private ipv4(start: number, end: number): number {
    const ip = this.header("ipv4", parseIpv4(this.octets, start, end), start, end)
    if (ip === undefined) return end
    const { fragmentOffset, moreFragments, protocol } = ip.value
    if (fragmentOffset > 0 || moreFragments) return this.payload("fragment", ip.payloadStart, ip.payloadEnd)
    const network: Network = { carrier: "ipv4", header: start, extended: false }
    return this.protocol(protocol, ip.payloadStart, ip.payloadEnd, network)
  }

  private ipv6(start: number, end: number): number {
    const ip = this.header("ipv6", parseIpv6(this.octets, start, end), start, end)
    if (ip === undefined) return end
    const { payloadEnd } = ip
    let protocol = ip.value.nextHeader
    let at = ip.payloadStart
    let fragment = false
    while (isIpv6Extension(protocol)) {
      const outcome = parseIpv6Extension(protocol, this.octets, at, payloadEnd)
      const extension = this.header("ipv6Extension", outcome, at, payloadEnd)
      if (extension === undefined) return payloadEnd
      const { value } = extension
      if (value.kind === "fragment") fragment ||= value.fragmentOffset > 0 || value.moreFragments
      protocol = value.nextHeader
      at = extension.payloadStart
      // Behind a fragment's header comes any part of a packet.
      if (fragment) return this.payload("fragment", at, payloadEnd)
    }
    const network: Network = { carrier: "ipv6", header: start, extended: at > ip.payloadStart }
    return this.protocol(protocol, at, payloadEnd, network)
  }

  private protocol(protocol: number, start: number, end: number, network: Network): number {
    switch (protocol) {
      case 17:
        return this.udp(start, end, network)
      case 6: {
        const wrongSum = this.checksum("tcp", 6, start, end, start + 16, network)
        const tcp = this.header("tcp", parseTcp(this.octets, start, end), start, end, wrongSum)
        return tcp === undefined ? end : this.payload("tcp", tcp.payloadStart, tcp.payloadEnd)
      }
      case 1:
      case 58: {
        const version = protocol === 1 ? 4 : 6
        const wrongSum = this.checksum("icmpEcho", protocol === 1 ? 0 : 58, start, end, start + 2, network)
        const echo = this.header("icmpEcho", parseIcmpEcho(version, this.octets, start, end), start, end, wrongSum)
        return echo === undefined ? end : this.payload("icmpEcho", echo.payloadStart, echo.payloadEnd)
      }
      case 47:
        return this.gre(start, end)
      case 4:
      case 41:
        return this.tunnel(start, end, () => this.ip(start, end))
      default:
        return this.payload("ipProtocol", start, end)
    }
  }

  /** A fault when the checksum of a whole packet is wrong. Protocol 0 has no pseudo-header. */
  private checksum(
    format: string,
    protocol: number,
    start: number,
    end: number,
    at: number,
    { carrier, header }: Network,
  ): ReadonlyArray<WireError> {
    if (end > this.octets.length || at + 2 > end) return []
    const [addresses, bytes] = carrier === "ipv4" ? [header + 12, 4] : [header + 8, 16]
    const sum = protocol === 0 ? 0 : pseudoHeader(this.octets, addresses, bytes, protocol, end - start)
    if (foldWords(addWords(sum, this.octets, start, end)) === 0) return []
    return [wrong("checksum", format, "checksum", at, u16(this.octets, at))]
  }

  private udp(start: number, end: number, network: Network): number {
    const outcome = parseUdp(this.octets, start, end)
    const sent = outcome.ok && outcome.value.checksum !== 0
    const sum = sent ? this.checksum("udp", 17, start, outcome.payloadEnd, start + 6, network) : []
    const udp = this.header("udp", outcome, start, end, sum)
    if (udp === undefined) return end
    const { payloadStart, payloadEnd } = udp
    this.datagram(udp.value.destinationPort, payloadStart, payloadEnd, network)
    // IP may be longer than UDP says.
    if (payloadEnd < end) this.payload("ipProtocol", payloadEnd, end)
    return end
  }

  private datagram(port: number, start: number, end: number, { carrier, header, extended }: Network): void {
    if (port === ROCE_PORT) walkTransport(this, { carrier: extended ? undefined : carrier, header }, start, end)
    else if (port === VXLAN_PORT) {
      const vxlan = this.header("vxlan", parseVxlan(this.octets, start, end), start, end)
      if (vxlan !== undefined) this.tunnelled(vxlan.payloadStart, vxlan.payloadEnd)
    } else this.payload("udp", start, end)
  }

  private gre(start: number, end: number): number {
    const gre = this.header("gre", parseGre(this.octets, start, end), start, end)
    if (gre === undefined) return end
    const { payloadStart, payloadEnd } = gre
    const { protocol, sequence } = gre.value
    if (protocol !== GreProtocol.Erspan) {
      return this.tunnel(payloadStart, payloadEnd, () => this.network(protocol, payloadStart, payloadEnd))
    }
    // Type I has neither a sequence nor a header of its own.
    if (sequence === undefined) return this.tunnelled(payloadStart, payloadEnd)
    const erspan = this.header("erspan", parseErspan(this.octets, payloadStart, payloadEnd), payloadStart, payloadEnd)
    return erspan === undefined ? end : this.tunnelled(erspan.payloadStart, erspan.payloadEnd)
  }

  private tunnelled(start: number, end: number): number {
    return this.tunnel(start, end, () => this.ethernet(start, end))
  }

  private tunnel(start: number, end: number, inner: () => number): number {
    if (this.tunnels === TUNNELS_MAX) {
      const { error } = failed("unsupported", "tunnel", "depth", start, TUNNELS_MAX + 1, `${TUNNELS_MAX} at most`)
      return this.raw(error, start, end)
    }
    this.tunnels += 1
    return inner()
  }

  /** A GRH, and a transport when it says so. */
  private global(around: Around, start: number, end: number): number {
    const grh = this.header("grh", parseGrh(this.octets, start, end), start, end)
    if (grh === undefined) return end
    const { payloadStart, payloadEnd } = grh
    if (grh.value.nextHeader !== GRH_NEXT_BTH) return this.payload("grh", payloadStart, payloadEnd)
    walkTransport(this, around, payloadStart, payloadEnd)
    return payloadEnd
  }

  /** A native packet, from its LRH. */
  infiniband(start: number, end: number): number {
    const lrh = this.header("lrh", parseLrh(this.octets, start, end), start, end)
    if (lrh === undefined) return end
    const { payloadStart, payloadEnd } = lrh
    const { next } = lrh.value
    if (next === "local") walkTransport(this, { carrier: "local", header: start }, payloadStart, payloadEnd)
    else if (next === "global") {
      const used = this.global({ carrier: "global", header: start }, payloadStart, payloadEnd)
      if (used < payloadEnd) this.payload("lrh", used, payloadEnd)
    } else this.payload("lrh", payloadStart, payloadEnd)
    if (payloadEnd + VCRC_BYTES > end) return payloadEnd
    const at = { start: this.clip(payloadEnd), end: this.clip(payloadEnd + VCRC_BYTES) }
    const verdict = checkVcrc(this.octets, start, payloadEnd)
    const value = verdict === "cut" ? undefined : readVcrc(this.octets, payloadEnd)
    this.nodes.push({ format: "vcrc", ...at, value, verdict })
    this.padding("frame", payloadEnd + VCRC_BYTES, end)
    return end
  }

  erf(start: number, end: number): number {
    const erf = this.header("erf", parseErf(this.octets, start, end), start, end)
    if (erf === undefined) return end
    const { payloadStart, payloadEnd } = erf
    if (erf.value.type === ErfType.Infiniband) {
      const used = this.infiniband(payloadStart, payloadEnd)
      this.padding("frame", used, payloadEnd)
      return payloadEnd
    }
    return erf.value.type === ErfType.Ethernet
      ? this.ethernet(payloadStart, payloadEnd)
      : this.payload("etherType", payloadStart, payloadEnd)
  }

  linuxCooked(version: 1 | 2, start: number, end: number): number {
    const cooked =
      version === 1
        ? this.header("linuxCooked", parseLinuxCooked(this.octets, start, end), start, end)
        : this.header("linuxCooked2", parseLinuxCooked2(this.octets, start, end), start, end)
    if (cooked === undefined) return end
    this.padding("frame", this.network(cooked.value.protocol, cooked.payloadStart, end), end)
    return end
  }

  /** A management datagram, and what it says when that is communication management. */
  mad(start: number, end: number): number {
    const mad = this.header("mad", parseMad(this.octets, start, end), start, end)
    if (mad === undefined) return end
    const { payloadStart, payloadEnd } = mad
    if (mad.value.managementClass !== ManagementClass.Communication) return this.payload("mad", payloadStart, end)
    const cm = parseCm(mad.value.attribute, this.octets, payloadStart, payloadEnd)
    this.header("cm", cm, payloadStart, payloadEnd)
    return this.payload("transport", payloadEnd, end)
  }
}
