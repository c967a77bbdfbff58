import { Ns3FormatError, nearestWord } from "./FormatError.ts"
import { type TrRecord, trProtocols } from "./Tr.ts"

const EXPRESSION_LENGTH_MAX = 16384
const DEPTH_MAX = 256

/** Whether a record passes. */
export type TrFilter = (record: TrRecord) => boolean

type Width = "u8" | "u16" | "u32" | "u64"

const WIDTH_MAX = { u8: 0xff, u16: 0xffff, u32: 0xffffffff, u64: Number.MAX_SAFE_INTEGER } as const

const FIELDS: ReadonlyMap<string, readonly [offset: number, width: Width]> = new Map<
  string,
  readonly [offset: number, width: Width]
>([
  ["time", [0, "u64"]],
  ["node", [8, "u16"]],
  ["nodeType", [29, "u8"]],
  ["intf", [10, "u8"]],
  ["qidx", [11, "u8"]],
  ["qlen", [12, "u32"]],
  ["sip", [16, "u32"]],
  ["dip", [20, "u32"]],
  ["size", [24, "u16"]],
  ["l3Prot", [26, "u8"]],
  ["event", [27, "u8"]],
  ["ecn", [28, "u8"]],
  ["data.sport", [32, "u16"]],
  ["data.dport", [34, "u16"]],
  ["data.seq", [36, "u32"]],
  ["ack.sport", [32, "u16"]],
  ["ack.dport", [34, "u16"]],
  ["ack.flags", [36, "u8"]],
  ["qp.sport", [32, "u16"]],
  ["qp.dport", [34, "u16"]],
])

type Part = readonly [name: string, width: Width]

const FOUR_TUPLE: ReadonlyArray<Part> = [
  ["sip", "u32"],
  ["dip", "u32"],
  ["sport", "u16"],
  ["dport", "u16"],
]
const QUEUE: ReadonlyArray<Part> = [
  ["node", "u16"],
  ["intf", "u8"],
  ["qidx", "u8"],
]
const SHORTHANDS: ReadonlyMap<string, ReadonlyArray<Part>> = new Map([
  ["flow", FOUR_TUPLE],
  ["biflow", FOUR_TUPLE],
  ["rflow", FOUR_TUPLE],
  ["queue", QUEUE],
])

/**
 * Reads a filter in the language of the original's trace_reader:
 *
 * - `field op value` with the fields time node nodeType intf qidx qlen sip dip size l3Prot event ecn data.sport
 *   data.dport data.seq ack.sport ack.dport ack.flags qp.sport qp.dport, the operators = != < <= > >=, and a decimal or
 *   0x value;
 * - `flow=sip,dip,sport,dport` for the packets and ACKs of that direction, `rflow=` for the opposite one, `biflow=` for
 *   both, `queue=node,intf,qidx`;
 * - `&`, `|` and parentheses. Neither binds tighter: everything right of an operator is its right side, so `a&b|c` is
 *   `a&(b|c)` and `a|b&c` is `a|(b&c)`.
 *
 * Kept from the original: a field is an offset, so `data.sport` also matches the source port of an ACK, and `ack.flags`
 * is the low octet of the flags. Not kept: it crashes on or ignores what is wrong, reads leading zeros as octal and cuts
 * values to the width of their field; here each is an {@link Ns3FormatError} that points at the column.
 */
export const parseTrFilter = (expression: string): TrFilter => new Parser(expression).filter()

