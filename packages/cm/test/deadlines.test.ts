import { NEVER } from "@rdmakit/protocol"
import { Random } from "@rdmakit/units"
import { expect, it } from "vitest"
import { DeadlineHeap, type Timed } from "../src/DeadlineHeap.ts"

it("gives what is due in order of time, then of setting, whatever was moved or cancelled in between", () => {
  const random = new Random(3)
  const heap = new DeadlineHeap<Timed & { readonly name: number }>()
  const items = Array.from({ length: 200 }, (_, name) => ({ name, deadline: NEVER, order: 0, place: -1 }))
  for (let round = 0; round < 5_000; round++) {
    const item = items[random.bits() % items.length]!
    heap.set(item, random.bits() % 4 === 0 ? NEVER : random.bits() % 1_000)
    if (round % 100 !== 0) continue
    const waiting = items.filter(({ deadline }) => deadline !== NEVER)
    const sorted = [...waiting].sort((a, b) => a.deadline - b.deadline || a.order - b.order)
    expect(heap.next).toBe(sorted[0]?.deadline ?? NEVER)
    const taken: Array<number> = []
    for (let next = heap.take(500); next !== undefined; next = heap.take(500)) taken.push(next.name)
    expect(taken).toEqual(sorted.slice(0, taken.length).map(({ name }) => name))
    expect(heap.next).toBeGreaterThan(500)
  }
})
