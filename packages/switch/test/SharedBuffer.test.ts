import { Drop, Shortcut } from "@rdmakit/protocol"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  BufferTooSmall,
  type PortBuffer,
  SharedBuffer,
  type SharedBufferOptions,
  SwitchOptionError,
} from "../src/index.ts"
import { lentPorts } from "./lentPorts.ts"

/** The reference's SwitchMmu, written down as it is told, with nothing made quick. */
class PlainBuffer {
  readonly ingress = new Map<string, number>()
  readonly hdrm = new Map<string, number>()
  readonly paused = new Set<string>()
  shared = 0
  readonly options: SharedBufferOptions
  readonly reserve: number
  readonly resumeOffset: number

  constructor(options: SharedBufferOptions) {
    this.options = options
    this.reserve = options.reserveBytes ?? 4096
    this.resumeOffset = options.resumeOffsetBytes ?? 3072
  }
  port(port: number): PortBuffer {
    return this.options.ports.find((p) => p.port === port)!
  }
  in(key: string): number {
    return this.ingress.get(key) ?? 0
  }
  headroom(key: string): number {
    return this.hdrm.get(key) ?? 0
  }
  used(key: string): number {
    return Math.max(0, this.in(key) - this.reserve)
  }
  threshold(port: number): number {
    const { bufferBytes, ports } = this.options
    const headroom = ports.reduce((sum, p) => sum + p.headroomBytes, 0)
    const free = bufferBytes - headroom - this.reserve * ports.length - this.shared
    return Math.floor(free / 2 ** this.port(port).thresholdShift)
  }
  /** True: taken in. */
  admit(port: number, queue: number, size: number): boolean {
    const key = `${port}.${queue}`
    const full = size + this.headroom(key) > this.port(port).headroomBytes
    if (full && size + this.used(key) > this.threshold(port)) return false
    const grown = this.in(key) + size
    if (grown <= this.reserve) {
      this.ingress.set(key, grown)
    } else if (grown - this.reserve > this.threshold(port)) {
      this.hdrm.set(key, this.headroom(key) + size)
    } else {
      this.ingress.set(key, grown)
      this.shared += Math.min(size, grown - this.reserve)
    }
    return true
  }
  /** True: a pause is sent. */
  pauses(port: number, queue: number): boolean {
    const key = `${port}.${queue}`
    if (this.paused.has(key)) return false
    if (this.headroom(key) === 0 && this.used(key) < this.threshold(port)) return false
    this.paused.add(key)
    return true
  }
  remove(port: number, queue: number, size: number): void {
    const key = `${port}.${queue}`
    const fromHeadroom = Math.min(this.headroom(key), size)
    const fromShared = Math.min(size - fromHeadroom, this.used(key))
    this.hdrm.set(key, this.headroom(key) - fromHeadroom)
    this.ingress.set(key, this.in(key) - (size - fromHeadroom))
    this.shared -= fromShared
  }
  resumes(port: number, queue: number): boolean {
    const key = `${port}.${queue}`
    if (!this.paused.has(key) || this.headroom(key) > 0) return false
    if (this.used(key) > 0 && this.used(key) + this.resumeOffset > this.threshold(port)) return false
    this.paused.delete(key)
    return true
  }
}

/** Ports 1, 3 and 4 of five; a buffer with little, some or much to share. */
const optionsOf = fc
  .record({
    headrooms: fc.tuple(...[0, 1, 2].map(() => fc.constantFrom(0, 37, 1500, 9000, 40_000))),
    shifts: fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: 0, max: 8 }))),
    reserveBytes: fc.constantFrom(0, 1000, 4096),
    resumeOffsetBytes: fc.constantFrom(0, 3072),
    spare: fc.oneof(...[10_000, 200_000, 2_000_000].map((max) => fc.integer({ min: 0, max }))),
  })
  .map(({ headrooms, shifts, reserveBytes, resumeOffsetBytes, spare }): SharedBufferOptions => {
    const ports = [1, 3, 4].map((port, i) => ({
      port,
      headroomBytes: headrooms[i]!,
      thresholdShift: shifts[i]!,
    }))
    const kept = ports.reduce((sum, p) => sum + p.headroomBytes + reserveBytes, 0)
    return { bufferBytes: kept + spare, reserveBytes, resumeOffsetBytes, lossless: true, ports }
  })

const stepOf = fc.record({
  /** Below 65: a packet comes; above: one leaves. */
  kind: fc.nat(99),
  port: fc.constantFrom(1, 3, 4),
  queue: fc.constantFrom(1, 3, 3, 3, 7),
  size: fc.oneof(fc.constantFrom(64, 1048, 1090), fc.integer({ min: 1, max: 9216 })),
})

