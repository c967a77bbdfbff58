import { type CaptureInterface, interfaceName } from "@rdmakit/pcap"
import { formatIpv4, formatIpv6, formatMac, parseIpv4Address, parseIpv6Address, parseMac } from "@rdmakit/wire/address"
import type { Addresses } from "./Addresses.ts"
import type { Clock } from "./Clock.ts"
import { operationOf } from "./Operations.ts"
import type { Sighting } from "./Sighting.ts"

/** What is wrong with a filter. */
export class FilterError extends Error {
  readonly _tag = "FilterError"
  readonly term: string
  readonly found: string
  readonly expected: string

  constructor(term: string, found: string, expected: string) {
    super(`filter: ${term}: found "${found}", expected ${expected}`)
    this.name = "FilterError"
    this.term = term
    this.found = found
    this.expected = expected
  }
}

/** A time in a capture: nanoseconds from its start, or from 1970. */
type Moment = { readonly kind: "relative"; readonly ns: number } | { readonly kind: "absolute"; readonly ns: bigint }

type Test = (sighting: Sighting) => boolean

const UNITS: Readonly<Record<string, number>> = { "": 1e9, s: 1e9, ms: 1e6, us: 1e3, ns: 1 }

const momentOf = (text: string): Moment => {
  const relative = /^(\d+(?:\.\d+)?)(s|ms|us|ns|)$/.exec(text)
  if (relative !== null) return { kind: "relative", ns: Number(relative[1]) * UNITS[relative[2]!]! }
  const absolute = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z?$/.exec(text)
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = absolute?.slice(1, 7).map(Number) ?? []
  const isTime = month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60 && second < 60
  if (absolute === null || !isTime) throw new FilterError("time", text, "1.5, 20ms, 7us or 2026-01-31T23:59:59.5Z")
  const seconds = daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
  return { kind: "absolute", ns: BigInt(seconds) * 1_000_000_000n + BigInt((absolute[7] ?? "").padEnd(9, "0")) }
}

/** Days of the Gregorian calendar, counted in years that begin in March. */
const daysSince1970 = (year: number, month: number, day: number): number => {
  const years = month > 2 ? year : year - 1
  const days = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return 365 * years + Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400) + days - 719_468
}

const numberOf = (term: string, text: string, max: number): number => {
  const number = /^(?:0x[0-9a-f]+|\d+)$/i.test(text) ? Number(text) : Number.NaN
  if (!(number <= max)) throw new FilterError(term, text, `a number 0..${max}, decimal or 0x…`)
  return number
}

/** `A..B`, either of which may be missing, or one number. */
const rangeOf = <A>(
  term: string,
  text: string,
  parse: (part: string) => A,
): readonly [A | undefined, A | undefined] => {
  const parts = text.split("..")
  if (parts.length > 2 || text === "" || text === "..") throw new FilterError(term, text, "one value, or FROM..TO")
  if (parts.length === 1) return [parse(text), parse(text)]
  return [parts[0] === "" ? undefined : parse(parts[0]!), parts[1] === "" ? undefined : parse(parts[1]!)]
}

/** Refuses a range that nothing is in. */
const forward = (
  term: string,
  text: string,
  from: number | bigint | undefined,
  to: number | bigint | undefined,
): void => {
  if (from !== undefined && to !== undefined && from > to) throw new FilterError(term, text, "the smaller value first")
}

const within = (value: number, [from, to]: readonly [number | undefined, number | undefined]): boolean =>
  value >= 0 && (from === undefined || value >= from) && (to === undefined || value <= to)

const kinds: Readonly<Record<string, Test>> = {
  roce: ({ kind }) => kind === "roce",
  tcp: ({ kind }) => kind === "tcp",
  pfc: ({ kind }) => kind === "pause",
  other: ({ kind }) => kind === "other",
  cnp: ({ operation }) => operation?.kind === "notify",
  ack: ({ syndrome }) => syndrome >= 0 && syndrome < 0x20,
  rnr: ({ syndrome }) => syndrome >> 5 === 1,
  nak: ({ syndrome }) => syndrome >> 5 === 3,
  marked: ({ trafficClass }) => trafficClass >= 0 && (trafficClass & 3) === 3,
  cm: ({ destinationQp, operation }) => destinationQp === 1 && operation?.opcode.service === "Ud",
  cut: ({ isTruncated }) => isTruncated,
}

/** The terms that a filter may have. */
export const filterTerms = "time frame interface address source destination qp psn opcode is"

/** An address in the form that it is printed in. */
const plainAddress = (term: string, text: string): string => {
  const ipv4 = parseIpv4Address(text)
  if (ipv4 !== undefined) return formatIpv4(ipv4)
  const ipv6 = parseIpv6Address(text)
  if (ipv6 !== undefined) return formatIpv6(ipv6)
  const mac = parseMac(text)
  if (mac !== undefined) return formatMac(mac)
  const lid = /^lid(\d+)$/i.exec(text)
  if (lid !== null) return `LID ${Number(lid[1])}`
  throw new FilterError(term, text, "an address such as 10.0.0.1, fd00::1, 52:54:00:00:00:01 or lid5")
}

/**
 * Which packets count: terms `NAME=VALUE` joined by spaces or `&`, all of which hold. `time=10ms..20ms` counts from the
 * first packet, `interface=eth0` is a name or a number from 0, `qp=0x11,0x12` is the destination, `address=10.0.0.1`
 * either side. PSNs are modulo 2^24: `psn=0xfffff0..0x10` goes over the end. What no packet can be is refused.
 */
