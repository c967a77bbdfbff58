import fc from "fast-check"
import { ARP, emitArp, parseArp } from "../../src/Arp.ts"
import { ETHERNET, type Ethernet, emitEthernet, parseEthernet, type TagProtocol } from "../../src/Ethernet.ts"
import { emitLldp, type LldpTlv, parseLldp, type TransmissionSelection } from "../../src/Lldp.ts"
import { emitPfc, PAUSE, type Pfc, parsePfc } from "../../src/Pfc.ts"
import { bits, flag, mac, u8, u16, u32 } from "../arbitrary.ts"
import { format } from "../format.ts"

const tag = fc.record({
  protocol: fc.constantFrom<TagProtocol>(0x8100, 0x88a8, 0x9100),
  priority: bits(3),
  dropEligible: flag,
  vlan: bits(12),
})
const etherType = fc.oneof(
  fc.nat(1500),
  fc.integer({ min: 0x600, max: 0xffff }).filter((type) => ![0x8100, 0x88a8, 0x9100].includes(type)),
)
const ethernet = (tags: fc.Arbitrary<Ethernet["tags"]>): fc.Arbitrary<Ethernet> =>
  fc.record({ destination: mac, source: mac, tags, etherType })

const arp = fc.record({
  operation: fc.integer({ min: 1, max: 0xfffe }),
  senderMac: mac,
  senderIp: u32,
  targetMac: mac,
  targetIp: u32,
})

const eight = <A>(each: fc.Arbitrary<A>): fc.Arbitrary<ReadonlyArray<A>> =>
  fc.array(each, { minLength: 8, maxLength: 8 })
const pause: fc.Arbitrary<Pfc> = fc.record({ kind: fc.constant("pause" as const), quanta: u16 })
const pfc: fc.Arbitrary<Pfc> = fc.record({
  kind: fc.constant("pfc" as const),
  quanta: eight(fc.option(u16, { nil: undefined })),
})

const id = fc.record({ subtype: u8, id: fc.uint8Array({ minLength: 1, maxLength: 255 }) })
const tables = {
  trafficClasses: eight(bits(4)),
  bandwidths: eight(u8),
  selections: eight(fc.constantFrom<TransmissionSelection>("strict", "creditBasedShaper", "ets", "vendor")),
}
const tlv: fc.Arbitrary<LldpTlv> = fc.oneof(
  id.map((each) => ({ kind: "chassisId" as const, ...each })),
  id.map((each) => ({ kind: "portId" as const, ...each })),
  fc.record({ kind: fc.constant("timeToLive" as const), seconds: u16 }),
  fc.record({
    kind: fc.constant("text" as const),
    type: fc.constantFrom<4 | 5 | 6>(4, 5, 6),
    octets: fc.uint8Array({ maxLength: 255 }),
  }),
  fc.record({
    kind: fc.constant("etsConfiguration" as const),
    willing: flag,
    creditBasedShaper: flag,
    trafficClassesMax: bits(3),
    ...tables,
  }),
  fc.record({ kind: fc.constant("etsRecommendation" as const), ...tables }),
  fc.record({
    kind: fc.constant("pfcConfiguration" as const),
    willing: flag,
    macsecBypass: flag,
    capability: bits(4),
    enabled: eight(flag),
  }),
  fc.record({
    kind: fc.constant("applicationPriority" as const),
    table: fc.array(
      fc.record({ priority: bits(3), selector: fc.constantFrom<1 | 2 | 3 | 4 | 5>(1, 2, 3, 4, 5), protocol: u16 }),
      { maxLength: 168 },
    ),
  }),
  fc.record({
    kind: fc.constant("other" as const),
    type: fc.integer({ min: 7, max: 126 }),
    data: fc.uint8Array({ maxLength: 511 }),
  }),
)
const lldp = fc.record({ tlvs: fc.array(tlv, { maxLength: 5 }) })

export const formats = [
  format({
    name: "ethernet",
    parse: parseEthernet,
    emit: emitEthernet,
    arbitrary: ethernet(fc.array(tag, { maxLength: 4 })),
    bytesMax: 30,
  }),
  format({
    name: "ethernet",
    parse: parseEthernet,
    emit: emitEthernet,
    arbitrary: ethernet(fc.constant([])),
    layout: ETHERNET,
    bytesMax: 14,
  }),
  format({ name: "arp", parse: parseArp, emit: emitArp, arbitrary: arp, layout: ARP, bytesMax: 28 }),
  format({ name: "pfc", parse: parsePfc, emit: emitPfc, arbitrary: pause, layout: PAUSE, bytesMax: 20 }),
  format({ name: "pfc", parse: parsePfc, emit: emitPfc, arbitrary: pfc, bytesMax: 20 }),
  format({ name: "lldp", parse: parseLldp, emit: emitLldp, arbitrary: lldp, bytesMax: 2600 }),
]