describe("the shared buffer", () => {
  it("does what the plain transcription of the reference does", () => {
    fc.assert(
      fc.property(optionsOf, fc.array(stepOf, { maxLength: 150 }), (options, steps) => {
        const { ports, frames } = lentPorts(5)
        const buffer = new SharedBuffer(ports, options)
        const plain = new PlainBuffer(options)
        const held: Array<{ port: number; queue: number; size: number }> = []
        const expected: typeof frames = []
        const check = (now: number): void => {
          expect(frames).toEqual(expected)
          for (const port of [1, 3, 4])
            expect(`${now}: ${buffer.threshold(port)}`).toBe(`${now}: ${plain.threshold(port)}`)
        }
        /** Whether a kernel would do it without asking: what the ingress then holds, or held, is within the limit. */
        const isShort = (port: number, queue: number, size: number): boolean => {
          const at = ports.policyAt(port)
          return ports.policyWords[at + Shortcut.Held + queue]! + size <= ports.policyWords[at + Shortcut.Limit]!
        }
        const leave = (now: number, at: number): void => {
          const [{ port, queue, size }] = held.splice(at, 1) as [(typeof held)[number]]
          const short = isShort(port, queue, 0)
          buffer.release(port, queue, size)
          plain.remove(port, queue, size)
          buffer.resumeIfDue(now, port, queue)
          const resumes = plain.resumes(port, queue)
          if (resumes) expected.push({ now, port, priority: queue, pause: false })
          expect(short && resumes).toBe(false)
          check(now)
        }
        steps.forEach(({ kind, port, queue, size }, now) => {
          if (kind < 65 || held.length === 0) {
            const short = isShort(port, queue, size)
            const taken = buffer.admit(now, port, 0, queue, size)
            const model = plain.admit(port, queue, size)
            if (short) expect(model).toBe(true)
            expect(`${now}: ${taken}`).toBe(`${now}: ${model ? queue : Drop.IngressFull}`)
            if (model) {
              held.push({ port, queue, size })
              const pauses = plain.pauses(port, queue)
              if (pauses) expected.push({ now, port, priority: queue, pause: true })
              expect(short && pauses).toBe(false)
            }
            check(now)
          } else {
            leave(now, kind % held.length)
          }
        })
        while (held.length > 0) leave(steps.length, 0)
        expect(plain.paused.size).toBe(0)
        expect(plain.shared).toBe(0)
      }),
      { numRuns: 400 },
    )
  })

  const one = (options: Partial<SharedBufferOptions> = {}) => {
    const { ports, frames, queueBytes } = lentPorts(2)
    const buffer = new SharedBuffer(ports, {
      bufferBytes: 4096 + 20_000 + 80_000,
      lossless: true,
      ports: [{ port: 1, headroomBytes: 20_000, thresholdShift: 3 }],
      ...options,
    })
    const limit = (): number => ports.policyWords[ports.policyAt(1) + Shortcut.Limit]!
    return { buffer, frames, queueBytes, limit }
  }

  it.each<[object, string]>([
    [{ bufferBytes: Number.NaN }, "switch: bufferBytes is NaN, expected a whole number of bytes, below 4 GiB"],
    [{ bufferBytes: "32MiB" }, 'bufferBytes is "32MiB"'],
    [{ bufferBytes: undefined }, "bufferBytes is nothing"],
    [{ bufferBytes: 2 ** 32 }, "bufferBytes is 4294967296"],
    [{ reserveBytes: Number.NaN }, "reserveBytes is NaN, expected a whole number of bytes, at least 0 and below 2 GiB"],
    [{ reserveBytes: -1 }, "reserveBytes is -1"],
    [{ resumeOffsetBytes: Number.NaN }, "resumeOffsetBytes is NaN"],
    [{ resumeOffsetBytes: 0.5 }, "resumeOffsetBytes is 0.5"],
    [{ lossless: "false" }, 'lossless is "false", expected true or false'],
    [{ lossless: false, egressShift: 32 }, "egressShift is 32, expected a whole number, 0 to 31"],
    [{ ports: [{ port: 1, headroomBytes: -5, thresholdShift: 3 }] }, "headroomBytes is -5, expected a whole number"],
    [{ ports: [{ port: 1, headroomBytes: Number.NaN, thresholdShift: 3 }] }, "headroomBytes is NaN"],
    [{ ports: [{ port: 1, headroomBytes: 0, thresholdShift: Number.NaN }] }, "thresholdShift is NaN"],
  ])("refuses %j", (options, message) => {
    expect(() => one(options)).toThrow(SwitchOptionError)
    expect(() => one(options)).toThrow(message)
  })

  it("lets a port that needs more hold more unasked, until a threshold may matter; and again when half of it has left", () => {
    const { buffer, limit } = one({ bufferBytes: 4096 + 20_000 + 1_000_000 })
    // (1,000,000 - 7 L) / 8 is above L and the reserve up to L = 64,481: half of it to begin with.
    expect(limit()).toBe(4096 + 32_240)
    let held = 0
    const admit = (): void => void expect(buffer.admit(0, 1, 0, 3, 1000)).toBe(3)
    for (; held + 1000 <= limit(); held += 1000) admit()
    for (; held < 37_000; held += 1000) admit()
    expect(limit()).toBe(4096 + 64_480)
    for (; held < 69_000; held += 1000) admit()
    expect(limit()).toBe(4096)
    expect(buffer.threshold(1)).toBe(Math.floor((1_000_000 - 64_904) / 8))
    for (; held > 37_000; held -= 1000) buffer.release(1, 3, 1000)
    expect(limit()).toBe(4096)
    buffer.release(1, 3, 1000)
    expect(limit()).toBe(4096 + 2 * (36_000 - 4096))
  })

  it("pauses once, at the threshold or beyond, and resumes once, 3,072 bytes below it", () => {
    const { buffer, frames } = one()
    // 4,096 reserved; then s shared with s < (80,000 - s) / 8, that is s < 8,889.
    expect(buffer.threshold(1)).toBe(10_000)
    let taken = 0
    while (frames.length === 0) {
      expect(buffer.admit(taken, 1, 0, 3, 1000)).toBe(3)
      taken++
    }
    // 13,000 - 4,096 = 8,904 are the first not below (80,000 - 8,904) / 8 = 8,887. The next ones go to the headroom.
    expect(taken).toBe(13)
    for (let more = 0; more < 5; more++) expect(buffer.admit(99, 1, 0, 3, 1000)).toBe(3)
    expect(frames).toEqual([{ now: 12, port: 1, priority: 3, pause: true }])
    let left = 0
    while (frames.length === 1) {
      buffer.release(1, 3, 1000)
      buffer.resumeIfDue(100 + left, 1, 3)
      left++
    }
    // The headroom's 5 go first. Then 13,000 are in, and u + 3,072 <= (80,000 - u) / 8 holds from 10,000 down: u = 5,904.
    expect(left).toBe(8)
    expect(frames[1]).toEqual({ now: 107, port: 1, priority: 3, pause: false })
    for (let rest = 18 - left; rest > 0; rest--) {
      buffer.release(1, 3, 1000)
      buffer.resumeIfDue(200, 1, 3)
    }
    expect(frames.length).toBe(2)
    expect(buffer.threshold(1)).toBe(10_000)
  })

  it("keeps priorities apart", () => {
    const { buffer, frames } = one()
    for (let i = 0; i < 13; i++) buffer.admit(i, 1, 0, 3, 1000)
    expect(buffer.admit(20, 1, 0, 4, 1000)).toBe(4)
    expect(frames.map(({ priority }) => priority)).toEqual([3])
  })

  it("drops a packet within the reserve too, where nothing is free and headroom is smaller than the packet", () => {
    const { buffer } = one({
      bufferBytes: 4096 + 37 + 4200,
      ports: [{ port: 1, headroomBytes: 37, thresholdShift: 3 }],
    })
    // Threshold 525: 500 bytes pass, 1,048 do not, although the reserve of 4,096 is empty.
    expect(buffer.admit(0, 1, 0, 3, 1048)).toBe(Drop.IngressFull)
    expect(buffer.admit(0, 1, 0, 3, 500)).toBe(3)
  })

  it("refuses a buffer smaller than what it must keep aside", () => {
    expect(() => one({ bufferBytes: 24_095 })).toThrow(BufferTooSmall)
    expect(() => one({ bufferBytes: 24_096 })).not.toThrow()
    try {
      one({ bufferBytes: 100 })
    } catch (error) {
      expect(error).toMatchObject({ _tag: "BufferTooSmall", bufferBytes: 100, neededBytes: 24_096 })
    }
    // A lossy switch keeps no headroom.
    expect(() => one({ bufferBytes: 4096, lossless: false })).not.toThrow()
  })

  describe("without PFC", () => {
    it("drops what would take an egress queue over the free buffer, and pauses nobody", () => {
      const { buffer, frames, queueBytes } = one({ bufferBytes: 4096 + 10_000, lossless: false })
      let taken = 0
      while (buffer.admit(taken, 1, 0, 3, 1000) === 3) {
        taken++
        queueBytes[0]![3]! += 1000
      }
      // n in the queue, n - 4,096 shared: the next needs n + 1,000 <= 10,000 - (n - 4,096), so n <= 6,548.
      expect(taken).toBe(7)
      expect(buffer.admit(9, 1, 0, 3, 1000)).toBe(Drop.EgressFull)
      // Another queue, another egress: they have room.
      expect(buffer.admit(9, 1, 0, 4, 1000)).toBe(4)
      expect(buffer.admit(9, 1, 1, 3, 1000)).toBe(3)
      expect(frames).toEqual([])
    })

    it("halves the threshold with each step of egressShift", () => {
      const { buffer } = one({ bufferBytes: 4096 + 10_000, lossless: false, egressShift: 2 })
      expect(buffer.admit(0, 1, 0, 3, 2501)).toBe(Drop.EgressFull)
      expect(buffer.admit(0, 1, 0, 3, 2500)).toBe(3)
    })

    it("gives every byte back", () => {
      const { buffer } = one({ bufferBytes: 4096 + 80_000, lossless: false })
      for (let i = 0; i < 20; i++) buffer.admit(i, 1, 0, 3, 1000)
      expect(buffer.threshold(1)).toBeLessThan(10_000)
      for (let i = 0; i < 20; i++) buffer.release(1, 3, 1000)
      expect(buffer.threshold(1)).toBe(10_000)
    })
  })
})
