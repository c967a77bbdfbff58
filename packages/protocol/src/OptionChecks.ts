import type { ControllerFactory, Feedback } from "./Controller.ts"
import type { Framing } from "./Flow.ts"
import type { VerbsTransport } from "./World.ts"

/** A value as a message shows it, whatever a program that no compiler has checked has given. */
export const shown = (value: unknown): string => {
  if (typeof value === "string") return `"${value}"`
  if (value === undefined) return "nothing"
  if (typeof value === "bigint") return `${value}n`
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value)
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`
}

/** Whether it may have fields: an object, and no array. */
export const hasFields = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** An option that a package cannot work with: what the errors of packages about their options have in common. */
export abstract class OptionError extends Error {
  abstract readonly _tag: string
  /** The option, as the interface spells it. */
  readonly option: string
  /** What it was. */
  readonly value: unknown
  /** What it has to be. */
  readonly expected: string

  /** @param subject whose option it is, as a message begins */
  constructor(subject: string, option: string, value: unknown, expected: string) {
    super(`${subject}: ${option} is ${shown(value)}, expected ${expected}`)
    this.option = option
    this.value = value
    this.expected = expected
  }
}

/** How a package refuses an option with its own error, unless it is legal. */
export type OptionCheck = (option: string, value: unknown, legal: boolean, expected: string) => void

type NumberOption = number | undefined

/**
 * Checks that throw a package's own error. `undefined` is legal everywhere but in `check`: it stands for the default.
 *
 * @param Refusal the package's `OptionError`
 */
export const optionChecks = (
  Refusal: new (option: string, value: unknown, expected: string) => OptionError,
): OptionChecks => {
  const check: OptionCheck = (option, value, legal, expected) => {
    if (!legal) throw new Refusal(option, value, expected)
  }
  const number = (option: string, value: NumberOption, isLegal: (value: number) => boolean, expected: string): void =>
    check(option, value, value === undefined || (Number.isFinite(value) && isLegal(value)), expected)
  return {
    check,
    checkInteger: (option, value, least) =>
      number(option, value, (n) => Number.isSafeInteger(n) && n >= least, `an integer of at least ${least}`),
    checkAtLeast: (option, value, least) =>
      number(option, value, (n) => n >= least, `a finite number of at least ${least}`),
    checkAbove: (option, value, bound) => number(option, value, (n) => n > bound, `a finite number above ${bound}`),
    checkWithin: (option, value, least, most) =>
      number(option, value, (n) => n >= least && n <= most, `a number, ${least} to ${most}`),
    checkShare: (option, value) => number(option, value, (n) => n > 0 && n <= 1, "a number above 0, at most 1"),
    checkBoolean: (option, value) =>
      check(option, value, value === undefined || typeof value === "boolean", "true or false"),
    checkWord: (option, value, words) =>
      check(option, value, value === undefined || words.includes(value), words.join(" or ")),
  }
}

export interface OptionChecks {
  readonly check: OptionCheck
  readonly checkInteger: (option: string, value: NumberOption, least: number) => void
  readonly checkAtLeast: (option: string, value: NumberOption, least: number) => void
  readonly checkAbove: (option: string, value: NumberOption, bound: number) => void
  readonly checkWithin: (option: string, value: NumberOption, least: number, most: number) => void
  /** Above 0, and at most 1. */
  readonly checkShare: (option: string, value: NumberOption) => void
  readonly checkBoolean: (option: string, value: boolean | undefined) => void
  readonly checkWord: (option: string, value: string | undefined, words: ReadonlyArray<string>) => void
}

/** Refuses a path's line rate that no link has, bit/s. */
export const checkLineRate = (check: OptionCheck, lineRateBps: number): void =>
  check(
    "lineRateBps",
    lineRateBps,
    Number.isFinite(lineRateBps) && lineRateBps >= 1,
    "a finite rate of at least 1 bit/s",
  )

/** Refuses a path's base RTT that no path has, ps. */
export const checkBaseRtt = (check: OptionCheck, baseRttPs: number): void =>
  check("baseRttPs", baseRttPs, Number.isFinite(baseRttPs) && baseRttPs > 0, "a finite time above 0")

/** Refuses a size of packets that no path has, bytes. */
export const checkMtu = (check: OptionCheck, mtuBytes: number): void =>
  check("mtuBytes", mtuBytes, Number.isFinite(mtuBytes) && mtuBytes >= 1, "a finite size of at least 1 byte")

/** Seeds of networks and of what is random in them are whole numbers from 0 to this: 32 bits, all that a hash takes. */
const SEED_MAX = 2 ** 32 - 1

/** Refuses what is no seed. */
export const checkSeed = (check: OptionCheck, seed: number): void =>
  check(
    "seed",
    seed,
    Number.isInteger(seed) && seed >= 0 && seed <= SEED_MAX,
    `a whole number of 32 bits, 0 to ${SEED_MAX}`,
  )

const FEEDBACKS: ReadonlyArray<unknown> = ["rtt", "ecn", "cnp", "int", "pint"] satisfies ReadonlyArray<Feedback>

/** Refuses what is no `ControllerFactory`, and names the field. @param option what holds it */
export const checkFactory = (check: OptionCheck, controller: unknown, option = "controller"): void => {
  if (!hasFields(controller)) {
    check(option, controller, false, "a controller's factory, { name, needs, make }")
    return
  }
  const { name, needs, make } = controller as Partial<ControllerFactory>
  const foreign = Array.isArray(needs) ? needs.findIndex((need) => !FEEDBACKS.includes(need)) : -1
  check(`${option}.name`, name, typeof name === "string", "the controller's name, a text")
  check(`${option}.needs`, needs, Array.isArray(needs), `a list of ${FEEDBACKS.join(", ")}`)
  check(`${option}.needs[${foreign}]`, needs?.[foreign], foreign < 0, `one of ${FEEDBACKS.join(", ")}`)
  check(`${option}.make`, make, typeof make === "function", "a function that makes a controller")
}

/** Refuses what is no `VerbsTransport`. @param option what holds it */
export const checkTransport = (check: OptionCheck, option: string, transport: unknown): void =>
  check(
    option,
    transport,
    hasFields(transport) && typeof (transport as Partial<VerbsTransport>).makeEngine === "function",
    "a transport for the verbs, which has makeEngine",
  )

const SIZES = ["dataBytes", "telemetryBytes", "leastBytes", "ackBytes", "cnpBytes", "pfcBytes"] as const

/** Refuses what is no `Framing`, and names the field. */
export const checkFraming = (check: OptionCheck, framing: unknown): void => {
  if (!hasFields(framing)) {
    check("framing", framing, false, "a framing, an object")
    return
  }
  const fields = framing as Partial<Framing>
  check("framing.name", fields.name, typeof fields.name === "string", "the framing's name, a text")
  for (const size of SIZES) {
    const value = fields[size]
    check(`framing.${size}`, value, Number.isSafeInteger(value) && Number(value) >= 0, "a whole number of at least 0")
  }
}
