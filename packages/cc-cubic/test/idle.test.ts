import { describe, expect, it } from "vitest"
import { type TcpOptions, tcp } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

const MS = 1e9

/** A flow that fills its window with segments of 1,000 bytes, which are acknowledged one by one. */
class Flow {
  readonly controller
  private now = 0
  private sequence = 0
  private sent = 0
  private readonly rttPs: number

  constructor(options: TcpOptions, rttPs = 8e6) {
    this.controller = tcp({ hyStart: false, ...options }).make(0, path)
    this.rttPs = rttPs
  }

  get segments(): number {
    return this.controller.metrics().windowSegments!
  }
  get threshold(): number {
    return this.controller.metrics().thresholdSegments!
  }

  fill(): void {
    while (this.sent + 1000 <= this.sequence + this.controller.window) {
      this.sent += 1000
      this.controller.onSent(this.now, 1000)
    }
  }
  private acknowledge(): void {
    this.sequence += 1000
    this.controller.onAck(this.now, { ...ack(this.sequence, this.sent), rttPs: this.rttPs })
  }
  /** Round trips: what is out at the beginning of each is acknowledged, and more is sent. */
  rounds(count: number): this {
    for (let round = 0; round < count; round++) {
      this.fill()
      this.now += this.rttPs
      for (const { sent } = this; this.sequence < sent; this.fill()) this.acknowledge()
    }
    return this
  }
  /** One is lost, and sent again: all that was out is acknowledged. */
  lose(): this {
    this.controller.onAck(this.now, ack(this.sequence, this.sent, false, 0))
    this.controller.onLoss(this.now, false)
    return this.rounds(1)
  }
  /** What is out is acknowledged, nothing is sent for `timePs` after that was, and then what the window lets. */
  pause(timePs: number): { readonly before: number; readonly after: number } {
    this.now += timePs
    while (this.sequence < this.sent) this.acknowledge()
    const before = this.segments
    this.fill()
    return { before, after: this.segments }
  }
}

describe.each(["newreno", "cubic"] as const)("%s, after a silence (RFC 5681 §4.1)", (variant) => {
  it("begins with its first window, after more than a timeout", () => {
    const flow = new Flow({ variant }).rounds(3)
    const { before, after } = flow.pause(201 * MS)
    expect(before).toBeGreaterThan(80)
    expect([after, flow.controller.window]).toEqual([10, 10_000])
    // A slow start from there.
    expect(flow.rounds(1).segments).toBe(20)
  })

  it("but not after less, nor where the window is less", () => {
    const soon = new Flow({ variant }).rounds(3).pause(200 * MS)
    expect(soon.after).toBe(soon.before)
    const small = new Flow({ variant }).lose().pause(1000 * MS)
    expect(small.before).toBeLessThan(10)
    expect(small.after).toBe(small.before)
  })

  it("where round trips are long, a timeout is SRTT + 4 RTTVAR (RFC 6298 §2.2)", () => {
    // Thirty round trips of 1 s: RTTVAR is 0.5 s after the first, and a quarter less after each of the others.
    const pause = (timePs: number): number => new Flow({ variant }, 1000 * MS).rounds(1).pause(timePs).after
    const timeoutPs = (1 + 4 * 0.5 * 0.75 ** 29) * 1000 * MS
    expect(pause(Math.floor(timeoutPs))).toBeGreaterThan(20)
    expect(pause(Math.ceil(timeoutPs))).toBe(10)
  })

  it("leaves the threshold: a slow start up to it, then avoidance", () => {
    const flow = new Flow({ variant }).rounds(3).lose().rounds(2)
    const { threshold } = flow
    const { before, after } = flow.pause(201 * MS)
    expect(before).toBeGreaterThan(threshold)
    expect([after, flow.threshold]).toEqual([10, threshold])
    expect(flow.rounds(1).segments).toBe(20)
    expect(flow.rounds(2).segments).toBeGreaterThanOrEqual(threshold)
    expect(flow.segments).toBeLessThan(threshold + 2)
  })

  it("by the least timeout that is given, and never with Infinity", () => {
    const pause = (leastTimeoutPs: number, timePs: number): boolean => {
      const { before, after } = new Flow({ variant, leastTimeoutPs }).rounds(3).pause(timePs)
      return after < before
    }
    expect([pause(50 * MS, 50 * MS), pause(50 * MS, 51 * MS), pause(Infinity, 1e15)]).toEqual([false, true, false])
  })
})

it("cubic: avoidance begins anew after a silence, from where the slow start ends (RFC 9438 §4.2)", () => {
  const flow = new Flow({ variant: "cubic" }).rounds(3).lose().rounds(40)
  const { threshold } = flow
  expect(flow.controller.metrics().estimateSegments).toBeGreaterThan(threshold + 15)
  flow.pause(201 * MS)
  flow.rounds(4)
  // W_est begins where the window is, not where it was.
  expect(flow.segments).toBeGreaterThanOrEqual(threshold)
  expect(flow.segments).toBeLessThan(threshold + 3)
})
