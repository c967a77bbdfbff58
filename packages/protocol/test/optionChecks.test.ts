import { describe, expect, it } from "vitest"
import {
  checkBaseRtt,
  checkFactory,
  checkFraming,
  checkLineRate,
  checkSeed,
  checkTransport,
  type Framing,
  hasFields,
  OptionError,
  optionChecks,
  shown,
  unpaced,
} from "../src/index.ts"

/** The option that is refused, with what was found and expected; undefined: none. */
const refusal = (attempt: (check: Parameters<typeof checkFactory>[0]) => void): string | undefined => {
  try {
    attempt((option, value, legal, expected) => {
      if (!legal) throw new Error(`${option}: ${shown(value)}, ${expected}`)
    })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

it("a message shows any value in words", () => {
  const values = [undefined, null, "0.5", 0.5, Number.NaN, true, [], {}, Object.create(null), 1n, Symbol("s"), () => 0]
  expect(values.map(shown)).toEqual([
    ...["nothing", "null", '"0.5"', "0.5", "NaN", "true", "an array", "an object", "an object"],
    ...["1n", "a symbol", "a function"],
  ])
  expect(values.filter(hasFields)).toEqual([{}, Object.create(null)])
})

class PartError extends OptionError {
  readonly _tag = "PartError"
  override readonly name = "PartError"

  constructor(option: string, value: unknown, expected: string) {
    super("part", option, value, expected)
  }
}

describe("the checks of a package's options", () => {
  const { check, checkInteger, checkAtLeast, checkAbove, checkWithin, checkShare, checkBoolean, checkWord } =
    optionChecks(PartError)
  /** As a program that no compiler has checked may give them. */
  const any = (value: unknown) => value as number & boolean & string

  it("refuse with the package's own error, which has all that its message says", () => {
    const attempt = () => checkInteger("mtuBytes", 0.5, 1)
    expect(attempt).toThrow(PartError)
    expect(attempt).toThrow("part: mtuBytes is 0.5, expected an integer of at least 1")
    expect(attempt).toThrow(
      expect.objectContaining({
        _tag: "PartError",
        option: "mtuBytes",
        value: 0.5,
        expected: "an integer of at least 1",
      }),
    )
    expect(() => check("mode", undefined, false, "a mode")).toThrow("part: mode is nothing, expected a mode")
  })

  it.each([
    ["checkInteger", (v: unknown) => checkInteger("o", any(v), 1), [1, 2 ** 53 - 1], [0, 1.5, 2 ** 53, Infinity]],
    ["checkAtLeast", (v: unknown) => checkAtLeast("o", any(v), 1), [1, 1.5, 1e300], [0.9, -1, Infinity]],
    ["checkAbove", (v: unknown) => checkAbove("o", any(v), 1), [1.01, 1e300], [1, -1, Infinity]],
    ["checkWithin", (v: unknown) => checkWithin("o", any(v), 1, 2), [1, 1.5, 2], [0.99, 2.01, Infinity]],
    ["checkShare", (v: unknown) => checkShare("o", any(v)), [1e-9, 1], [0, 1.01]],
    ["checkBoolean", (v: unknown) => checkBoolean("o", any(v)), [true, false], [0, 1]],
    ["checkWord", (v: unknown) => checkWord("o", any(v), ["a", "b"]), ["a", "b"], ["c", "", 0]],
  ])("%s", (_name, attempt, legal, illegal) => {
    for (const value of [undefined, ...legal]) expect(() => attempt(value)).not.toThrow()
    for (const value of [Number.NaN, null, "1", 1n, {}, [], Symbol("s"), ...illegal]) {
      expect(() => attempt(value), String(value)).toThrow(PartError)
    }
  })
})

it("a controller's factory is one field by field", () => {
  const whole = { name: "fixed", needs: ["rtt"], make: () => unpaced }
  const found = (controller: unknown) => refusal((check) => checkFactory(check, controller))
  expect(found(whole)).toBeUndefined()
  expect(found(null)).toBe("controller: null, a controller's factory, { name, needs, make }")
  expect(found(() => whole)).toBe("controller: a function, a controller's factory, { name, needs, make }")
  expect(found({})).toBe("controller.name: nothing, the controller's name, a text")
  expect(found({ ...whole, needs: "rtt" })).toBe('controller.needs: "rtt", a list of rtt, ecn, cnp, int, pint')
  const foreign = { ...whole, needs: ["rtt", "delay"] }
  expect(found(foreign)).toBe('controller.needs[1]: "delay", one of rtt, ecn, cnp, int, pint')
  expect(found({ ...whole, make: {} })).toBe("controller.make: an object, a function that makes a controller")
})

it("a transport for the verbs makes engines", () => {
  const found = (transport: unknown) => refusal((check) => checkTransport(check, "datagrams", transport))
  expect(found({ makeEngine: () => undefined })).toBeUndefined()
  for (const wrong of [null, undefined, {}, [], { makeEngine: true }, () => undefined])
    expect(found(wrong)).toBe(`datagrams: ${shown(wrong)}, a transport for the verbs, which has makeEngine`)
})

it("a framing is one field by field", () => {
  const whole: Framing = {
    ...{ name: "frames", dataBytes: 90, telemetryBytes: 0, leastBytes: 84 },
    ...{ ackBytes: 90, cnpBytes: 90, pfcBytes: 84 },
  }
  const found = (framing: unknown) => refusal((check) => checkFraming(check, framing))
  expect(found(whole)).toBeUndefined()
  expect(found([])).toBe("framing: an array, a framing, an object")
  for (const field of Object.keys(whole)) {
    expect(found({ ...whole, [field]: undefined })).toMatch(new RegExp(`^framing.${field}: nothing, `))
    expect(found({ ...whole, [field]: -1 })).toMatch(new RegExp(`^framing.${field}: -1, `))
  }
})

it("a seed is a whole number of 32 bits, and not below 0", () => {
  const found = (seed: unknown) => refusal((check) => checkSeed(check, seed as number))
  for (const seed of [0, 1, 2 ** 31, 2 ** 32 - 1]) expect(found(seed)).toBeUndefined()
  for (const wrong of [-1, 0.5, 2 ** 32, Number.NaN, Number.POSITIVE_INFINITY, "7", null, undefined])
    expect(found(wrong)).toBe(`seed: ${shown(wrong)}, a whole number of 32 bits, 0 to 4294967295`)
})

it("refuses what is no line rate, and no base RTT", () => {
  for (const wrong of [0, 0.5, -1, Number.NaN, Number.POSITIVE_INFINITY, "1e9", null])
    expect(refusal((check) => checkLineRate(check, wrong as number))).toContain("lineRateBps")
  for (const wrong of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "1", null])
    expect(refusal((check) => checkBaseRtt(check, wrong as number))).toContain("baseRttPs")
  expect(refusal((check) => checkLineRate(check, 1))).toBeUndefined()
  expect(refusal((check) => checkBaseRtt(check, 0.5))).toBeUndefined()
})
