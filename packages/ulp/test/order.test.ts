import { describe, expect, it, test } from "vitest"
import type { RdmOrder } from "../src/index.ts"
import { ReorderWindow } from "../src/rdm/ReorderWindow.ts"
import { Network, pattern } from "./datagrams.ts"

const MIB = 1_048_576
const SEEDS = 40

/** 1 MiB, then 8 bytes, to one peer that has receives for both: the contexts of its completions, in order. */
const ends = (order: RdmOrder, seed: number): ReadonlyArray<number> => {
  const world = new Network({ seed, hosts: [{ order }, { order }], mtuBytes: 8192 })
  const [a, b] = world.hosts
  const long = new Uint8Array(MIB)
  b!.endpoint.receive(long, 1)
  b!.endpoint.receive(new Uint8Array(MIB), 2)
  a!.endpoint.send(1, pattern(MIB, seed), 1)
  a!.endpoint.send(1, pattern(8, seed), 2)
  expect(world.run(), `seed ${seed}`).toBe(true)
  const completed = b!.events.map((event) => (event.type === "completed" ? event : undefined))
  // Where messages are matched in order, each is in the receive that was posted for it.
  if (order !== "none") expect(completed.find((event) => event!.context === 2)!.bytes, `seed ${seed}`).toBe(8)
  return completed.map((event) => (event!.bytes === 8 ? 2 : 1))
}

const seeds = Array.from({ length: SEEDS }, (_, seed) => seed)

describe("1 MiB, then 8 bytes, to one peer", () => {
  test("on the raw face the 8 bytes end first under some seed", () => {
    expect(seeds.filter((seed) => ends("none", seed)[0] === 2).length).toBeGreaterThan(0)
  })

  test("matched in order, as libfabric has it, the long one still ends later", () => {
    expect(seeds.filter((seed) => ends("matching", seed)[0] === 2).length).toBeGreaterThan(0)
  })

  test("on the ordered face they never do", () => {
    for (const seed of seeds) expect(ends("completion", seed), `seed ${seed}`).toEqual([1, 2])
  })

  test("on the raw face the receive for the first takes the second under some seed", () => {
    const swapped = seeds.filter((seed) => {
      const world = new Network({ seed, hosts: [{ order: "none" }, { order: "none" }] })
      const [a, b] = world.hosts
      for (const context of [1, 2]) {
        b!.endpoint.receive(new Uint8Array(8), context)
        a!.endpoint.send(1, new Uint8Array(context), context)
      }
      world.run()
      return b!.events.some((event) => event.type === "completed" && event.context !== event.bytes)
    })
    expect(swapped.length).toBeGreaterThan(0)
    expect(swapped.length).toBeLessThan(SEEDS)
  })
})

describe("the receive window", () => {
  it("puts back in order what is shuffled past it, over the wrap of numbers", () => {
    const window = new ReorderWindow<number>(16, 0xffff_fff0)
    const numbers = Array.from({ length: 100 }, (_, index) => (0xffff_fff0 + index) >>> 0)
    // The first comes last: everything waits, 15 in the window and 84 past it.
    for (const number of numbers.slice(1)) {
      expect(window.verdict(number)).toBe("ahead")
      window.store(number, number)
    }
    expect(window.overflowed).toBe(84)
    expect(window.verdict(0xffff_fff0)).toBe("next")
    window.advance()
    const seen: Array<number> = []
    for (let kept = window.waiting; kept !== undefined; kept = window.waiting) {
      seen.push(...kept)
      window.advance()
    }
    expect(seen).toEqual(numbers.slice(1))
    expect(window.overflowed).toBe(0)
    expect(window.verdict(0xffff_ffff)).toBe("past")
    expect(window.verdict(window.next)).toBe("next")
  })

  it("has an overflow that real runs use, and that ends empty", () => {
    const world = new Network({ seed: 5, hosts: [{ packetsInFlightMax: 100 }, {}], delayMax: 200 })
    const [a, b] = world.hosts
    const buffers = Array.from({ length: 300 }, () => new Uint8Array(4))
    for (const [context, buffer] of buffers.entries()) {
      b!.endpoint.receive(buffer, context)
      a!.endpoint.send(1, pattern(4, context), context)
    }
    expect(world.run()).toBe(true)
    expect(b!.events.map((event) => event.type === "completed" && event.context)).toEqual(buffers.map((_, at) => at))
    expect(buffers).toEqual(buffers.map((_, context) => pattern(4, context)))
    expect(b!.endpoint.counters.overflowed).toBeGreaterThan(10)
    expect(b!.endpoint.counters.duplicates).toBe(0)
  })
})
