import { NEVER } from "@rdmakit/protocol"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { PaceHeap } from "../src/PaceHeap.ts"
import { NOWHERE } from "../src/Placed.ts"

class Item {
  place = NOWHERE
  readonly name: number
  constructor(name: number) {
    this.name = name
  }
}

/** Few times, so that many are equal. */
const step = fc.record({
  kind: fc.constantFrom("push", "push", "pop", "update"),
  time: fc.integer({ min: 0, max: 20 }),
  which: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
})

describe("PaceHeap", () => {
  it("is empty at first", () => {
    const heap = new PaceHeap<Item>()
    expect([heap.size, heap.least]).toEqual([0, NEVER])
  })

  it("gives what is earliest, and of equals what came first", () => {
    const heap = new PaceHeap<Item>()
    const [a, b, c, d] = [0, 1, 2, 3].map((name) => new Item(name)) as [Item, Item, Item, Item]
    heap.push(a, 5)
    heap.push(b, 3)
    heap.push(c, 5)
    heap.push(d, 3)
    // An item keeps its turn when its time changes.
    heap.update(a, 3)
    expect(heap.least).toBe(3)
    expect([heap.pop(), heap.pop(), heap.pop()]).toEqual([a, b, d])
    expect([a.place, b.place, heap.size, heap.least]).toEqual([NOWHERE, NOWHERE, 1, 5])
    heap.update(c, 9)
    expect([heap.least, c.place]).toEqual([9, 0])
  })

  it("does what a sorted list does", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = new PaceHeap<Item>()
        const list: Array<{ item: Item; time: number; order: number }> = []
        let order = 0
        for (const { kind, time, which } of steps) {
          if (kind === "push") {
            const item = new Item(order)
            heap.push(item, time)
            list.push({ item, time, order: order++ })
          } else if (list.length > 0 && kind === "pop") {
            const { item } = list.shift()!
            expect(heap.pop()).toBe(item)
            expect(item.place).toBe(NOWHERE)
          } else if (list.length > 0) {
            const entry = list[Math.floor(which * list.length)]!
            entry.time = time
            heap.update(entry.item, time)
          }
          list.sort((a, b) => a.time - b.time || a.order - b.order)
          expect([heap.size, heap.least]).toEqual([list.length, list[0]?.time ?? NEVER])
        }
        expect(new Set(list.map(({ item }) => item.place)).size).toBe(list.length)
        expect(list.map(() => heap.pop().name)).toEqual(list.map(({ order: each }) => each))
      }),
      { numRuns: 100 },
    )
  })

  it("costs the logarithm of its size, whatever changes", () => {
    // A place is written for each step of an item; a heap of 2^14 has 14 levels.
    let writes = 0
    class Counted {
      private at = NOWHERE
      get place(): number {
        return this.at
      }
      set place(value: number) {
        writes++
        this.at = value
      }
    }
    const heap = new PaceHeap<Counted>()
    const items = Array.from({ length: 2 ** 14 }, () => new Counted())
    for (const [i, item] of items.entries()) heap.push(item, (i * 7919) % 10_007)
    const cost = (change: () => void): number => {
      writes = 0
      change()
      return writes
    }
    for (let i = 0; i < 1000; i++) {
      const item = items[(i * 31) % items.length]!
      expect(cost(() => heap.update(item, (i * 6007) % 10_007))).toBeLessThanOrEqual(15)
    }
    for (let i = 0; i < 1000; i++) expect(cost(() => heap.pop())).toBeLessThanOrEqual(16)
  })
})
