import { Drop } from "@rdmakit/protocol"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  SharedBuffer,
  SwitchOptionError,
  type Threshold,
  ThresholdBuffer,
  type ThresholdBufferOptions,
} from "../src/index.ts"
import { lentPorts } from "./lentPorts.ts"

/** Ports 1 and 3 with a reserve of nothing and headroom of 2,000 B each, unless said otherwise, and this pool. */
const bufferOf = (threshold: Threshold, poolBytes: number, options: Partial<ThresholdBufferOptions> = {}) => {
  const lent = lentPorts(4)
  const { lossless = true, reserveBytes = 0 } = options
  const buffer = new ThresholdBuffer(lent.ports, {
    bufferBytes: poolBytes + 2 * reserveBytes + (lossless ? 4000 : 0),
    resumeOffsetBytes: 500,
    lossless,
    reserveBytes,
    ports: [1, 3].map((port) => ({ port, headroomBytes: 2000, thresholdShift: 3 })),
    threshold,
    ...options,
  })
  /** 1,000 B come by a port, of priority 3: the frames that were sent about it. */
  const admit = (port: number, bytes = 1000): number => buffer.admit(0, port, 2, 3, bytes)
  const release = (port: number, bytes = 1000): void => {
    buffer.release(port, 3, bytes)
    buffer.resumeIfDue(0, port, 3)
  }
  const frames = (): Array<string> =>
    lent.frames.splice(0).map(({ port, pause }) => `${pause ? "pause" : "resume"} ${port}`)
  return { ...lent, buffer, admit, release, frames }
}

describe("a static threshold", () => {
  it("pauses where it is reached, above the reserve; headroom comes after it, a resume below it", () => {
    const { admit, release, frames, buffer } = bufferOf({ bytes: 3000 }, 10_000, { reserveBytes: 1000 })
    expect(buffer.threshold(1)).toBe(3000)
    // 1,000 B of reserve, then 1,000 and 2,000 B of the pool.
    for (let packet = 0; packet < 3; packet++) expect(admit(1)).toBe(3)
    expect(frames()).toEqual([])
    expect(admit(1)).toBe(3)
    expect(frames()).toEqual(["pause 1"])
    expect(admit(1)).toBe(3)
    expect(admit(1)).toBe(3)
    // 2,000 B are in the headroom, which is all.
    expect(admit(1)).toBe(Drop.IngressFull)
    // The other port has what is its own.
    expect(admit(3)).toBe(3)
    expect(frames()).toEqual([])
    release(1)
    release(1)
    // The headroom is free again, 3,000 B of the pool are in use: 500 more than a resume allows.
    expect(frames()).toEqual([])
    release(1, 499)
    expect(frames()).toEqual([])
    release(1, 1)
    expect(frames()).toEqual(["resume 1"])
  })

  it("does not depend on what is free", () => {
    const { admit, frames, buffer } = bufferOf({ bytes: 3000 }, 10_000)
    admit(3)
    admit(3)
    expect(buffer.threshold(1)).toBe(3000)
    admit(1)
    admit(1)
    expect(frames()).toEqual([])
    admit(1)
    expect(frames()).toEqual(["pause 1"])
  })

  it("loses nothing where all together promise more than the pool has", () => {
    const { admit, release, frames } = bufferOf({ bytes: 5000 }, 6000)
    for (let packet = 0; packet < 4; packet++) expect(admit(1)).toBe(3)
    for (let packet = 0; packet < 2; packet++) expect(admit(3)).toBe(3)
    expect(frames()).toEqual([])
    // The pool is full: both go to their headroom, far below their thresholds.
    expect(admit(3)).toBe(3)
    expect(admit(1)).toBe(3)
    expect(frames()).toEqual(["pause 3", "pause 1"])
    release(3)
    expect(frames()).toEqual(["resume 3"])
  })
})

