import fc from "fast-check"
import * as Link from "../../src/Link.ts"
import { bits, octets, u8, u16, u32 } from "../arbitrary.ts"
import { format } from "../format.ts"

const cooked = { hardwareType: u16, address: octets(8), protocol: u16 }
const extensions = fc.array(octets(7), { maxLength: 4 }).map((list) => {
  const all = list.flatMap((each, index) => [index < list.length - 1 ? 0x80 | index : index, ...each])
  return Uint8Array.from(all)
})
const erf: fc.Arbitrary<Link.Erf> = fc.record({
  timestamp: octets(8),
  type: bits(7).filter((type) => type !== Link.ErfType.Ethernet),
  flags: u8,
  recordBytes: fc.integer({ min: 100, max: 0xffff }),
  lossCounter: u16,
  wireBytes: u16,
  extensions,
})

export const formats = [
  format({
    name: "linuxCooked",
    parse: Link.parseLinuxCooked,
    emit: Link.emitLinuxCooked,
    arbitrary: fc.record({ ...cooked, packetType: u16, addressBytes: u16 }),
    layout: Link.LINUX_COOKED,
    bytesMax: 16,
  }),
  format({
    name: "linuxCooked2",
    parse: Link.parseLinuxCooked2,
    emit: Link.emitLinuxCooked2,
    arbitrary: fc.record({ ...cooked, packetType: u8, addressBytes: u8, device: u32 }),
    layout: Link.LINUX_COOKED2,
    bytesMax: 20,
  }),
  format({
    name: "erf",
    parse: Link.parseErf,
    emit: Link.emitErf,
    arbitrary: erf,
    layout: Link.ERF,
    bytesMax: 48,
  }),
]
