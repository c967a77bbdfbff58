import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Packet, PacketPool, PoolExhausted } from "../src/index.ts"

const telemetryPool = (options = {}) =>
  new PacketPool({ limit: 256, telemetryHops: 2, telemetryRates: [25e9, 100e9], ...options })

/** Everything about a packet that `alloc` and `recycle` promise to be fresh. */
const state = (packet: Packet) => ({
  meta: packet.meta,
  wireBytes: packet.wireBytes,
  payloadBytes: packet.payloadBytes,
  psn: packet.psn,
  source: packet.source,
  destination: packet.destination,
  udpPorts: packet.udpPorts,
  flow: packet.flow,
  ingressPort: packet.ingressPort,
  hop: packet.hop,
  stamp: packet.stamp,
  telemetry: packet.telemetry,
  extension: packet.extension,
})

const FRESH = {
  meta: 0,
  wireBytes: 0,
  payloadBytes: 0,
  psn: 0,
  source: 0,
  destination: 0,
  udpPorts: 0,
  flow: 0,
  ingressPort: 0,
  hop: 0,
  stamp: 0,
  telemetry: -1,
  extension: -1,
}

const scribble = (packet: Packet, n: number): void => {
  packet.meta = n
  packet.wireBytes = n + 1
  packet.payloadBytes = n + 2
  packet.psn = n + 3
  packet.setNodes(n + 4, n + 5)
  packet.udpPorts = n + 6
  packet.flow = n + 7
  packet.ingressPort = n + 8
  packet.hop = 3
  packet.stamp = n + 0.5
}

describe("a packet pool", () => {
  it("hands out fresh packets, also where others have been", () => {
    const pool = telemetryPool()
    const packet = new Packet(pool)
    for (let round = 0; round < 3; round++) {
      const handle = pool.alloc()
      expect(state(packet.at(handle))).toEqual(FRESH)
      scribble(packet, 9)
      packet.addTelemetry()
      packet.extend()
      pool.release(handle)
    }
    expect(pool.alive).toBe(0)
    expect(pool.alivePeak).toBe(1)
  })

  it("recycles a living packet in its place", () => {
    const pool = telemetryPool()
    const packet = new Packet(pool).at(pool.alloc())
    scribble(packet, 7)
    packet.addTelemetry()
    packet.extend()
    pool.recycle(packet.handle)
    expect(state(packet)).toEqual(FRESH)
    expect(pool.alive).toBe(1)
  })

  it("keeps what packets hold, however many come after them", () => {
    const pool = telemetryPool({ limit: 4096 })
    const packet = new Packet(pool)
    const handles = Array.from({ length: 1000 }, (_, n) => {
      const handle = pool.alloc()
      packet.at(handle)
      scribble(packet, n)
      packet.addTelemetry()
      packet.stampHop(n, n, n, n & 1, n)
      const at = packet.extend()
      pool.extension[at] = n
      return handle
    })
    const hops = new Float64Array(8)
    handles.forEach((handle, n) => {
      packet.at(handle)
      expect([packet.meta, packet.flow, packet.psn, packet.stamp]).toEqual([n, n + 7, n + 3, n + 0.5])
      expect(packet.readTelemetry(hops)).toBe(1)
      expect([...hops.subarray(0, 4)]).toEqual([n, n, n, n & 1 ? 100e9 : 25e9])
      expect(packet.pathId).toBe(n)
      expect(pool.extension[packet.extend()]).toBe(n)
    })
    expect(pool.alivePeak).toBe(1000)
  })

  it.each([1, 5, 16, 40])("refuses packet number %i + 1 when that many are the limit", (limit) => {
    const pool = new PacketPool({ limit })
    for (let n = 0; n < limit; n++) pool.alloc()
    const last = (): unknown => {
      try {
        return pool.alloc()
      } catch (error) {
        return error
      }
    }
    const error = last()
    expect(error).toBeInstanceOf(PoolExhausted)
    expect(error).toMatchObject({ _tag: "PoolExhausted", limit })
    expect(pool.alive).toBe(limit)
    pool.release(0)
    expect(pool.alloc()).toBe(0)
  })

  it("leaks neither telemetry nor extensions", () => {
    const pool = telemetryPool({ limit: 4 })
    const packet = new Packet(pool)
    for (let n = 0; n < 5000; n++) {
      packet.at(pool.alloc())
      packet.addTelemetry()
      packet.extend()
      if (n % 3 === 0) pool.recycle(packet.handle)
      else if (n % 3 === 1) pool.releaseTelemetry(packet.detachTelemetry())
      pool.release(packet.handle)
    }
    expect([pool.alive, pool.alivePeak]).toEqual([0, 1])
  })

  it("never has two living packets share anything", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(99), { maxLength: 200 }), (steps) => {
        const pool = telemetryPool({ limit: 1024 })
        const packet = new Packet(pool)
        const living: Array<{ handle: number; mark: number }> = []
        let peak = 0
        steps.forEach((step, mark) => {
          if (step < 60 || living.length === 0) {
            const handle = pool.alloc()
            packet.at(handle).flow = mark
            packet.addTelemetry()
            packet.stampHop(mark, 0, 0, 0, mark)
            const at = packet.extend() + 9
            pool.extension[at] = mark
            living.push({ handle, mark })
          } else {
            const [gone] = living.splice(step % living.length, 1)
            pool.release(gone!.handle)
          }
          peak = Math.max(peak, living.length)
        })
        expect(pool.alive).toBe(living.length)
        expect(pool.alivePeak).toBe(peak)
        for (const { handle, mark } of living) {
          packet.at(handle)
          expect([packet.flow, packet.pathId, pool.extension[packet.extend() + 9]]).toEqual([mark, mark, mark])
        }
      }),
    )
  })

  it("copies a packet with all it carries", () => {
    const pool = telemetryPool()
    const packet = new Packet(pool).at(pool.alloc())
    scribble(packet, 1)
    packet.addTelemetry()
    packet.stampHop(5, 6, 7, 1, 8)
    packet.extend()
    const original = { ...state(packet), telemetry: 0, extension: 0 }
    const from = packet.handle
    packet.at(pool.duplicate(from))
    expect({ ...state(packet), telemetry: 0, extension: 0 }).toEqual(original)
    // Nothing shared: what happens to the copy does not happen to the original.
    packet.stampHop(9, 9, 9, 0, 1)
    const at = packet.extend()
    pool.extension[at] = 1
    pool.release(packet.handle)
    packet.at(from)
    expect([packet.telemetryHops, packet.pathId, pool.extension[packet.extend()]]).toEqual([1, 8, 0])
    pool.release(from)
    expect(pool.alive).toBe(0)
  })

  it("says so when it is asked for telemetry it does not carry, or for more hops than a packet can count", () => {
    const pool = new PacketPool({ limit: 1 })
    const packet = new Packet(pool).at(pool.alloc())
    expect(() => packet.addTelemetry()).toThrow(RangeError)
    expect(() => new PacketPool({ telemetryHops: 128 })).toThrow(RangeError)
    expect(() => new PacketPool({ telemetryHops: -1 })).toThrow(RangeError)
  })
})
