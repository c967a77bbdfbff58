import { PintCodec } from "@rdmakit/packet"
import type { ControllerFactory } from "@rdmakit/protocol"
import { expect, it } from "vitest"
import { dumbbell } from "../src/index.ts"

/** Keeps half of the line rate, and notes what utilisation it is told of. */
const listening = (needs: ControllerFactory["needs"], base: number, told: Array<number>): ControllerFactory => ({
  name: "listening",
  needs,
  pintBase: base,
  make: (_now, { lineRateBps }) => ({
    rate: lineRateBps / 2,
    window: Infinity,
    nextTimer: Infinity,
    onSent: () => {},
    onAck: (_time, { pint }) => {
      told.push(pint)
      return false
    },
    onCnp: () => false,
    onLoss: () => false,
    onTimer: () => false,
    metrics: () => ({}),
  }),
})

it("the link tells of its utilisation, in digests of the base that the factory asks for", () => {
  for (const base of [1.05, 1.01]) {
    const told: Array<number> = []
    dumbbell(listening(["pint"], base, told), { flows: [{}], durationPs: 1e9 })
    const codec = new PintCodec(base)
    // Half of the link, no queue: U is 0.5 once 10 µs are past.
    for (const digest of told.slice(50)) expect(codec.decode(digest)).toBeCloseTo(0.5, 1)
  }
})

it("a factory that does not need it is told of none", () => {
  const told: Array<number> = []
  dumbbell(listening(["rtt"], 1.05, told), { flows: [{}], durationPs: 1e8 })
  expect(new Set(told)).toEqual(new Set([-1]))
})
