import type { Ack, Controller, PathInfo } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { ControllerModuleError, userController } from "../src/index.ts"

const path: PathInfo = {
  ...{ lineRateBps: 100e9, baseRttPs: 4e6, windowBytes: 50_000, mtuBytes: 1000 },
  ...{ timeModulusPs: Number.POSITIVE_INFINITY, bytesModulus: Number.POSITIVE_INFINITY, flow: 7, seed: 0 },
}
const steady: Controller = {
  ...{ window: Number.POSITIVE_INFINITY, rate: 100e9, nextTimer: Number.POSITIVE_INFINITY },
  onSent: () => {},
  ...{ onAck: () => false, onCnp: () => false, onLoss: () => false, onTimer: () => false, metrics: () => ({ a: 1 }) },
}
const factory = (changes: Partial<Controller> = {}) => ({
  ...{ name: "mine", needs: ["rtt", "pint"], pintBase: 1.1 },
  make: () => ({ ...steady, ...changes }),
})
const made = (changes: Partial<Controller>) => userController({ default: factory(changes) }, "mine.ts").make(0, path)

describe("a user's module", () => {
  it("gives a factory as default export, as itself, or by a function of options", () => {
    const options = { gain: 2 }
    let given: unknown
    const make = (value: unknown) => {
      given = value
      return factory()
    }
    for (const module of [{ default: factory() }, factory(), { default: make }, { make }]) {
      const { name, needs, pintBase, make: makeOne } = userController(module, "mine.ts", options)
      expect({ name, needs, pintBase }).toEqual({ name: "mine", needs: ["rtt", "pint"], pintBase: 1.1 })
      expect(makeOne(0, path).metrics()).toEqual({ a: 1 })
    }
    expect(given).toBe(options)
  })

  it.each([
    [{ ...factory(), name: "" }, 'mine.ts: name: found "", expected the name of the controller'],
    [{ ...factory(), name: "a\n\u001b[31m" }, "name: found"],
    [{ ...factory(), name: "x".repeat(65) }, "a text of at most 64 printable characters"],
    [{ ...factory(), pintBase: 1 }, "mine.ts: pintBase: found 1, expected a number above 1"],
    [{ ...factory(), needs: "rtt" }, 'mine.ts: needs: found "rtt", expected a list of rtt, ecn, cnp, int, pint'],
  ])("%j is refused", (module, message) => {
    expect(() => userController({ default: module }, "mine.ts")).toThrow(ControllerModuleError)
    expect(() => userController({ default: module }, "mine.ts")).toThrow(message)
  })
})

describe("exports that are no controller", () => {
  it("are named as they can be printed", () => {
    const message = 'mine.ts: found the exports a, "\\u001b[31m", expected a controller'
    expect(() => userController({ a: 1, "\u001b[31m": 2 }, "mine.ts")).toThrow(message)
  })
})

describe("exports that throw when they are read", () => {
  const throwing = (field: string, of: object = {}): object =>
    Object.defineProperty(of, field, {
      get: () => {
        throw new Error("not today")
      },
    })
  it.each<[string, Readonly<Record<string, unknown>>]>([
    ["needs", { default: throwing("needs", factory()) }],
    ["the default export", { default: throwing("make") }],
    ["what make gave", { make: () => throwing("make") }],
  ])("%s", (_name, module) => {
    const read = () => userController(module, "mine.ts")
    expect(read).toThrow(ControllerModuleError)
    expect(read).toThrow("mine.ts: reading what it exports threw Error: not today")
  })
})