describe("a dynamic threshold", () => {
  // Alone, a queue stops at alpha / (1 + alpha) of the pool (Choudhury and Hahne 1998, §III).
  it.each([
    [2, 4000, [10_000, 8000, 6000, 4000]],
    [1, 3000, [5000, 4000, 3000]],
    [0.5, 2000, [2500, 2000]],
  ])("alpha %f of a pool of 6,000 B: a queue alone is paused at %i B", (alpha, pausedAt, thresholds) => {
    const { admit, frames, buffer } = bufferOf({ alpha }, 6000)
    expect(buffer.threshold(1)).toBe(6000 * alpha)
    const seen: Array<number> = []
    for (let held = 1000; held <= pausedAt; held += 1000) {
      expect(frames()).toEqual([])
      expect(admit(1)).toBe(3)
      seen.push(buffer.threshold(1))
    }
    expect(frames()).toEqual(["pause 1"])
    expect(seen).toEqual(thresholds)
  })

  it("with powers of 2 and no reserve is the shared buffer's own", () => {
    const step = fc.record({
      comes: fc.boolean(),
      port: fc.constantFrom(1, 3),
      size: fc.integer({ min: 1, max: 3000 }),
    })
    fc.assert(
      fc.property(fc.nat(6), fc.array(step, { maxLength: 120 }), (shift, steps) => {
        const { buffer, frames, ports } = bufferOf({ alpha: 2 ** -shift }, 30_000)
        const other = lentPorts(4)
        const plain = new SharedBuffer(other.ports, {
          bufferBytes: 34_000,
          resumeOffsetBytes: 500,
          lossless: true,
          reserveBytes: 0,
          ports: [1, 3].map((port) => ({ port, headroomBytes: 2000, thresholdShift: shift })),
        })
        expect(ports).not.toBe(other.ports)
        const held: Array<{ port: number; size: number }> = []
        for (const { comes, port, size } of steps) {
          if (comes) {
            const taken = buffer.admit(0, port, 2, 3, size)
            expect(taken).toBe(plain.admit(0, port, 2, 3, size))
            if (taken > 0) held.push({ port, size })
          } else {
            const packet = held.shift()
            for (const each of packet === undefined ? [] : [buffer, plain]) {
              each.release(packet!.port, 3, packet!.size)
              each.resumeIfDue(0, packet!.port, 3)
            }
          }
          expect(frames()).toEqual(other.frames.splice(0).map((f) => `${f.pause ? "pause" : "resume"} ${f.port}`))
        }
      }),
    )
  })
})

describe("a lossy switch", () => {
  it("drops what would take an egress queue above its threshold, static", () => {
    const { admit, queueBytes, frames } = bufferOf({ bytes: 3000 }, 10_000, { lossless: false })
    queueBytes[2]![3] = 2000
    expect(admit(1)).toBe(3)
    queueBytes[2]![3] = 2001
    expect(admit(1)).toBe(Drop.EgressFull)
    // Another queue of the port is no matter.
    queueBytes[2]![3] = 0
    queueBytes[2]![4] = 9000
    expect(admit(1)).toBe(3)
    expect(frames()).toEqual([])
  })

  it("the same, alpha times the free pool", () => {
    const { admit, queueBytes } = bufferOf({ alpha: 0.25 }, 10_000, { lossless: false })
    // 10,000 B are free: 2,500 B for a queue; then 9,000: 2,250 B.
    queueBytes[2]![3] = 1500
    expect(admit(1)).toBe(3)
    queueBytes[2]![3] = 1251
    expect(admit(1)).toBe(Drop.EgressFull)
    queueBytes[2]![3] = 1250
    expect(admit(1)).toBe(3)
  })

  it("drops what the pool has no room for", () => {
    const { admit, release } = bufferOf({ bytes: 5000 }, 2500, { lossless: false })
    expect(admit(1)).toBe(3)
    expect(admit(3)).toBe(3)
    expect(admit(1)).toBe(Drop.IngressFull)
    release(3)
    expect(admit(1)).toBe(3)
  })
})

it("refuses a threshold that is none", () => {
  const wrong: ReadonlyArray<[unknown, string]> = [
    [{ alpha: 0 }, "switch: threshold.alpha is 0, expected a finite number above 0"],
    [{ alpha: "1" }, 'threshold.alpha is "1"'],
    [{ bytes: 0 }, "switch: threshold.bytes is 0, expected a number of bytes, at least 1"],
    [{ bytes: Number.NaN }, "threshold.bytes is NaN"],
    [{}, "threshold is an object, expected { alpha }"],
    [5, "threshold is 5"],
  ]
  for (const [threshold, message] of wrong) {
    expect(() => bufferOf(threshold as Threshold, 1000)).toThrow(SwitchOptionError)
    expect(() => bufferOf(threshold as Threshold, 1000)).toThrow(message)
  }
})