class Parser {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  filter(): TrFilter {
    if (this.#text.length > EXPRESSION_LENGTH_MAX)
      throw this.#fault("filter", `at most ${EXPRESSION_LENGTH_MAX} characters`)
    const test = this.#chain()
    if (this.#at < this.#text.length) throw this.#fault("filter", '"&", "|" or the end', 'this ")" closes nothing')
    return test
  }

  // Operands and operators up to a ")" or the end, folded from the right.
  #chain(): TrFilter {
    const tests = [this.#operand()]
    const operators: Array<string> = []
    for (;;) {
      this.#skipSpace()
      const operator = this.#text[this.#at]
      if (operator === undefined || operator === ")") break
      if (operator !== "&" && operator !== "|") {
        throw this.#fault("operator", '"&", "|" or the end')
      }
      this.#at++
      operators.push(operator)
      tests.push(this.#operand())
    }
    let test = tests[tests.length - 1]!
    for (let i = operators.length - 1; i >= 0; i--) {
      test = operators[i] === "&" ? both(tests[i]!, test) : either(tests[i]!, test)
    }
    return test
  }

  #operand(): TrFilter {
    this.#skipSpace()
    if (this.#text[this.#at] !== "(") return this.#comparison()
    const open = this.#at++
    if (++this.#depth > DEPTH_MAX) throw this.#fault("filter", `at most ${DEPTH_MAX} parentheses in each other`)
    const test = this.#chain()
    this.#depth--
    if (this.#text[this.#at] !== ")") throw this.#fault("filter", `the ")" for the "(" at column ${open + 1}`)
    this.#at++
    return test
  }

  #comparison(): TrFilter {
    const start = this.#at
    const name = this.#word(/[a-zA-Z0-9.]+/y)
    if (name === "") throw this.#fault("field", 'a field or "("')
    const shorthand = SHORTHANDS.get(name)
    const field = FIELDS.get(name)
    if (field === undefined && shorthand === undefined) {
      const nearest = nearestWord(name, [...FIELDS.keys(), ...SHORTHANDS.keys()])
      const hint = nearest === undefined ? undefined : `did you mean ${nearest}?`
      throw this.#fault("field", `one of ${[...FIELDS.keys(), ...SHORTHANDS.keys()].join(" ")}`, hint, start)
    }
    this.#skipSpace()
    const operatorAt = this.#at
    const operator = this.#word(/[<>]=?|!=|=/y)
    if (operator === "") throw this.#fault("operator", "= != < <= > or >=")
    this.#skipSpace()
    if (shorthand !== undefined) {
      if (operator !== "=") throw this.#fault("operator", `"=" after ${name}`, undefined, operatorAt)
      return this.#shorthand(name, shorthand)
    }
    const [offset, width] = field!
    return compare(offset, width, operator, this.#value(name, width))
  }

  #shorthand(name: string, parts: ReadonlyArray<Part>): TrFilter {
    const values = parts.map(([part, width], index) => {
      if (index > 0) {
        const list = parts.map(([each]) => each).join(",")
        if (this.#text[this.#at] !== ",") throw this.#fault(name, `"," and the ${part}: ${name}=${list}`)
        this.#at++
      }
      return this.#value(`${name} ${part}`, width)
    })
    const [first, second, third, fourth] = values as [number, number, number, number]
    switch (name) {
      case "queue":
        return (record) => record.node === first && record.intf === second && record.qidx === third
      case "flow":
        return (record) => isOfFlow(record, first, second, third, fourth)
      case "rflow":
        return (record) => isOfFlow(record, second, first, fourth, third)
      default:
        return (record) =>
          isOfFlow(record, first, second, third, fourth) || isOfFlow(record, second, first, fourth, third)
    }
  }

  #value(field: string, width: Width): number {
    const start = this.#at
    const word = this.#word(/[0-9a-zA-Z]+/y)
    const max = WIDTH_MAX[width]
    const expected = `a whole number 0..${max}, decimal or 0x…`
    if (/^0\d+$/.test(word)) {
      throw this.#fault(field, expected, "the original reads a leading zero as octal: leave it out", start)
    }
    const value = /^(\d+|0x[0-9a-fA-F]+)$/.test(word) ? Number(word) : Number.NaN
    if (!(value <= max)) {
      const hint = /^[0-9a-fA-F]+$/.test(word) && Number.isNaN(value) ? `did you mean 0x${word}?` : undefined
      throw this.#fault(field, expected, hint, start)
    }
    return value
  }

  #word(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const word = pattern.exec(this.#text)?.[0] ?? ""
    this.#at += word.length
    return word
  }

  #skipSpace(): void {
    this.#word(/\s*/y)
  }

  #fault(field: string, expected: string, hint?: string, at = this.#at): Ns3FormatError {
    const found = /^(?:[a-zA-Z0-9.]+|\s*\S)?/.exec(this.#text.slice(at, at + 40))?.[0] ?? ""
    return new Ns3FormatError({ file: "filter", line: 1, column: at + 1, field, found, expected, hint })
  }
}

const both =
  (left: TrFilter, right: TrFilter): TrFilter =>
  (record) =>
    left(record) && right(record)

const either =
  (left: TrFilter, right: TrFilter): TrFilter =>
  (record) =>
    left(record) || right(record)

const compare = (offset: number, width: Width, operator: string, value: number): TrFilter => {
  switch (operator) {
    case "=":
      return (record) => record[width](offset) === value
    case "!=":
      return (record) => record[width](offset) !== value
    case "<":
      return (record) => record[width](offset) < value
    case "<=":
      return (record) => record[width](offset) <= value
    case ">":
      return (record) => record[width](offset) > value
    default:
      return (record) => record[width](offset) >= value
  }
}

const isOfFlow = (record: TrRecord, sip: number, dip: number, sport: number, dport: number): boolean => {
  if (record.sip !== sip || record.dip !== dip || record.sport !== sport || record.dport !== dport) return false
  const { l3Prot } = record
  return (
    l3Prot === trProtocols.data ||
    l3Prot === trProtocols.ack ||
    l3Prot === trProtocols.nack ||
    l3Prot === trProtocols.qp
  )
}
