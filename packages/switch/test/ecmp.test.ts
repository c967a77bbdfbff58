import { Packet, PacketPool } from "@rdmakit/packet"
import type { LoadBalancer } from "@rdmakit/protocol"
import { murmur3 } from "@rdmakit/units"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ns3Ecmp, ns3QueuePairHash, seededEcmp } from "../src/index.ts"

/** MurmurHash3_x86_32 byte by byte, in big integers that are cut to 32 bits after each step. */
const murmurBytes = (bytes: ReadonlyArray<number>, seed: number): number => {
  const cut = (x: bigint): bigint => x & 0xffffffffn
  const turn = (x: bigint, by: bigint): bigint => cut(x << by) | (x >> (32n - by))
  const scramble = (k: bigint): bigint => cut(turn(cut(k * 0xcc9e2d51n), 15n) * 0x1b873593n)
  let h = cut(BigInt(seed))
  const whole = bytes.length - (bytes.length % 4)
  for (let i = 0; i < whole; i += 4) {
    let k = 0n
    for (let b = 3; b >= 0; b--) k = (k << 8n) | BigInt(bytes[i + b]!)
    h = cut(turn(h ^ scramble(k), 13n) * 5n + 0xe6546b64n)
  }
  let tail = 0n
  for (let i = bytes.length - 1; i >= whole; i--) tail = (tail << 8n) | BigInt(bytes[i]!)
  if (whole < bytes.length) h ^= scramble(tail)
  h ^= BigInt(bytes.length)
  h = cut((h ^ (h >> 16n)) * 0x85ebca6bn)
  h = cut((h ^ (h >> 13n)) * 0xc2b2ae35n)
  return Number(h ^ (h >> 16n))
}
const text = (s: string): Array<number> => [...s].map((c) => c.charCodeAt(0))
const little = (word: number, length = 4): Array<number> =>
  Array.from({ length }, (_, i) => Math.floor(word / 256 ** i) % 256)

/** The simulator's key: two addresses 11.x.y.1 as integers, then the ports, each low byte first as x86 keeps them. */
const keyOf = (source: number, destination: number, sourcePort: number, destinationPort: number): Array<number> => {
  const address = (node: number) => [1, node % 256, Math.floor(node / 256), 11]
  return [...address(source), ...address(destination), ...little(sourcePort, 2), ...little(destinationPort, 2)]
}

const pool = new PacketPool({ limit: 4 })
const packet = new Packet(pool).at(pool.alloc())
const flow = (source: number, destination: number, sourcePort: number, destinationPort: number): Packet => {
  packet.setNodes(source, destination)
  packet.udpPorts = sourcePort + destinationPort * 65536
  return packet
}

describe("the hash of the simulator", () => {
  it("is MurmurHash3: published vectors", () => {
    expect(murmurBytes([], 1)).toBe(0x514e28b7)
    expect(murmurBytes(text("test"), 0)).toBe(0xba6bd213)
    expect(murmurBytes(text("aaaa"), 0x9747b28c)).toBe(0x5a97808a)
    expect(murmurBytes(text("Hello, world!"), 0x9747b28c)).toBe(0x24884cba)
    expect(murmurBytes(text("The quick brown fox jumps over the lazy dog"), 0x9747b28c)).toBe(0x2fa826cd)
  })

  it("takes words as their bytes, the lowest first", () => {
    const word = fc.integer({ min: 0, max: 0xffffffff })
    fc.assert(
      fc.property(word, word, word, word, (seed, a, b, c) => {
        expect(murmur3(seed, a, b, c)).toBe(murmurBytes([...little(a), ...little(b), ...little(c)], seed))
      }),
    )
  })

  const node = fc.integer({ min: 0, max: 65535 })
  it("picks among next hops by addresses and ports, seeded with the switch's number", () => {
    fc.assert(
      fc.property(node, node, node, node, node, fc.integer({ min: 1, max: 64 }), (s, d, sp, dp, at, count) => {
        expect(ns3Ecmp.pick(0, flow(s, d, sp, dp), at, count, none, 0)).toBe(
          murmurBytes(keyOf(s, d, sp, dp), at) % count,
        )
      }),
    )
  })

  it("picks a host's port with ns-3's own seed", () => {
    fc.assert(
      fc.property(node, node, node, node, (s, d, sp, dp) => {
        expect(ns3QueuePairHash(s, d, sp + dp * 65536)).toBe(murmurBytes(keyOf(s, d, sp, dp), 0x8badf00d))
      }),
    )
  })
})

