import fc from "fast-check"
import { ERSPAN, emitErspan, emitGre, GRE, parseErspan, parseGre } from "../../src/Gre.ts"
import { emitVxlan, parseVxlan, VXLAN } from "../../src/Vxlan.ts"
import { bits, flag, u16, u24, u32 } from "../arbitrary.ts"
import { format } from "../format.ts"

const perhaps = (each: fc.Arbitrary<number>) => fc.option(each, { nil: undefined })
const gre = fc.record({ protocol: u16, checksum: perhaps(u16), key: perhaps(u32), sequence: perhaps(u32) })
const erspan = fc.record({
  vlan: bits(12),
  priority: bits(3),
  encapsulation: bits(2),
  truncated: flag,
  session: bits(10),
  index: bits(20),
})

export const formats = [
  format({
    name: "vxlan",
    parse: parseVxlan,
    emit: emitVxlan,
    arbitrary: fc.record({ vni: u24 }),
    layout: VXLAN,
    bytesMax: 8,
  }),
  format({ name: "gre", parse: parseGre, emit: emitGre, arbitrary: gre, layout: GRE, bytesMax: 16 }),
  format({ name: "erspan", parse: parseErspan, emit: emitErspan, arbitrary: erspan, layout: ERSPAN, bytesMax: 8 }),
]
