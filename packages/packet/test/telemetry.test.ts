import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { exactTelemetry, int64Telemetry, Packet, PacketPool, type TelemetryFormat } from "../src/index.ts"

const RATES = [25e9, 50e9, 100e9, 200e9, 400e9, 40e9, 10e9, 800e9]

const packetWith = (telemetryFormat: TelemetryFormat, telemetryHops = 5) => {
  const pool = new PacketPool({ limit: 4, telemetryHops, telemetryFormat, telemetryRates: RATES })
  const packet = new Packet(pool).at(pool.alloc())
  packet.addTelemetry()
  return packet
}

/** What comes back of one hop. */
const through = (format: TelemetryFormat, time: number, sent: number, queue: number, rate = 0): Array<number> => {
  const packet = packetWith(format)
  expect(packet.stampHop(time, sent, queue, rate, 0)).toBe(true)
  const out = new Float64Array(4)
  expect(packet.readTelemetry(out)).toBe(1)
  return [...out]
}

describe("the 64-bit telemetry of the HPCC simulator", () => {
  const at100 = int64Telemetry(4)

  it("counts bytes by 128·multi and queues by 80·multi, rounding down", () => {
    // multi 4: units of 512 and 320 bytes.
    expect(through(at100, 1_000_000, 511, 319)).toEqual([1_000_000, 0, 0, 25e9])
    expect(through(at100, 1_000_000, 512, 320)).toEqual([1_000_000, 512, 320, 25e9])
    expect(through(at100, 1_000_000, 10_000, 10_000, 2)).toEqual([1_000_000, 9728, 9920, 100e9])
    expect(through(int64Telemetry(1), 0, 1090, 1090)).toEqual([0, 1024, 1040, 25e9])
  })

  it("keeps 24 bits of nanoseconds, rounded down", () => {
    expect(through(at100, 1_999, 0, 0)[0]).toBe(1000)
    expect(through(at100, 16_777_215_999, 0, 0)[0]).toBe(16_777_215_000)
    expect(through(at100, 16_777_216_000, 0, 0)[0]).toBe(0)
    // Two seconds and 5 ns: 2,000,000,005 mod 2^24 = 3,511,301.
    expect(through(at100, 2_000_000_005_000, 0, 0)[0]).toBe(3_511_301_000)
  })

  it("wraps bytes at 20 bits of units and queues at 17", () => {
    // 2^20 · 512 = 536,870,912; 2^17 · 320 = 41,943,040.
    expect(through(at100, 0, 536_870_911, 41_943_039)).toEqual([0, 536_870_400, 41_942_720, 25e9])
    expect(through(at100, 0, 536_870_912, 41_943_040)).toEqual([0, 0, 0, 25e9])
    expect(through(at100, 0, 536_870_912 * 7 + 513, 41_943_040 + 641)).toEqual([0, 512, 640, 25e9])
    // Beyond 32 bits of units.
    expect(through(at100, 0, 512 * (2 ** 33 + 9), 0)[1]).toBe(512 * 9)
  })

  it("has eight rate codes", () => {
    RATES.forEach((rate, code) => {
      expect(through(at100, 5_000, 2 ** 29 - 1, 41_943_039, code)).toEqual([5_000, 536_870_400, 41_942_720, rate])
    })
  })

  it("gives back every value, floored and wrapped", () => {
    const stamp = fc.tuple(
      fc.constantFrom(1, 4, 16),
      fc.integer({ min: 0, max: 2 ** 53 - 1 }),
      fc.integer({ min: 0, max: 2 ** 50 }),
      fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      fc.integer({ min: 0, max: 7 }),
    )
    fc.assert(
      fc.property(stamp, ([multi, time, sent, queue, code]) => {
        expect(through(int64Telemetry(multi), time, sent, queue, code)).toEqual([
          Number((BigInt(time) / 1000n) % 2n ** 24n) * 1000,
          Number((BigInt(sent) / BigInt(128 * multi)) % 2n ** 20n) * 128 * multi,
          Number((BigInt(queue) / BigInt(80 * multi)) % 2n ** 17n) * 80 * multi,
          RATES[code],
        ])
      }),
    )
  })
})

