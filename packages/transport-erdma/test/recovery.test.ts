import type { Crossing } from "@rdmakit/conformance"
import { Opcode } from "@rdmakit/packet"
import { describe, expect, it } from "vitest"
import { connect, fixedWindow, US } from "./connection.ts"

const isData = ({ opcode }: Crossing): boolean => opcode < Opcode.Acknowledge

describe("repair", () => {
  it("each packet is acknowledged at once", () => {
    const { pair } = connect()
    pair.command(0, { message: 0, writeBytes: 84_280 })
    pair.run()
    expect(pair.sent.filter((each) => !isData(each)).map(({ psn }) => psn)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it("a packet lost is sent again a round trip after the one behind it", () => {
    let lost = false
    const { pair } = connect({
      path: (crossing) => {
        if (!isData(crossing) || crossing.psn !== 3 || lost) return [6 * US]
        lost = true
        return []
      },
    })
    pair.command(0, { message: 0, writeBytes: 20 * 8428 })
    pair.run()
    const threes = pair.sent.filter((each) => isData(each) && each.psn === 3).map(({ time }) => time)
    expect(threes).toHaveLength(2)
    // A round trip, and the time of the few packets that tell of it: no timer.
    expect(threes[1]! - threes[0]!).toBeLessThan(12 * US + 4 * 0.7 * US)
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
  })

  it("one that is lost three times is still found by time, while others go on", () => {
    let left = 3
    const { pair } = connect({
      path: (crossing) => (isData(crossing) && crossing.psn === 3 && left-- > 0 ? [] : [6 * US]),
    })
    pair.command(0, { message: 0, writeBytes: 100 * 8428 })
    pair.run()
    // 100 packets take 69 µs; three repairs take a round trip each.
    expect(pair.events[0]!.time).toBeLessThan(69 * US + 4 * 12 * US)
  })

  it("a lone packet that is lost comes 1 ms later, when no round trip is known yet; then after 2", () => {
    let lost = false
    const { pair } = connect({
      path: (crossing) => {
        if (!isData(crossing) || lost) return [6 * US]
        lost = true
        return []
      },
    })
    pair.command(0, { message: 0, writeBytes: 8 })
    pair.run()
    expect(pair.events[0]!.time).toBe(1012 * US)
    const began = pair.now
    lost = false
    pair.command(0, { message: 1, writeBytes: 8 })
    pair.run()
    expect(pair.events[1]!.time - began).toBe(36 * US)
  })

  it("a probe that is lost too leaves it to the timeout: a round trip and 100 µs", () => {
    const { pair } = connect()
    pair.command(0, { message: 0, writeBytes: 8 })
    pair.run()
    let left = 2
    const again = connect({
      path: (crossing) => (isData(crossing) && crossing.psn === 1 && left-- > 0 ? [] : [6 * US]),
    })
    again.pair.command(0, { message: 0, writeBytes: 8 })
    again.pair.run()
    const began = again.pair.now
    again.pair.command(0, { message: 1, writeBytes: 8 })
    again.pair.run()
    // The probe after 24 µs, the timeout 112 µs behind it.
    expect(again.pair.events[1]!.time - began).toBe((24 + 112 + 12) * US)
  })
})

describe("a network that is gone", () => {
  it("for 100 ms: what was under way completes; for ever: after some seconds it is told", () => {
    const gone = { from: 10 * US, to: 100_000 * US }
    const { pair } = connect({
      path: ({ time }) => (time >= gone.from && time < gone.to ? [] : [6 * US]),
    })
    pair.command(0, { message: 0, writeBytes: 1_000_000 })
    pair.run()
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
    // The timeout that ends it may have doubled to as long as it lasted.
    expect(pair.now).toBeLessThan(2.2 * gone.to)

    const dead = connect({ options: { controller: fixedWindow(150_000) }, path: () => [] })
    dead.pair.command(0, { message: 0, writeBytes: 1_000_000 })
    dead.pair.command(0, { message: 1, writeBytes: 0 })
    dead.pair.run()
    expect(dead.pair.events.map(({ event }) => event.type)).toEqual(["failed", "flushed"])
    // 1, 2, 4 … 128 and eight times 250 ms.
    expect(dead.pair.now / US).toBeCloseTo(1000 * (255 + 8 * 250), -4)
  })
})