describe("what is no module of a controller, or is one that does not wait", () => {
  it.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
    ["a number", { default: 5 }, "mine.ts: export default: found 5, expected a controller"],
    ["a text", { default: "hpcc" }, 'mine.ts: export default: found "hpcc", expected a controller'],
    ["fields", { default: { name: "mine" } }, 'mine.ts: export default: found {"name":"mine"}, expected a controller'],
    [
      "async",
      { default: async () => factory() },
      "mine.ts: default(options) returned a Promise, expected { name, needs",
    ],
  ])("%s", (_, module, message) => {
    expect(() => userController(module, "mine.ts")).toThrow(message)
  })

  const asynchronous = async (): Promise<boolean> => true
  it.each([
    ["onSent", (one: Controller) => one.onSent(0, 1), "expected nothing"],
    ["onAck", (one: Controller) => one.onAck(0, {} as never), "expected true when it set rate or window"],
    ["onCnp", (one: Controller) => one.onCnp(0), "expected true when"],
    ["onLoss", (one: Controller) => one.onLoss(0, false), "expected true when"],
    ["onTimer", (one: Controller) => one.onTimer(0, 0), "expected true when"],
  ] as const)("%s that is async is named", (callback, call, expected) => {
    const one = made({ [callback]: asynchronous })
    expect(() => call(one)).toThrow(`${callback} returned a Promise, ${expected}`)
    expect(() => call(one)).toThrow("nothing here waits for it: write the function without async")
  })

  it("a make that is async is named", () => {
    const mine = { ...factory(), make: async () => steady }
    expect(() => userController({ default: mine as never }, "mine.ts").make(0, path)).toThrow(
      "make returned a Promise, expected a controller",
    )
  })
})

describe("a user's controller", () => {
  it("may set a timer every nanosecond for ever, and at one moment several times", () => {
    const one = made({})
    for (let now = 0; now < 5e6; now += 1000) one.onTimer(now, 0)
    const burst = made({})
    // 999 at one moment, then one a microsecond later: a thousand in a microsecond.
    for (let i = 0; i < 999; i++) burst.onTimer(0, 0)
    expect(burst.onTimer(1e6, 0)).toBe(false)
  })

  it("is stopped when a thousand timers fire in less than 999 ns", () => {
    const one = made({})
    for (let i = 0; i < 999; i++) one.onTimer(i, 0)
    expect(() => one.onTimer(998_999, 0)).toThrow("controller of flow 7, at 0.998999 us: its timer fired 1000 times")
  })

  it.each([
    [{ rate: 5n }, "its rate is a value of type bigint, expected a number"],
    [{ rate: "5" }, 'its rate is "5", expected a number'],
    [{ window: undefined }, "its window is nothing, expected a number"],
  ])("is stopped when what it sets is no number: %#", (fields, message) => {
    expect(() => made(fields as unknown as Parameters<typeof made>[0])).toThrow(`flow 7, at 0 us: ${message}`)
  })

  it("is stopped when reading it throws", () => {
    const throwing = {
      get rate(): number {
        throw new Error("no rate today")
      },
    }
    const inner = Object.defineProperties(factory().make(), Object.getOwnPropertyDescriptors(throwing))
    const { make } = userController({ default: { ...factory(), make: () => inner } }, "mine.ts")
    expect(() => make(0, path)).toThrow("controller of flow 7, at 0 us: what make returned threw Error: no rate today")
  })

  it("is read after each callback alone, and is what it was then", () => {
    let reads = 0
    const counting = {
      get window(): number {
        if (reads++ === 2) throw new Error("no more")
        return 1000 * reads
      },
    }
    const inner = Object.defineProperties(factory().make(), Object.getOwnPropertyDescriptors(counting))
    const one = userController({ default: { ...factory(), make: () => inner } }, "mine.ts").make(0, path)
    expect([one.window, one.window]).toEqual([1000, 1000])
    one.onSent(1, 1000)
    expect(one.window).toBe(2000)
    expect(() => one.onSent(2, 1000)).toThrow("controller of flow 7, at 0.000002 us: onSent threw Error: no more")
  })

  it("may write into the acknowledgement it is told of, which nobody else sees", () => {
    const seen: Array<Ack> = []
    const one = made({
      onAck: (_now, ack) => {
        seen.push({ ...ack })
        for (const field of Object.keys(ack)) (ack as unknown as Record<string, unknown>)[field] = -1
        return false
      },
    })
    const ack: Ack = {
      ...{ sequence: 1000, sent: 2000, bytes: 1000, rttPs: 5e6, congestion: false, hops: 1, pathId: 3, pint: -1 },
      ...{ telemetry: new Float64Array(4), telemetryAt: 0 },
    }
    const told = { ...ack }
    one.onAck(1, ack)
    one.onAck(2, ack)
    expect(ack).toEqual(told)
    expect(seen).toEqual([told, told])
  })

  it("is stopped when its next timer lies in the past", () => {
    expect(() => made({ nextTimer: 3 }).onTimer(5, 0)).toThrow("its nextTimer is 3 ps, 2 ps ago")
  })
})