describe("exact telemetry", () => {
  it("rounds nothing", () => {
    expect(through(exactTelemetry, 123_456_789_012, 987_654_321_098, 4_000_000_001, 3)).toEqual([
      123_456_789_012, 987_654_321_098, 4_000_000_001, 200e9,
    ])
  })

  it("wraps times and bytes at 40 bits, queues at 32", () => {
    const max = 2 ** 40 - 1
    expect(through(exactTelemetry, max, max, 2 ** 32 - 1, 7)).toEqual([max, max, 2 ** 32 - 1, 800e9])
    expect(through(exactTelemetry, max + 1, max + 2, 2 ** 32, 1)).toEqual([0, 1, 0, 50e9])
  })

  it("gives back every value, wrapped", () => {
    const stamp = fc.tuple(
      fc.integer({ min: 0, max: 2 ** 53 - 1 }),
      fc.integer({ min: 0, max: 2 ** 53 - 1 }),
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      fc.integer({ min: 0, max: 7 }),
    )
    fc.assert(
      fc.property(stamp, ([time, sent, queue, code]) => {
        const { timeModulusPs, bytesModulus } = exactTelemetry
        expect(through(exactTelemetry, time, sent, queue, code)).toEqual([
          time % timeModulusPs,
          sent % bytesModulus,
          queue,
          RATES[code],
        ])
      }),
    )
  })
})

describe.each([exactTelemetry, int64Telemetry(4)])("telemetry in flight ($name)", (format) => {
  it("gathers hops in order, and refuses the one that finds no room", () => {
    const packet = packetWith(format, 3)
    for (let hop = 0; hop < 3; hop++) {
      expect(packet.telemetryHops).toBe(hop)
      expect(packet.stampHop(1000 * (hop + 1), 5120 * hop, 3200 * hop, hop, 1)).toBe(true)
    }
    const out = new Float64Array(12)
    expect(packet.stampHop(9000, 9, 9, 0, 0xfff)).toBe(false)
    expect(packet.readTelemetry(out)).toBe(3)
    expect([...out]).toEqual([1000, 0, 0, 25e9, 2000, 5120, 3200, 50e9, 3000, 10_240, 6400, 100e9])
    // Three times XOR 1; the refused hop left no trace.
    expect(packet.pathId).toBe(1)
  })

  it("XORs the low 12 bits of switch numbers into the path", () => {
    const packet = packetWith(format)
    for (const node of [0x123, 0xf456, 0x0ff]) packet.stampHop(0, 0, 0, 0, node)
    expect(packet.pathId).toBe(0x123 ^ 0x456 ^ 0x0ff)
  })

  it("moves to another packet, hops and path and all", () => {
    const packet = packetWith(format)
    const { pool, handle } = packet
    packet.stampHop(7000, 512, 320, 2, 0x77)
    const { pathId } = packet
    const telemetry = packet.detachTelemetry()
    expect([packet.telemetry, packet.telemetryHops, packet.readTelemetry(new Float64Array(4))]).toEqual([-1, 0, 0])
    expect(packet.stampHop(0, 0, 0, 0, 0)).toBe(false)
    pool.release(handle)
    const answer = pool.alloc()
    packet.at(answer).attachTelemetry(telemetry, pathId)
    const out = new Float64Array(4)
    expect([packet.telemetryHops, packet.readTelemetry(out), packet.pathId]).toEqual([1, 1, 0x77])
    expect([...out]).toEqual([7000, 512, 320, 100e9])
    pool.release(answer)
    // The block went back with its last bearer: a fresh one starts at nothing.
    packet.at(pool.alloc()).addTelemetry()
    expect([packet.telemetryHops, packet.pathId]).toEqual([0, 0])
  })

  it("holds 127 hops", () => {
    const packet = packetWith(format, 127)
    for (let hop = 0; hop < 127; hop++) expect(packet.stampHop(hop * 1000, 0, 0, 0, 0)).toBe(true)
    expect(packet.stampHop(0, 0, 0, 0, 0)).toBe(false)
    const out = new Float64Array(127 * 4)
    expect(packet.readTelemetry(out)).toBe(127)
    expect(out[126 * 4]).toBe(126_000)
  })
})
