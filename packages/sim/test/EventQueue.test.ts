import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { EventQueue } from "../src/index.ts"

interface Waiting {
  readonly time: number
  /** Unwrapped. */
  readonly order: number
  readonly node: number
  readonly argument: number
  cancelled: boolean
}

const FIXED = 4

/** A queue and the plainest thing that does the same: an array, searched for its least entry at every pop. */
class Pair {
  readonly queue: EventQueue
  readonly waiting: Array<Waiting> = []
  readonly reserved: Array<number> = []
  private order: number
  private argument = 0
  /** Earliest moment for which an event may still be made. */
  now = 0

  constructor(slotPs: number, firstOrder: number) {
    this.queue = new EventQueue(FIXED, slotPs)
    // Two billion reservations take too long: start where they would end.
    ;(this.queue as unknown as { nextOrder: number }).nextOrder = firstOrder | 0
    this.order = firstOrder
  }
  reserve(): void {
    expect(this.queue.reserve(1) | 0).toBe(this.order | 0)
    this.reserved.push(this.order++)
  }
  push(time: number): void {
    const argument = this.argument++
    const node = this.queue.push(time, 5, argument)
    this.waiting.push({ time, order: this.order++, node, argument, cancelled: false })
  }
  /** Schedules a fixed node with the oldest reserved number, or a new one. */
  schedule(node: number, time: number): void {
    if (this.waiting.some((event) => event.node === node)) return
    if (this.reserved.length === 0) this.reserve()
    const order = this.reserved.shift()!
    this.queue.f64[node * 2] = time
    this.queue.schedule(node, order | 0)
    this.waiting.push({ time, order, node, argument: -1, cancelled: false })
  }
  cancel(which: number): void {
    const made = this.waiting.filter(({ node, cancelled }) => node >= FIXED && !cancelled)
    const event = made[which % Math.max(1, made.length)]
    if (event === undefined) return
    this.queue.cancel(event.node)
    event.cancelled = true
  }
  /** Pops from both; true when there was an event. */
  pop(until: number): boolean {
    const node = this.queue.pop(until)
    let first: Waiting | undefined
    for (const event of this.waiting) {
      if (event.cancelled || event.time >= until) continue
      if (first === undefined || event.time < first.time) first = event
      else if (event.time === first.time && event.order < first.order) first = event
    }
    if (first === undefined) {
      expect(node).toBe(-1)
      if (until !== Number.POSITIVE_INFINITY) this.now = Math.max(this.now, until)
      return false
    }
    expect([node, this.queue.timeOf(node), this.queue.orderOf(node)]).toEqual([first.node, first.time, first.order | 0])
    if (node >= FIXED) {
      expect([this.queue.codeOf(node), this.queue.argumentOf(node)]).toEqual([5, first.argument])
      this.queue.release(node)
    }
    this.waiting.splice(this.waiting.indexOf(first), 1)
    this.now = first.time
    return true
  }
}

/** Spans of time: none, within a slot, within the wheel, far beyond it; many of them equal. */
const span = fc.oneof(
  fc.constantFrom(0, 0, 1, 1000, 1024, 4_194_304),
  fc.nat(3000),
  fc.nat(5_000_000),
  fc.nat(2 ** 31 - 1).map((n) => n * 4096),
)
const step = fc.record({
  what: fc.constantFrom("push", "push", "push", "schedule", "schedule", "reserve", "cancel", "pop", "pop", "popUntil"),
  span,
  which: fc.nat(1000),
})
const slotPs = fc.constantFrom(1, 16, 1000, 1024, 2 ** 20)
const steps = fc.array(step, { maxLength: 120 })

const play = (pair: Pair, script: ReadonlyArray<{ what: string; span: number; which: number }>): void => {
  for (const { what, span, which } of script) {
    if (what === "push") pair.push(pair.now + span)
    else if (what === "schedule") pair.schedule(which % FIXED, pair.now + span)
    else if (what === "reserve") pair.reserve()
    else if (what === "cancel") pair.cancel(which)
    else if (what === "pop") pair.pop(pair.now + 2 ** 50)
    else pair.pop(pair.now + span)
  }
  while (pair.pop(Number.POSITIVE_INFINITY));
  expect(pair.queue.size).toBe(0)
}

describe("the event queue", () => {
  it("pops in (time, order) order, as a searched array does", () => {
    fc.assert(
      fc.property(slotPs, steps, (width, script) => play(new Pair(width, 0), script)),
      { numRuns: 400 },
    )
  })

  it.each([2 ** 31 - 20, 2 ** 32 - 20])("keeps its order where numbers wrap (from %i)", (firstOrder) => {
    fc.assert(fc.property(slotPs, steps, (width, script) => play(new Pair(width, firstOrder), script)))
  })

  it("holds thousands of events, many at one time, and gives their nodes out again", () => {
    const pair = new Pair(1024, 0)
    for (let i = 0; i < 2000; i++) pair.push((i * 7919) % 97)
    let nodeMax = 0
    while (pair.pop(Number.POSITIVE_INFINITY)) nodeMax = Math.max(nodeMax, ...pair.waiting.map(({ node }) => node))
    for (let i = 0; i < 2000; i++) {
      pair.push(pair.now + i)
      expect(pair.waiting.at(-1)!.node).toBeLessThanOrEqual(nodeMax)
    }
    while (pair.pop(Number.POSITIVE_INFINITY));
  })

  it("does not pop what lies at `until` or after it, and takes earlier events afterwards", () => {
    const queue = new EventQueue(0, 1024)
    queue.push(5000, 1, 0)
    expect(queue.pop(5000)).toBe(-1)
    queue.push(4000, 1, 1)
    queue.push(4999, 1, 2)
    const popped = [queue.pop(5000), queue.pop(5000)].map((node) => queue.argumentOf(node))
    expect(popped).toEqual([1, 2])
    expect(queue.pop(5000)).toBe(-1)
    expect(queue.size).toBe(1)
    expect(queue.argumentOf(queue.pop(5001))).toBe(0)
  })

  it("takes events at the current time while they are popped", () => {
    const queue = new EventQueue(0, 1024)
    queue.push(10, 1, 0)
    queue.push(10, 1, 1)
    const seen: Array<number> = []
    for (let node = queue.pop(100); node >= 0 && seen.length < 20; node = queue.pop(100)) {
      const argument = queue.argumentOf(node)
      seen.push(argument)
      queue.release(node)
      if (argument < 10) queue.push(10, 1, argument + 2)
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it("shows the nodes of a slot before the first of them is popped", () => {
    const queue = new EventQueue(2, 1024)
    const seen: Array<ReadonlyArray<number>> = []
    queue.onOpen = (nodes, from) => void seen.push([...nodes.subarray(from)])
    queue.f64[0] = 3000
    queue.schedule(0, queue.reserve(1))
    queue.f64[2] = 2900
    queue.schedule(1, queue.reserve(1))
    expect(queue.pop(1e6)).toBe(1)
    expect(seen).toEqual([[1, 0]])
  })
})
