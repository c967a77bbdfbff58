import fc from "fast-check"
import * as Cm from "../../src/Cm.ts"
import type { Layout } from "../../src/Layout.ts"
import { emitMad, MAD, type Mad, parseMad } from "../../src/Mad.ts"
import { bits, flag, octets, u8, u16, u32, u64 } from "../arbitrary.ts"
import { type Format, format } from "../format.ts"

/** Any value that the fields of a layout can hold. */
const anyOf = (layout: Layout): fc.Arbitrary<object> =>
  fc.record(
    Object.fromEntries(
      layout.fields
        .filter(({ name }) => name !== "reserved")
        .map(({ name, bits: width }) => {
          if (width === 1) return [name, flag]
          if (width === 64) return [name, u64]
          return [name, width > 64 ? octets(width / 8) : bits(width)]
        }),
    ),
  )

const mad: fc.Arbitrary<Mad> = fc.record({
  managementClass: u8,
  classVersion: u8,
  method: u8,
  status: u16,
  classSpecific: u16,
  transactionId: u64,
  attribute: u16,
  modifier: u32,
})

const messages = Object.entries(Cm.cmAttributes).map(([name, attribute]): Format => {
  const kind = name as Cm.CmMessage["kind"]
  const plain = anyOf(Cm.cmLayout(kind))
  const path = anyOf(Cm.CM_PATH)
  const extra = fc.record({
    primary: path,
    // An alternate path of zeros alone is none.
    alternate: fc.option(
      path.map((each) => ({ ...each, rate: 1 })),
      { nil: undefined },
    ),
    privateData: octets(92),
  })
  const arbitrary = (kind === "request" ? fc.tuple(plain, extra) : fc.tuple(plain)).map(
    (parts) => ({ kind, ...Object.assign({}, ...parts) }) as Cm.CmMessage,
  )
  return format({
    name: Cm.cmLayout(kind).format,
    parse: (...input) => Cm.parseCm(attribute, ...input),
    emit: Cm.emitCm,
    arbitrary,
    layout: Cm.cmLayout(kind),
    bytesMax: 232,
  })
})

const ipCm: fc.Arbitrary<Cm.IpCm> = fc.oneof(
  fc.record({ version: fc.constant(4 as const), sourcePort: u16, source: u32, destination: u32 }),
  fc.record({ version: fc.constant(6 as const), sourcePort: u16, source: octets(16), destination: octets(16) }),
)

export const formats = [
  format({ name: "mad", parse: parseMad, emit: emitMad, arbitrary: mad, layout: MAD, bytesMax: 24 }),
  format({ name: "ipCm", parse: Cm.parseIpCm, emit: Cm.emitIpCm, arbitrary: ipCm, layout: Cm.IP_CM, bytesMax: 36 }),
  ...messages,
]
