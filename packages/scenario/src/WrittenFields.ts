/** How the fields of a scenario are written: what its JSON Schema says of them. */
import { ratePattern, sharePattern, sizePattern, timePattern } from "@rdmakit/units"
import { type JsonSchema, Schema, SchemaAST, SchemaGetter } from "effect"

/** The JSON that a field is written as. */
export type Written = Schema.Codec<unknown, unknown>

/** What a declaration needs to know so that its JSON Schema is that of what is written, described by what is expected. */
export const writtenAs = <A>(written: Written, expected: string) => {
  // What has a name has its own description, where the name is explained.
  const named = SchemaAST.resolveIdentifier(written.ast) !== undefined
  const described = (named ? written : written.annotate({ description: expected })) as unknown as Schema.Codec<A>
  const passed = { decode: SchemaGetter.passthrough<A>(), encode: SchemaGetter.passthrough<A>() }
  return { toCodecJson: () => Schema.link<A>()(described, passed) }
}

const written = <A, I>(schema: Schema.Codec<A, I>): Written => schema as Written
const named = <A, I>(identifier: string, description: string, schema: Schema.Codec<A, I>): Written =>
  schema.annotate({ identifier, description }) as unknown as Written
const text = (pattern: RegExp) => Schema.String.check(Schema.isPattern(pattern))

export const writtenWhole = (least: number, most: number): Written =>
  written(Schema.Int.check(Schema.isBetween({ minimum: least, maximum: most })))
export const writtenEven = (least: number, most: number): Written =>
  written(Schema.Int.check(Schema.isBetween({ minimum: least, maximum: most }), Schema.isMultipleOf(2)))
/** Above 0. */
export const writtenAbove = (most: number): Written =>
  written(Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(most)))
/** So many numbers, each above 0. */
export const writtenWeights = (count: number, most: number): Written =>
  written(Schema.Tuple(Array.from({ length: count }, () => writtenAbove(most))) as unknown as Schema.Codec<unknown>)
export const writtenShare: Written = written(
  Schema.Union([Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })), text(sharePattern)]),
)
/** Above 0, and perhaps above 1. */
export const writtenLoad = (most: number): Written => written(Schema.Union([writtenAbove(most), text(sharePattern)]))
const writtenNumber: Written = written(Schema.Finite)
export const writtenFlag: Written = written(Schema.Boolean)
export const writtenText: Written = written(Schema.String)
export const writtenFile: Written = written(Schema.NonEmptyString)
export const writtenWord = (words: ReadonlyArray<string>): Written => written(Schema.Literals(words))

/** The least and the most are those of a bare number: what a text comes to, its pattern does not know. */
export const writtenSizeOf = (least: number, most: number): Written =>
  written(Schema.Union([writtenWhole(least, most), text(sizePattern)]))
export const writtenSize: Written = writtenSizeOf(0, Number.MAX_SAFE_INTEGER)
export const writtenPositiveTime: Written = written(text(timePattern))
export const writtenTime: Written = named(
  "Time",
  "a time such as 10us",
  // A number alone has no unit, except 0.
  Schema.Union([Schema.Literal(0), text(timePattern)]),
)
export const writtenNever: Written = written(Schema.Union([Schema.Literal("never"), text(timePattern)]))
export const writtenRate: Written = named(
  "Rate",
  "a rate such as 100Gbps; a number alone is bits per second",
  Schema.Union([Schema.Finite.check(Schema.isGreaterThanOrEqualTo(1)), text(ratePattern)]),
)

export const writtenStallOrRate: Written = written(Schema.Union([Schema.Literal("stall"), writtenRate]))

const writtenRange = (most: number) => Schema.Union([writtenWhole(0, most), text(/^\d{1,5}\s*\.\.\s*\d{1,5}$/u)])

export const writtenNodes = (most: number): Written =>
  named(
    "Nodes",
    "a node, or several such as 0..15 or [0..3, 8]",
    Schema.Union([writtenRange(most), Schema.Array(writtenRange(most)).check(Schema.isMinLength(1))]),
  )
export const writtenNodesOrNone = (most: number): Written =>
  written(Schema.Union([writtenRange(most), Schema.Array(writtenRange(most))]))

/** The name of a distribution, a file, or points: bytes, and the percentage of flows up to them. */
export const writtenSizes: Written = written(
  Schema.Union([
    Schema.NonEmptyString,
    Schema.Struct({ file: Schema.NonEmptyString }),
    Schema.Array(Schema.Tuple([Schema.Finite, Schema.Finite])),
  ]),
)

/** What only the JSON Schema of fields says: whatever reads them has faults of its own for it. */
const writtenOnly = (fragment: JsonSchema.JsonSchema) =>
  Schema.makeFilter<object>(() => true, { toJsonSchema: () => fragment })
// Strict validators want to know a required field where it is required.
const given = (field: string) => ({ properties: { [field]: true }, required: [field] })

/** Just one of these fields is there. */
export const writtenEither = (...fields: ReadonlyArray<string>) => writtenOnly({ oneOf: fields.map(given) })
/** At least one of these fields is there. */
export const writtenSome = (...fields: ReadonlyArray<string>) => writtenOnly({ anyOf: fields.map(given) })
/** Where the one field is, the other is too. */
export const writtenWith = (field: string, other: string) => writtenOnly({ dependentRequired: { [field]: [other] } })

/** The options of a controller by their kind: quantities may be numbers, in the unit of the option's name. */
export const writtenOption = {
  number: writtenNumber,
  boolean: writtenFlag,
  word: writtenText,
  rate: written(Schema.Union([Schema.Finite, text(ratePattern)])),
  size: written(Schema.Union([Schema.Finite, text(sizePattern)])),
  time: written(Schema.Union([Schema.Finite, text(timePattern)])),
} as const