export class PacketFilter {
  /** Queue pairs that are asked for, undefined for all. They are not part of {@link passes} when `aside`. */
  readonly queuePairs: ReadonlySet<number> | undefined
  readonly isEmpty: boolean
  readonly #tests: Array<Test> = []
  readonly #addresses: Addresses
  readonly #clock: Clock

  /**
   * @param terms any number of texts with terms
   * @param aside leaves queue pairs to the caller, who knows both of a connection
   */
  constructor(
    terms: ReadonlyArray<string>,
    seen: { readonly addresses: Addresses; readonly clock: Clock },
    aside = false,
  ) {
    this.#addresses = seen.addresses
    this.#clock = seen.clock
    const queuePairs = new Set<number>()
    for (const term of terms.flatMap((text) => text.split(/[\s&]+/)).filter((text) => text !== "")) {
      const [name, ...rest] = term.split("=")
      const value = rest.join("=")
      if (rest.length === 0) throw new FilterError(name!, term, "NAME=VALUE")
      if (name === "qp") for (const qp of value.split(",")) queuePairs.add(numberOf("qp", qp, 0xffffff))
      else this.#tests.push(this.#test(name!, value))
    }
    this.queuePairs = queuePairs.size === 0 ? undefined : queuePairs
    if (queuePairs.size > 0 && !aside) this.#tests.push(({ destinationQp }) => queuePairs.has(destinationQp))
    this.isEmpty = this.#tests.length === 0
  }

  passes(sighting: Sighting): boolean {
    for (const test of this.#tests) if (!test(sighting)) return false
    return true
  }

  #test(name: string, value: string): Test {
    switch (name) {
      case "time":
        return this.#time(value)
      case "frame": {
        const range = rangeOf(name, value, (part) => numberOf(name, part, Number.MAX_SAFE_INTEGER))
        forward(name, value, range[0], range[1])
        return ({ frame }) => within(frame, range)
      }
      case "psn": {
        const range = rangeOf(name, value, (part) => numberOf(name, part, 0xffffff))
        const [from = 0, to = 0xffffff] = range
        return from <= to ? ({ psn }) => within(psn, range) : ({ psn }) => psn >= from || (psn >= 0 && psn <= to)
      }
      case "interface":
        return interfaceTest(value)
      case "address":
      case "source":
      case "destination":
        return this.#address(name, plainAddress(name, value))
      case "opcode":
        return opcodeTest(value)
      case "is": {
        const test = Object.hasOwn(kinds, value) ? kinds[value] : undefined
        if (test === undefined) throw new FilterError("is", value, `one of ${Object.keys(kinds).join(" ")}`)
        return test
      }
      default:
        throw new FilterError("term", name, `one of ${filterTerms}`)
    }
  }

  #address(name: "address" | "source" | "destination", text: string): Test {
    const known: Array<boolean> = []
    const is = (id: number): boolean => {
      if (id < 0) return false
      known[id] ??= this.#addresses.text(id) === text
      return known[id]
    }
    if (name === "source") return ({ source }) => is(source)
    if (name === "destination") return ({ destination }) => is(destination)
    return ({ source, destination }) => is(source) || is(destination)
  }

  #time(value: string): Test {
    const [from, to] = rangeOf("time", value, momentOf)
    // Where the capture starts is not known yet: one of each kind may be either way round.
    if (from?.kind === to?.kind) forward("time", value, from?.ns, to?.ns)
    let fromNs: number | undefined
    let toNs: number | undefined
    const place = (moment: Moment | undefined, none: number): number => {
      if (moment === undefined) return none
      return moment.kind === "relative" ? moment.ns : Number(moment.ns - this.#clock.startNs!)
    }
    return ({ timeNs }) => {
      if (Number.isNaN(timeNs)) return false
      fromNs ??= place(from, Number.NEGATIVE_INFINITY)
      toNs ??= place(to, Number.POSITIVE_INFINITY)
      return timeNs >= fromNs && timeNs <= toNs
    }
  }
}

/** An interface by its name, or by its number in its section. */
const interfaceTest = (value: string): Test => {
  if (value === "") throw new FilterError("interface", value, "a name such as eth0, or a number from 0")
  let last: CaptureInterface | undefined
  let isLast = false
  return ({ interface: from }) => {
    if (from === undefined) return false
    if (from !== last) {
      last = from
      isLast = value === interfaceName(from) || value === String(from.id)
    }
    return isLast
  }
}

const OPERATION_NAMES = /* @__PURE__ */ (() =>
  Array.from({ length: 256 }, (_, code) => operationOf(code)?.name.toLowerCase() ?? "").filter((name) => name !== ""))()

const opcodeTest = (value: string): Test => {
  if (/^(?:0x[0-9a-f]+|\d+)$/i.test(value)) {
    const code = numberOf("opcode", value, 255)
    return ({ opcode }) => opcode === code
  }
  const words = value.toLowerCase().split(/[_-]/)
  const isNamed = (name: string): boolean => words.every((word) => word !== "" && name.includes(word))
  if (!OPERATION_NAMES.some(isNamed))
    throw new FilterError("opcode", value, "a number, or words of an operation such as write_only, ack or rc_send")
  return ({ operation }) => operation !== undefined && isNamed(operation.name.toLowerCase())
}
