import { describe, expect, it } from "vitest"
import { NEVER, Timers } from "../src/index.ts"

describe("Timers", () => {
  it("give back the one that is due first, and make it idle", () => {
    const timers = new Timers(3)
    timers.set(0, 300)
    timers.set(1, 100)
    timers.set(2, 200)
    expect(timers.next).toBe(100)
    expect([timers.take(250), timers.take(250), timers.take(250)]).toEqual([1, 2, -1])
    expect(timers.next).toBe(300)
  })

  it("due at one moment come by number", () => {
    const timers = new Timers(3)
    for (const timer of [2, 0, 1]) timers.set(timer, 50)
    expect([timers.take(50), timers.take(50), timers.take(50), timers.take(50)]).toEqual([0, 1, 2, -1])
  })

  it("remember which were set or cancelled", () => {
    const timers = new Timers(4)
    timers.set(3, 10)
    expect(timers.changed).toBe(8)
    timers.changed = 0
    timers.cancel(1)
    expect(timers.changed).toBe(0)
    timers.cancel(3)
    expect([timers.changed, timers.next]).toEqual([8, NEVER])
  })

  it("are at most eight", () => {
    expect(() => new Timers(9)).toThrow(/expected 1 to 8/)
    expect(() => new Timers(0)).toThrow(/expected 1 to 8/)
  })
})