/** ECMP looks at the number of next hops alone. */
const none = new Int32Array(0)

const FLOWS = 16_000
const flows = Array.from({ length: FLOWS }, (_, i) => {
  const draw = (word: number, below: number) => murmur3(99, i, word, 0) % below
  return [draw(1, 320), draw(2, 320), 10_000 + draw(3, 50), 100] as const
})
const picks = (balancer: LoadBalancer, node: number, count: number): Array<number> =>
  flows.map((f) => balancer.pick(0, flow(...f), node, count, none, 0))

/** How far shares are from even, in standard deviations of a fair draw. */
const unevenness = (chosen: ReadonlyArray<number>, count: number): number => {
  const fair = chosen.length / count
  const shares = Array.from({ length: count }, (_, index) => chosen.filter((c) => c === index).length)
  return Math.max(...shares.map((share) => Math.abs(share - fair))) / Math.sqrt(fair * (1 - 1 / count))
}

describe.each([
  ["the simulator's ECMP", ns3Ecmp],
  ["seeded ECMP, seed 0", seededEcmp(0)],
  ["seeded ECMP, seed 1", seededEcmp(1)],
  ["seeded ECMP, seed 0xdeadbeef", seededEcmp(0xdeadbeef)],
] as const)("%s", (_name, balancer) => {
  it.each([2, 4, 5, 16])("spreads flows evenly over %i next hops", (count) => {
    expect(unevenness(picks(balancer, 320, count), count)).toBeLessThan(4.5)
  })

  it.each([
    [4, 4],
    [8, 2],
    [2, 8],
    [4, 16],
  ])("does not polarise: of %i uplinks, each one's flows spread over %i at the next switch", (first, second) => {
    const uplinks = picks(balancer, 320, first)
    for (let uplink = 0; uplink < first; uplink++) {
      // The flows that took this uplink meet again at switch 340 + uplink.
      const next = picks(balancer, 340 + uplink, second).filter((_, i) => uplinks[i] === uplink)
      expect(unevenness(next, second)).toBeLessThan(4.5)
    }
  })

  it("leaves a single next hop no choice, and keeps a flow where it is", () => {
    expect(new Set(picks(balancer, 7, 1))).toEqual(new Set([0]))
    expect(picks(balancer, 7, 6)).toEqual(picks(balancer, 7, 6))
  })
})

it("seeded ECMP depends on the seed, on the switch and on every part of the flow", () => {
  const agree = (a: ReadonlyArray<number>, b: ReadonlyArray<number>) =>
    a.filter((pick, i) => pick === b[i]).length / a.length
  const one = picks(seededEcmp(1), 320, 4)
  for (const other of [picks(seededEcmp(2), 320, 4), picks(seededEcmp(1), 321, 4), picks(seededEcmp(321), 1, 4)]) {
    expect(agree(one, other)).toBeGreaterThan(0.22)
    expect(agree(one, other)).toBeLessThan(0.28)
  }
  const balancer = seededEcmp(1)
  for (let part = 0; part < 4; part++) {
    const spread = Array.from({ length: 200 }, (_, i) => {
      const parts: [number, number, number, number] = [1, 2, 10_000, 4791]
      parts[part]! += i
      return balancer.pick(0, flow(...parts), 320, 4, none, 0)
    })
    expect(unevenness(spread, 4)).toBeLessThan(4.5)
  }
})
