import { Opcode, Packet, PacketPool, PintCodec } from "@rdmakit/packet"
import { GlibcRandom } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { Ns3PintStamper } from "../src/index.ts"

const SECOND = 1e12
/** B is 2^33 bytes/s and T 2^13 ns, so that the logarithms of the terms are whole. */
const make = () =>
  new Ns3PintStamper({
    rateBps: [8 * 2 ** 33, 8 * 2 ** 33],
    maxRttNs: 8192,
    codec: new PintCodec(2),
    random: new GlibcRandom(),
  })

const packetOf = (opcode: number, wireBytes: number): Packet => {
  const pool = new PacketPool({ limit: 4 })
  const packet = new Packet(pool).at(pool.alloc())
  packet.meta = opcode
  packet.wireBytes = wireBytes
  return packet
}
const data = (): Packet => packetOf(Opcode.WriteMiddle, 1024)

describe("PINT as in the HPCC simulator", () => {
  it("dt·qlen / (B·T²) + bytes / (B·T) + (T − dt)·U / T", () => {
    const stamper = make()
    // Nothing left before it, nothing waits: U = 0, digest 0.
    const first = data()
    stamper.stamp(2 * SECOND, first, 0, 0, 0)
    expect([stamper.utilisation(0), first.pint]).toEqual([0, 0])
    // 4096 ns later 65,536 bytes wait: 2^12 · 2^16 · 10^9 / (2^33 · 2^26) = 10^9 / 2^31 = 0.465661;
    // 1024 bytes before: 2^10 · 10^9 / (2^33 · 2^13) = 10^9 / 2^36 = 0.014552; and nothing of U = 0.
    stamper.stamp(2 * SECOND + 4096e3, data(), 0, 0, 65_536)
    expect(stamper.utilisation(0)).toBeCloseTo(1e9 / 2 ** 31 + 1e9 / 2 ** 36, 12)
    // Another 4096 ns: half of 0.480213, which counts as 3934 of 8192, and 0.014552. Logarithms are cut to 2^-15.
    stamper.stamp(2 * SECOND + 8192e3, data(), 0, 0, 0)
    expect(Math.abs(stamper.utilisation(0) / (3934 / 8192 / 2 + 1e9 / 2 ** 36) - 1)).toBeLessThan(2 ** -14)
    expect(stamper.utilisation(1)).toBe(0)
  })

  it("a gap counts as T at most, a queue below 256 bytes as none", () => {
    const stamper = make()
    stamper.stamp(2 * SECOND, data(), 0, 0, 65_536)
    // No packet before it, and time 0 as the last: dt = T: 2^13 · 2^16 · 10^9 / 2^59 = 10^9 / 2^30.
    expect(stamper.utilisation(0)).toBeCloseTo(1e9 / 2 ** 30, 12)
    stamper.stamp(3 * SECOND, data(), 0, 0, 255)
    expect(stamper.utilisation(0)).toBeCloseTo(1e9 / 2 ** 36, 12)
  })

  it("an acknowledgement or a pause gives time and bytes of the next step, unstamped", () => {
    for (const [opcode, bytes] of [
      [Opcode.Acknowledge, 64],
      [Opcode.Pfc, 32],
    ] as const) {
      const stamper = make()
      stamper.stamp(2 * SECOND, data(), 0, 0, 0)
      const other = packetOf(opcode, bytes)
      stamper.stamp(2 * SECOND + 4096e3, other, 0, 0, 65_536)
      expect(other.pint).toBe(-1)
      // 4096 ns after that, not 8192 after the data packet; its own 1024 bytes are forgotten.
      stamper.stamp(2 * SECOND + 8192e3, data(), 0, 0, 65_536)
      expect(stamper.utilisation(0)).toBeCloseTo(1e9 / 2 ** 31 + (bytes * 1e9) / 2 ** 46, 12)
    }
  })

  it("a packet carries the largest, and rounds by rand()", () => {
    const random = new GlibcRandom()
    const stamper = new Ns3PintStamper({ rateBps: [8 * 2 ** 33], maxRttNs: 8192, codec: new PintCodec(2), random })
    // 10^9 / 2^30 = 0.93132 counts as 477 of 512, between 2^8 and 2^9: up below 221/256. rand() gives 1,804,289,383,
    // whose low 16 bits are 17,767, 0.2711: up.
    const packet = data()
    stamper.stamp(2 * SECOND, packet, 0, 0, 65_536)
    expect(packet.pint).toBe(9)
    expect(random.bits()).toBe(846_930_886)
    stamper.stamp(3 * SECOND, packet, 0, 0, 0)
    expect(packet.pint).toBe(9)
  })

  it("refuses a base RTT that is no whole number of ns", () => {
    const options = { rateBps: [1e9], codec: new PintCodec(2), random: new GlibcRandom() }
    for (const maxRttNs of [0, 0.5, Number.NaN]) {
      expect(() => new Ns3PintStamper({ ...options, maxRttNs })).toThrow(RangeError)
    }
  })

  /**
   * 2,000 packets, acknowledgements and pauses at ports of 25, 100 and 400 Gb/s, drawn from the 32-bit generator of
   * Numerical Recipes. The expected lines are the digest of every two hundredth packet and a sum over all digests so
   * far, from a C++ program with the simulator's arithmetic, glibc 2.36. Of 700,000 packets none differed.
   */
  it("golden sequence", () => {
    let state = 1
    const draw = (bound: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return (state >>> 8) % bound
    }
    const stamper = new Ns3PintStamper({
      rateBps: [25e9, 100e9, 400e9],
      maxRttNs: 12_240,
      codec: new PintCodec(1.05),
      random: new GlibcRandom(),
    })
    const lines: Array<ReadonlyArray<number>> = []
    let sum = 0
    let ns = 2e9
    for (let i = 0; i < 2000; i++) {
      const port = draw(3)
      ns += draw(60)
      const kind = draw(8)
      const packet =
        kind === 0
          ? packetOf(Opcode.Acknowledge, 60)
          : kind === 1
            ? packetOf(Opcode.Pfc, 43)
            : packetOf(Opcode.WriteMiddle, 1050)
      const queueBytes = draw(3) === 0 ? 0 : draw(i % 1000 < 500 ? 40_000 : 9_000_000)
      packet.pint = draw(2) === 1 ? 0 : draw(200)
      stamper.stamp(ns * 1000, packet, port, 0, queueBytes)
      sum = (sum * 31 + packet.pint) % 1_000_000_007
      if (i % 200 === 199) lines.push([port, packet.pint, sum])
    }
    expect(lines).toEqual([
      [0, 126, 37232072],
      [0, 187, 332670250],
      [0, 186, 818278466],
      [1, 178, 818687341],
      [2, 143, 298921303],
      [2, 136, 227943969],
      [1, 0, 624637884],
      [2, 141, 720900217],
      [2, 149, 135331920],
      [2, 154, 962707794],
    ])
  })
})
