import { Opcode, Packet } from "@rdmakit/packet"
import { decode as decodeFrame, nodeOf } from "@rdmakit/wire/decode"
import { checkIcrc, placeInEthernet } from "@rdmakit/wire/roce"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type IntLayout, RoceCodec } from "../src/index.ts"
import { anySaid, make, makePool, type Said, told } from "./packets.ts"

const LINK = { from: 7, to: 4097 }

const encoded = (codec: RoceCodec, packet: Packet): Uint8Array => {
  const octets = new Uint8Array(5000)
  return octets.slice(0, codec.encode(packet, LINK, octets))
}

/** Encodes, decodes, encodes again; answers the first octets and what both packets tell. */
const around = (said: Said, layout: IntLayout, telemetry: "none" | "int" | "pint", multi?: number) => {
  const pool = makePool(multi)
  const codec = new RoceCodec({ telemetry: layout, messages: { bytesOf: (flow) => 4096 + flow, mtuBytes: 4096 } })
  const before = make(new Packet(pool), said, telemetry)
  const octets = encoded(codec, before)
  const after = new Packet(pool).at(pool.alloc())
  const decoded = codec.decode(octets, after)
  if (!decoded.ok) throw decoded.error
  const again = encoded(codec, after)
  const both = [told(before), told(after)] as const
  pool.release(before.handle)
  pool.release(after.handle)
  expect(pool.alive).toBe(0)
  expect(again).toEqual(octets)
  expect(after.wireBytes).toBe(octets.length)
  expect(after.source).toBe(said.opcode === Opcode.Pfc ? LINK.from : said.source)
  return { octets, both, decoded }
}

const check = (run: (said: Said) => void): void => fc.assert(fc.property(anySaid, run), { numRuns: 400, seed: 4791 })

describe("a packet comes back from its octets", () => {
  test("without telemetry", () => {
    check((said) => {
      const { both, decoded } = around(said, "none", "none")
      expect(both[1]).toEqual(both[0])
      expect(decoded.link.from).toBe(LINK.from)
      if (said.opcode !== Opcode.Pfc) expect(decoded.link.to).toBe(LINK.to)
      const hasReth = [Opcode.WriteFirst, Opcode.ReadRequest].some((opcode) => opcode === said.opcode)
      if (hasReth) expect(decoded.messageBytes).toBe(4096 + (said.flow >> 1))
      if (said.opcode === Opcode.WriteOnly) expect(decoded.messageBytes).toBe(said.payloadBytes)
    })
  })

  test("with telemetry that the layout leaves out", () => {
    check((said) => {
      const { both } = around(said, "none", "int")
      expect(both[1]).toEqual({ ...both[0], ...(said.opcode === Opcode.Pfc ? {} : { hops: [], pathId: 0 }) })
    })
  })

  test("with the simulator's telemetry in its own layout, exactly", () => {
    check((said) => {
      const { both } = around(said, "ns3", "int", 4)
      expect(both[1]).toEqual({ ...both[0], ...(said.opcode === Opcode.Pfc ? {} : { pathId: 0 }) })
    })
  })

  test("with exact telemetry in the paper's layout, in its units", () => {
    check((said) => {
      const { both, octets } = around(said, "hpcc", "int")
      const [before, after] = both
      if (!("hops" in before) || !("hops" in after)) return
      const rounded = before.hops.map((value, index) => {
        if (index % 4 === 0) return (Math.floor(value / 1000) % 2 ** 24) * 1000
        if (index % 4 === 1) return (Math.floor(value / 128) % 2 ** 20) * 128
        return index % 4 === 2 ? Math.min(0xffff, Math.floor(value / 80)) * 80 : value
      })
      expect(after).toEqual({ ...before, hops: rounded, pathId: said.hops.length === 0 ? 0 : said.pathId })
      expect(octets[42]! >> 4).toBe(said.hops.length)
    })
  })

  test("with PINT's digest", () => {
    check((said) => {
      const { both } = around(said, "hpcc", "pint")
      expect(both[1]).toEqual(both[0])
    })
  })
})

test("wire finds nothing wrong with any frame: headers, lengths, checksums, ICRC", () => {
  check((said) => {
    const pool = makePool()
    const octets = encoded(new RoceCodec(), make(new Packet(pool), said, "none"))
    const nodes = decodeFrame(octets)
    for (const node of nodes) {
      expect(node.format, JSON.stringify(said)).not.toBe("raw")
      if ("faults" in node) expect(node.faults).toEqual([])
    }
    if (said.opcode === Opcode.Pfc) {
      expect(nodeOf(nodes, "pfc")).toBeDefined()
      expect(octets.length).toBe(60)
      return
    }
    const bth = nodeOf(nodes, "bth")!.value
    expect(bth.psn).toBe(said.psn)
    expect(bth.opcode).toBe(said.opcode === Opcode.NakSequence ? 0x11 : said.opcode)
    expect(checkIcrc(octets, placeInEthernet(octets)!)).toBe("right")
  })
})

test("octets of any kind are read or refused, never thrown over", () => {
  const pool = makePool()
  const codec = new RoceCodec({ telemetry: "hpcc" })
  const packet = new Packet(pool)
  fc.assert(
    fc.property(
      anySaid,
      fc.array(fc.tuple(fc.nat(), fc.nat(7)), { minLength: 1, maxLength: 3 }),
      fc.nat(),
      (said, flips, cut) => {
        const whole = encoded(codec, make(new Packet(pool), said, said.pint >= 0 ? "pint" : "int"))
        for (const [at, bit] of flips) whole[at % whole.length]! ^= 1 << bit
        const octets = cut % 3 === 0 ? whole.subarray(0, cut % whole.length) : whole
        packet.at(pool.alloc())
        const decoded = codec.decode(octets, packet)
        if (!decoded.ok) expect(decoded.error._tag).toBe("CodecError")
        pool.release(packet.handle)
      },
    ),
    { numRuns: 3000, seed: 1 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
      packet.at(pool.alloc())
      expect(codec.decode(octets, packet).ok).toBe(false)
      pool.release(packet.handle)
    }),
    { numRuns: 2000, seed: 2 },
  )
})
