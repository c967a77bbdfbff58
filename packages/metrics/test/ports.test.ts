import fc from "fast-check"
import { expect, test } from "vitest"
import { linkUse, PauseTime } from "../src/index.ts"

test("link use: 12,500 bytes in 2 µs of 100 Gb/s are half of it", () => {
  expect(linkUse(12_500, 100e9, 2e6)).toBe(0.5)
  expect(linkUse(0, 100e9, 1)).toBe(0)
  expect(linkUse(0, 100e9, 0)).toBe(Number.NaN)
})

test("a port is paused while one of its priorities is", () => {
  const pauses = new PauseTime(3, 100)
  pauses.change(110, 0, 3, true)
  pauses.change(120, 0, 4, true)
  pauses.change(130, 0, 3, false)
  // A pause that is refreshed counts, and changes nothing else.
  pauses.change(135, 0, 4, true)
  expect(pauses.paused(0, 140)).toBe(30)
  pauses.change(150, 0, 4, false)
  pauses.change(180, 1, 0, true)
  expect([0, 1, 2].map((port) => pauses.paused(port, 200))).toEqual([40, 20, 0])
  expect([0, 1, 2].map((port) => pauses.count(port))).toEqual([3, 1, 0])
  // Of the 100 ps since the start.
  expect([0, 1, 2].map((port) => pauses.fraction(port, 200))).toEqual([0.4, 0.2, 0])
  expect(pauses.meanFraction(200)).toBeCloseTo(0.2, 15)
  expect(pauses.meanFraction(100)).toBe(0)
  expect(new PauseTime(0).meanFraction(1)).toBe(0)
  expect(() => pauses.change(200, 0, 8, true)).toThrow("priority is 8, expected 0 to 7")
})

test("a time before the last changes has no more of them than fits", () => {
  const pauses = new PauseTime(2, 100)
  pauses.change(110, 0, 3, true)
  pauses.change(190, 0, 3, false)
  pauses.change(250, 0, 3, true)
  pauses.change(250, 1, 3, true)
  expect([200, 160, 100].map((now) => pauses.paused(0, now))).toEqual([80, 60, 0])
  expect([200, 300].map((now) => pauses.paused(1, now))).toEqual([0, 50])
  expect(pauses.fraction(0, 160)).toBe(1)
})

test("however pauses come, paused time is the time with a bit set", () => {
  const change = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 7 }), fc.boolean())
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const pauses = new PauseTime(1)
      const paused = new Set<number>()
      let now = 0
      let expected = 0
      for (const [wait, priority, pause] of changes) {
        if (paused.size > 0) expected += wait
        now += wait
        pauses.change(now, 0, priority, pause)
        if (pause) paused.add(priority)
        else paused.delete(priority)
      }
      expect(pauses.paused(0, now)).toBe(expected)
    }),
  )
})
