import { Opcode, Packet, PacketPool, PintCodec } from "@rdmakit/packet"
import { uniform } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { PintStamper } from "../src/index.ts"

/** 100 Gb/s and 8 µs: B·T is 100,000 bytes. */
const make = (seed = 0) =>
  new PintStamper({ rateBps: [100e9, 100e9, 400e9], baseRttPs: 8e6, codec: new PintCodec(2), seed })

const fresh = (opcode: number = Opcode.WriteMiddle): Packet => {
  const pool = new PacketPool({ limit: 4 })
  const packet = new Packet(pool).at(pool.alloc())
  packet.meta = opcode
  return packet
}

describe("PINT for HPCC", () => {
  it("keeps each link's smoothed utilisation", () => {
    const stamper = make()
    // The first packet: no gap to measure a rate over, 50,000 of 100,000 bytes waiting: u = 0.5, weight 1.
    stamper.stamp(1e6, fresh(), 0, 0, 50_000)
    expect(stamper.utilisation(0)).toBe(0.5)
    // 2 µs later, T/4, 25,000 bytes: the whole link, u = 1: U = ¾·0.5 + ¼·1.
    stamper.stamp(3e6, fresh(), 0, 25_000, 0)
    expect(stamper.utilisation(0)).toBeCloseTo(0.625, 14)
    // 16 µs and 50,000 bytes: a quarter of the link. The gap counts as T: U = u = 0.25.
    stamper.stamp(19e6, fresh(), 0, 75_000, 0)
    expect(stamper.utilisation(0)).toBeCloseTo(0.25, 14)
    // Others are as they were; the 400 G link has a B·T of 400,000 bytes.
    expect(stamper.utilisation(1)).toBe(0)
    stamper.stamp(19e6, fresh(), 2, 0, 100_000)
    expect(stamper.utilisation(2)).toBe(0.25)
  })

  it("a packet carries the largest of its path", () => {
    const stamper = make()
    const packet = fresh()
    // 0.5, 0.25 and 1 are digests 8, 7 and 9 to base 2.
    stamper.stamp(1e6, packet, 0, 0, 50_000)
    expect(packet.pint).toBe(8)
    stamper.stamp(2e6, packet, 1, 0, 25_000)
    expect(packet.pint).toBe(8)
    stamper.stamp(3e6, packet, 2, 0, 400_000)
    expect(packet.pint).toBe(9)
  })

  it("an idle link stamps too: digest 0, a 512th", () => {
    const packet = fresh()
    make().stamp(1e6, packet, 0, 0, 0)
    expect(packet.pint).toBe(0)
  })

  it("acknowledgements carry theirs back, and their bytes count with the next packet's", () => {
    const stamper = make()
    stamper.stamp(1e6, fresh(), 0, 0, 0)
    for (const opcode of [Opcode.Acknowledge, Opcode.NakSequence, Opcode.Pfc]) {
      const reply = fresh(opcode)
      reply.pint = 3
      stamper.stamp(2e6, reply, 0, 20_000, 90_000)
      expect(reply.pint).toBe(3)
    }
    expect(stamper.utilisation(0)).toBe(0)
    // 8 µs after the first packet, 50,000 bytes: 0.5.
    stamper.stamp(9e6, fresh(), 0, 50_000, 0)
    expect(stamper.utilisation(0)).toBeCloseTo(0.5, 14)
  })

  it("two packets at one moment leave U as it was", () => {
    const stamper = make()
    stamper.stamp(1e6, fresh(), 0, 0, 50_000)
    stamper.stamp(1e6, fresh(), 0, 1000, 0)
    expect(stamper.utilisation(0)).toBe(0.5)
  })

  it("draws how to round by hash(seed, port, ordinal)", () => {
    const stamper = make(7)
    // 0.75 is 384 512ths, half way from 256 to 512: digest 9 for draws below a half, else 8.
    const digests = Array.from({ length: 64 }, (_, i) => {
      const packet = fresh()
      stamper.stamp(1e9 * (i + 1), packet, 1, 0, 75_000)
      return packet.pint
    })
    expect(digests).toEqual(digests.map((_, i) => (uniform(7, 1, i) < 0.5 ? 9 : 8)))
    expect(new Set(digests).size).toBe(2)
  })

  it("refuses a base RTT it would divide by", () => {
    const options = { rateBps: [1e9], codec: new PintCodec(2), seed: 0 }
    for (const baseRttPs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => new PintStamper({ ...options, baseRttPs })).toThrow(RangeError)
    }
  })
})
