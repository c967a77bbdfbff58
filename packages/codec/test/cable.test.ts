import { NEVER } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import {
  type Cable,
  CaptureTap,
  describePacket,
  FaultInjector,
  type FaultOptions,
  type Receive,
  Tracer,
} from "../src/Cable.ts"
import { readFrames } from "./captures.ts"

/** A cable whose far end is a list. */
class Loose implements Cable {
  readonly layer = "ethernet"
  readonly pending = 0
  readonly nextTimer = NEVER
  receive: Receive = () => {}
  wake: () => void = () => {}
  closed = false
  readonly sent: Array<readonly [now: number, octets: ReadonlyArray<number>]> = []
  send(now: number, octets: Uint8Array, start: number, end: number): boolean {
    this.sent.push([now, Array.from(octets.subarray(start, end))])
    return true
  }
  handleTimer(): void {}
  close(): void {
    this.closed = true
  }
}

const numbered = (index: number): Uint8Array => Uint8Array.of(index >> 8, index, 0, 0, 0, 0, 0, 0)

/** Sends 10,000 packets, a microsecond apart, and runs the timers. */
const run = (options: FaultOptions) => {
  const loose = new Loose()
  const faults = new FaultInjector(loose, options)
  for (let index = 0; index < 10_000; index++) {
    const now = index * 1e6
    while (faults.nextTimer <= now) faults.handleTimer(faults.nextTimer)
    expect(faults.send(now, numbered(index), 0, 8)).toBe(true)
  }
  while (faults.nextTimer < NEVER) faults.handleTimer(faults.nextTimer)
  return { loose, faults, order: loose.sent.map(([, octets]) => octets[0]! * 256 + octets[1]!) }
}

describe("the fault injector", () => {
  it("does nothing unless told", () => {
    const { order, faults } = run({ seed: 1 })
    expect(order).toEqual(Array.from({ length: 10_000 }, (_, index) => index))
    expect(faults.counts).toEqual({
      passed: 10_000,
      lost: 0,
      corrupted: 0,
      duplicated: 0,
      reordered: 0,
      overflowed: 0,
    })
  })

  it("loses, repeats and reorders as often as it is told, and the same for the same seed", () => {
    const options = { seed: 7, loss: 0.02, duplication: 0.02, reordering: 0.05, reorderPs: 5e6 }
    const first = run(options)
    const { counts } = first.faults
    expect(counts.lost).toBeGreaterThan(150)
    expect(counts.lost).toBeLessThan(250)
    expect(counts.duplicated).toBeGreaterThan(150)
    expect(counts.duplicated).toBeLessThan(250)
    expect(counts.reordered).toBeGreaterThan(400)
    expect(counts.reordered).toBeLessThan(600)
    expect(first.order.length).toBe(10_000 - counts.lost + counts.duplicated)
    expect(new Set(first.order).size).toBe(10_000 - counts.lost)
    expect(first.order.filter((each, index) => index > 0 && each < first.order[index - 1]!).length).toBeGreaterThan(300)
    expect(run(options).loose.sent).toEqual(first.loose.sent)
    expect(run({ ...options, seed: 8 }).order).not.toEqual(first.order)
  })

  it("turns one bit of a copy", () => {
    const { loose, faults } = run({ seed: 3, corruption: 1 })
    expect(faults.counts.corrupted).toBe(10_000)
    loose.sent.forEach(([, octets], index) => {
      const bits = numbered(index).reduce((sum, octet, at) => {
        let differs = octet ^ octets[at]!
        let count = sum
        for (; differs > 0; differs &= differs - 1) count++
        return count
      }, 0)
      expect(bits).toBe(1)
    })
  })

  it("delays within its bounds", () => {
    const { loose, order } = run({ seed: 4, delayPs: [2e6, 9e6] })
    expect(order.length).toBe(10_000)
    loose.sent.forEach(([now], place) => {
      const waited = now - order[place]! * 1e6
      expect(waited).toBeGreaterThanOrEqual(2e6)
      expect(waited).toBeLessThanOrEqual(9e6)
    })
  })

  it("holds a bounded number of packets, and minds direction and choice", () => {
    const { faults, order } = run({ seed: 5, delayPs: [1e12, 1e12], waitingMax: 100 })
    expect(order.length).toBe(100)
    expect(faults.counts.overflowed).toBe(9900)
    expect(run({ seed: 5, loss: 1, direction: "in" }).order.length).toBe(10_000)
    expect(run({ seed: 5, loss: 1, only: (octets) => octets[1] === 0 }).order.length).toBe(10_000 - 40)
    expect(() => new FaultInjector(new Loose(), { seed: 1, loss: 2 })).toThrow("loss 2: a probability from 0 to 1")
  })

  it("does the same to what arrives", () => {
    const loose = new Loose()
    const faults = new FaultInjector(loose, { seed: 9, loss: 0.5, direction: "in" })
    let arrived = 0
    faults.receive = () => {
      arrived++
    }
    for (let index = 0; index < 1000; index++) loose.receive(index, numbered(index), 0, 8)
    expect(arrived).toBe(1000 - faults.counts.lost)
    expect(faults.counts.lost).toBeGreaterThan(400)
    const late = new FaultInjector(loose, { seed: 9, delayPs: [5, 5], direction: "in" })
    let woken = 0
    late.wake = () => {
      woken++
    }
    for (let index = 0; index < 3; index++) loose.receive(index, numbered(index), 0, 8)
    // The first to wait is the one whose time it is to be woken at.
    expect([woken, late.nextTimer]).toEqual([1, 5])
    faults.close()
    expect(loose.closed).toBe(true)
  })
})

