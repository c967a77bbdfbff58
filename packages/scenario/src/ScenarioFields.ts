/** The kinds of values that the fields of a scenario have. Each says what it expects when it finds something else. */
import { NODES_MAX } from "@rdmakit/topology"
import { tryParseRate, tryParseShare, tryParseSize, tryParseTime, type UnitError } from "@rdmakit/units"
import { Effect, Schema, SchemaIssue } from "effect"
import {
  type Written,
  writtenAs,
  writtenFile,
  writtenFlag,
  writtenNodes,
  writtenNodesOrNone,
  writtenPositiveTime,
  writtenRate,
  writtenShare,
  writtenSize,
  writtenSizeOf,
  writtenText,
  writtenTime,
  writtenWhole,
  writtenWord,
} from "./WrittenFields.ts"

/** A value that is not what it should be, and perhaps why. */
export class Wrong {
  readonly hint: string | undefined
  constructor(hint?: string) {
    this.hint = hint
  }
}

/**
 * A field read by a function; `expected` completes "found …, expected …". How it is written is for the JSON Schema:
 * whatever `read` takes must fit it.
 */
export const field = <A>(expected: string, read: (value: unknown) => A | Wrong, written: Written = Schema.Json) =>
  Schema.declareConstructor<A, unknown>()(
    [],
    () => (value) => {
      const result = read(value)
      return result instanceof Wrong
        ? Effect.fail(new SchemaIssue.InvalidValue({ expected, message: result.hint }))
        : Effect.succeed(result)
    },
    writtenAs<A>(written, expected),
  )

const quantity =
  (parse: (text: string) => number | UnitError, bare: (value: number) => boolean) =>
  (value: unknown): number | Wrong => {
    if (typeof value === "number") return bare(value) ? value : new Wrong()
    if (typeof value !== "string") return new Wrong()
    const parsed = parse(value)
    return typeof parsed === "number" ? parsed : new Wrong(parsed.message)
  }

const isWhole = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

export const readSize = quantity(tryParseSize, isWhole)
/** A number alone has no unit, except 0. */
export const readTime = quantity(tryParseTime, (value) => value === 0)
const readAnyRate = quantity(tryParseRate, () => true)
export const readRate = (value: unknown): number | Wrong => {
  const rate = readAnyRate(value)
  return rate instanceof Wrong || (rate >= 1 && Number.isFinite(rate)) ? rate : new Wrong("a rate is at least 1 bit/s")
}

/** At least one byte. */
export const positiveSize = field(
  "a size of at least 1, such as 500KB",
  (value) => {
    const size = readSize(value)
    return size instanceof Wrong || size > 0 ? size : new Wrong()
  },
  writtenSizeOf(1, Number.MAX_SAFE_INTEGER),
)
export const positiveTime = (example: string) =>
  field(
    `a time above 0, such as ${example}`,
    (value) => {
      const time = readTime(value)
      return time instanceof Wrong || time > 0 ? time : new Wrong()
    },
    writtenPositiveTime,
  )

export const Size = field("a size such as 1MB or 32MiB", readSize, writtenSize)
export const Time = field("a time such as 10us", readTime, writtenTime)
export const Rate = field("a rate such as 100Gbps", readRate, writtenRate)
export const Flag = field("true or false", (value) => (typeof value === "boolean" ? value : new Wrong()), writtenFlag)
export const Text = field("a text", (value) => (typeof value === "string" ? value : new Wrong()), writtenText)
export const FileName = field(
  "the name of a file",
  (value) => (typeof value === "string" && value !== "" ? value : new Wrong()),
  writtenFile,
)

export const whole = (least: number, most: number) =>
  field(
    `a whole number ${least}..${most}`,
    (value) =>
      typeof value === "number" && Number.isInteger(value) && value >= least && value <= most ? value : new Wrong(),
    writtenWhole(least, most),
  )

/** A share as a number or a text, "2%"; NaN for what is none. */
export const readShare = (value: unknown): number => {
  if (typeof value === "string") return tryParseShare(value) ?? Number.NaN
  return typeof value === "number" ? value : Number.NaN
}

/** A number from 0 to 1, or a percentage. */
export const Share = field(
  "a number 0..1, or a percentage such as 2%",
  (value) => {
    const share = readShare(value)
    return share >= 0 && share <= 1 ? share : new Wrong()
  },
  writtenShare,
)

export const words = <const Words extends ReadonlyArray<string>>(list: Words) =>
  field(
    list.join(" or "),
    (value): Words[number] | Wrong => (list.includes(value as string) ? (value as Words[number]) : new Wrong()),
    writtenWord(list),
  )

export const NODE_MAX = NODES_MAX - 1
const Node = whole(0, NODE_MAX)

export { Node }

const isNode = (node: unknown): node is number =>
  typeof node === "number" && Number.isInteger(node) && node >= 0 && node <= NODE_MAX

/** The nodes of `4` or of `0..15`. */
const rangeOf = (value: unknown): ReadonlyArray<number> | Wrong => {
  if (typeof value === "number") return isNode(value) ? [value] : new Wrong()
  const match = typeof value === "string" ? /^(\d{1,5})\s*\.\.\s*(\d{1,5})$/.exec(value) : null
  if (match === null) return new Wrong()
  const [first, last] = [Number(match[1]), Number(match[2])]
  if (!isNode(last) || first > last) return new Wrong("the first comes before the last")
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

const readNodes = (value: unknown): ReadonlyArray<number> | Wrong => {
  if (!Array.isArray(value)) return rangeOf(value)
  const nodes = new Set<number>()
  for (const entry of value) {
    const range = rangeOf(entry)
    if (range instanceof Wrong) return range
    for (const node of range) {
      if (nodes.has(node)) return new Wrong(`node ${node} is there twice`)
      nodes.add(node)
    }
  }
  return [...nodes]
}

/** A node, or several, each once: `0..15`, or a list of nodes and ranges such as `[0..3, 8]`. */
export const Nodes = field(
  "a node, or several such as 0..15 or [0..3, 8]",
  (value) => (Array.isArray(value) && value.length === 0 ? new Wrong() : readNodes(value)),
  writtenNodes(NODE_MAX),
)

/** The same, and perhaps none at all. */
export const NodesOrNone = field("nodes such as 4, 0..15 or [0..3, 8]", readNodes, writtenNodesOrNone(NODE_MAX))
