import type { Packet } from "@rdmakit/packet"
import type { Ipv4 } from "@rdmakit/wire/ipv4"
import { ipv4OfNode } from "./Addresses.ts"

/** Packets start with this; each switch takes one off. */
export const TTL = 255
const NO_OPTIONS = new Uint8Array(0)

export type IpPart = Omit<Ipv4, "payloadBytes" | "protocol" | "moreFragments" | "fragmentOffset">

/** The class selector of the priority (RFC 2474 §4.2.2) and the ECN code point; ECN and time to live change on the way. */
export const ipOf = (packet: Packet): IpPart => ({
  trafficClass: (packet.priority << 5) | packet.ecn,
  identification: 0,
  dontFragment: true,
  ttl: TTL - packet.hop,
  source: ipv4OfNode(packet.source),
  destination: ipv4OfNode(packet.destination),
  options: NO_OPTIONS,
})