describe("the tracer", () => {
  const frames = readFrames("v_rnr")
  const lines = frames.map((frame) => describePacket(frame, 0, frame.length, "ethernet"))

  it("tells a packet in one line", () => {
    const loose = new Loose()
    const told: Array<string> = []
    const tracer = new Tracer(loose, (line) => told.push(line))
    tracer.send(1_234_567_890_123, frames[0]!, 0, frames[0]!.length)
    loose.receive(2e12, frames[0]!, 0, frames[0]!.length)
    expect(told).toEqual([`1.234567890 > ${lines[0]}`, `2.000000000 < ${lines[0]}`])
    expect(loose.sent.length).toBe(1)
  })

  it("names what it sees", () => {
    expect(lines.find((line) => line.includes("SendOnly"))).toMatch(
      /^10\.0\.0\.1 10\.0\.0\.2 Rc SendOnly psn \d+ qp 0x[0-9a-f]+ \d+ bytes ackreq( solicited)?$/,
    )
    expect(lines.find((line) => line.includes(" rnr "))).toMatch(
      /^10\.0\.0\.2 10\.0\.0\.1 Rc Acknowledge psn \d+ qp 0x[0-9a-f]+ 0 bytes rnr \d+us msn \d+$/,
    )
    expect(lines.some((line) => line.startsWith("type 0x0800 "))).toBe(true)
    const spoiled = frames[lines.findIndex((line) => line.includes("SendOnly"))]!.slice()
    spoiled[spoiled.length - 1]! ^= 1
    expect(describePacket(spoiled, 0, spoiled.length, "ethernet")).toMatch(/ wrong icrc$/)
    const ip = readFrames("rc_send_2500_v6").map((frame) => describePacket(frame, 14, frame.length, "ip"))
    expect(ip.find((line) => line.includes("SendMiddle"))).toMatch(/^fd00::\d fd00::\d Rc SendMiddle psn \d+ /)
    // Sockets give Buffers, often from the midst of a larger one.
    const lent = frames.map((frame) => Buffer.concat([Buffer.alloc(4), frame]))
    expect(lent.map((frame) => describePacket(frame, 4, frame.length, "ethernet"))).toEqual(lines)
    expect(describePacket(new Uint8Array(0), 0, 0, "ip")).toBe("first octets 0x0000 0 bytes")
  })
})

it("the capture tap hands on octets, time and direction", () => {
  const loose = new Loose()
  const records: Array<unknown> = []
  const tap = new CaptureTap(
    loose,
    { packet: (id, ticks, data, _, options) => records.push([id, ticks, [...data], options![0]!.value[0]]) },
    { interfaceId: 2, startNs: 10n },
  )
  tap.send(5_999, Uint8Array.of(0, 1, 2, 3), 1, 3)
  loose.receive(7_000, Uint8Array.of(9, 8), 0, 2)
  expect(records).toEqual([
    [2, 15n, [1, 2], 2],
    [2, 17n, [9, 8], 1],
  ])
})
