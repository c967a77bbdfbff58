import fc from "fast-check"
import { emitIcmpEcho, ICMP_ECHO, type IcmpEcho, parseIcmpEcho } from "../../src/Icmp.ts"
import { emitIpv4, IPV4, type Ipv4, parseIpv4 } from "../../src/Ipv4.ts"
import {
  emitIpv6,
  emitIpv6Extension,
  IPV6,
  IPV6_AUTHENTICATION,
  IPV6_FRAGMENT,
  IPV6_OPTIONS,
  IPV6_ROUTING,
  type Ipv6,
  type Ipv6Extension,
  parseIpv6,
  parseIpv6Extension,
} from "../../src/Ipv6.ts"
import type { Layout } from "../../src/Layout.ts"
import { emitTcp, parseTcp, TCP, type Tcp } from "../../src/Tcp.ts"
import { bits, blocks, flag, octets, u8, u16, u32 } from "../arbitrary.ts"
import { type Format, format } from "../format.ts"

const ipv4: fc.Arbitrary<Ipv4> = fc.record({
  trafficClass: u8,
  identification: u16,
  dontFragment: flag,
  moreFragments: flag,
  fragmentOffset: bits(13),
  ttl: u8,
  protocol: u8,
  source: u32,
  destination: u32,
  options: blocks(4, 0, 40),
  payloadBytes: fc.nat(65_475),
})
const ipv6: fc.Arbitrary<Ipv6> = fc.record({
  trafficClass: u8,
  flowLabel: bits(20),
  payloadBytes: u16,
  nextHeader: u8,
  hopLimit: u8,
  source: octets(16),
  destination: octets(16),
})
const tcp: fc.Arbitrary<Tcp> = fc.record({
  sourcePort: u16,
  destinationPort: u16,
  sequence: u32,
  acknowledgement: u32,
  flags: bits(9),
  window: u16,
  checksum: u16,
  urgentPointer: u16,
  options: blocks(4, 0, 40),
})
const echo = (version: 4 | 6): fc.Arbitrary<IcmpEcho> =>
  fc.record({
    version: fc.constant(version),
    kind: fc.constantFrom<IcmpEcho["kind"]>("request", "reply"),
    checksum: u16,
    identifier: u16,
    sequence: u16,
  })

const extension = (header: number, layout: Layout, arbitrary: fc.Arbitrary<Ipv6Extension>): Format =>
  format({
    name: "ipv6Extension",
    parse: (...input) => parseIpv6Extension(header, ...input),
    emit: emitIpv6Extension,
    arbitrary,
    layout,
    bytesMax: 2048,
  })
const kind = <K extends string>(name: K) => ({ kind: fc.constant(name), nextHeader: u8 })

export const formats = [
  format({ name: "ipv4", parse: parseIpv4, emit: emitIpv4, arbitrary: ipv4, layout: IPV4, bytesMax: 60 }),
  format({ name: "ipv6", parse: parseIpv6, emit: emitIpv6, arbitrary: ipv6, layout: IPV6, bytesMax: 40 }),
  format({ name: "tcp", parse: parseTcp, emit: emitTcp, arbitrary: tcp, layout: TCP, bytesMax: 60 }),
  ...([4, 6] as const).map((version) =>
    format({
      name: "icmpEcho",
      parse: (...input) => parseIcmpEcho(version, ...input),
      emit: emitIcmpEcho,
      arbitrary: echo(version),
      layout: ICMP_ECHO,
      bytesMax: 8,
    }),
  ),
  extension(0, IPV6_OPTIONS, fc.record({ ...kind("hopByHop"), options: blocks(8, 6, 2046) })),
  extension(60, IPV6_OPTIONS, fc.record({ ...kind("destinationOptions"), options: blocks(8, 6, 254) })),
  extension(
    43,
    IPV6_ROUTING,
    fc.record({ ...kind("routing"), routingType: u8, segmentsLeft: u8, data: blocks(8, 4, 252) }),
  ),
  extension(
    44,
    IPV6_FRAGMENT,
    fc.record({ ...kind("fragment"), fragmentOffset: bits(13), moreFragments: flag, identification: u32 }),
  ),
  extension(
    51,
    IPV6_AUTHENTICATION,
    fc.record({ ...kind("authentication"), securityParameters: u32, sequence: u32, data: blocks(4, 0, 64) }),
  ),
]
