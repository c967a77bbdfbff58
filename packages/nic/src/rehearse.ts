import { PaceHeap } from "./PaceHeap.ts"
import { NOWHERE, type Placed } from "./Placed.ts"
import { Ring } from "./Ring.ts"

/** More than heap and ring have room for at first. */
const ITEMS = 20

/**
 * Takes a heap and a ring through all that they ever do: equal times, all orders of coming and going, more room. They are
 * part of what a NIC does for each packet. What a compiler has not seen run it leaves out, and when that happens for the
 * first time in the middle of a run, all code that this one is a part of is thrown away (docs/adr/0007).
 */
export const rehearse = (): void => {
  const items = Array.from({ length: ITEMS }, (): Placed => ({ place: NOWHERE }))
  const heap = new PaceHeap<Placed>()
  const ring = new Ring<Placed>()
  items.forEach((item, i) => {
    heap.push(item, (i * 7) % 5)
    ring.push(item)
  })
  items.forEach((item, i) => {
    heap.update(item, (i * 3) % 5)
  })
  while (heap.size > 0) heap.pop()
  while (!ring.isEmpty) ring.shift()
}
