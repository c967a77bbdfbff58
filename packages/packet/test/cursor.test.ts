import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  Ecn,
  Flag,
  HEADROOM_BYTES,
  Layout,
  Opcode,
  Packet,
  PacketPool,
  PayloadTooLong,
  PoolExhausted,
  SLICE_BYTES,
} from "../src/index.ts"

/** Each field of the cursor, its range, and how it is written. */
const below = (n: number) => fc.integer({ min: 0, max: n - 1 })
const fields = {
  opcode: below(256),
  priority: below(8),
  ecn: below(4),
  wireBytes: below(2 ** 31),
  payloadBytes: below(2 ** 31),
  psn: below(2 ** 24),
  udpPorts: below(2 ** 32),
  flow: below(2 ** 31),
  ingressPort: below(2 ** 20),
  hop: below(256),
  stamp: fc.integer({ min: 0, max: 2 ** 53 - 1 }),
  nodes: fc.tuple(below(65536), below(65536)),
  flag: fc.constantFrom(...Object.values(Flag)),
  unflag: fc.constantFrom(...Object.values(Flag)),
} as const
type Field = keyof typeof fields

const write = fc.oneof(
  ...(Object.keys(fields) as Array<Field>).map((field) =>
    fc.record({ field: fc.constant(field), value: fields[field] as fc.Arbitrary<number | [number, number]> }),
  ),
)

const numeric = [
  "opcode",
  "priority",
  "ecn",
  "wireBytes",
  "payloadBytes",
  "psn",
  "udpPorts",
  "flow",
  "ingressPort",
  "hop",
  "stamp",
] as const

describe("the cursor", () => {
  it("writes every field without touching another, or another packet", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), write), { maxLength: 60 }), (writes) => {
        const pool = new PacketPool({ limit: 4 })
        const packet = new Packet(pool)
        const models = [0, 1].map(() => ({
          handle: pool.alloc(),
          values: new Map<string, number>(numeric.map((field) => [field, 0])),
          nodes: [0, 0],
          flags: new Set<number>(),
        }))
        for (const [second, { field, value }] of writes) {
          const model = models[second ? 1 : 0]!
          packet.at(model.handle)
          if (field === "nodes") {
            const [source, destination] = value as [number, number]
            packet.setNodes(source, destination)
            model.nodes = [source, destination]
          } else if (field === "flag") {
            packet.set(value as number)
            model.flags.add(value as number)
          } else if (field === "unflag") {
            packet.clear(value as number)
            model.flags.delete(value as number)
          } else {
            packet[field] = value as number
            model.values.set(field, value as number)
          }
        }
        for (const model of models) {
          packet.at(model.handle)
          for (const field of numeric) expect(`${field} ${packet[field]}`).toBe(`${field} ${model.values.get(field)}`)
          expect([packet.source, packet.destination]).toEqual(model.nodes)
          for (const flag of Object.values(Flag)) expect(packet.has(flag)).toBe(model.flags.has(flag))
          expect([packet.telemetry, packet.extension]).toEqual([-1, -1])
        }
      }),
    )
  })

  it("packs opcode, flags, priority and ECN into one word", () => {
    const packet = new Packet(new PacketPool({ limit: 4 }))
    packet.at(packet.pool.alloc())
    packet.meta = Opcode.WriteOnly | Flag.AckRequest | Flag.Telemetry | (3 << 24) | (Ecn.Capable0 << 28)
    expect([packet.opcode, packet.priority, packet.ecn]).toEqual([Opcode.WriteOnly, 3, Ecn.Capable0])
    expect([packet.has(Flag.AckRequest), packet.has(Flag.Telemetry), packet.has(Flag.Trimmed)]).toEqual([
      true,
      true,
      false,
    ])
    const meta = packet.meta
    packet.ecn = Ecn.Experienced
    packet.ecn = Ecn.Capable0
    expect(packet.meta).toBe(meta)
  })

  it("has two flags when it has both", () => {
    const packet = new Packet(new PacketPool({ limit: 4 }))
    packet.at(packet.pool.alloc())
    packet.set(Flag.AckRequest)
    expect(packet.has(Flag.AckRequest | Flag.Solicited)).toBe(false)
    packet.set(Flag.Solicited)
    expect(packet.has(Flag.AckRequest | Flag.Solicited)).toBe(true)
  })

  it("counts switches as the packet enters them, 20-bit ports and 24-bit PSNs", () => {
    const packet = new Packet(new PacketPool({ limit: 4 }))
    packet.at(packet.pool.alloc())
    packet.enterSwitch(0xfffff)
    packet.enterSwitch(5)
    expect([packet.hop, packet.ingressPort]).toEqual([2, 5])
    packet.hop = 255
    expect([packet.hop, packet.ingressPort]).toEqual([255, 5])
    packet.psn = 2 ** 24 + 3
    expect(packet.psn).toBe(3)
  })

  it("carries real octets, with room in front of them for headers", () => {
    const pool = new PacketPool({ limit: 4 })
    const packet = new Packet(pool).at(pool.alloc())
    expect(packet.payload).toBeUndefined()
    const { octets, start } = packet.addPayload(SLICE_BYTES)
    expect([packet.payloadBytes, packet.has(Flag.SlabPayload)]).toEqual([SLICE_BYTES, true])
    expect(start).toBeGreaterThanOrEqual(HEADROOM_BYTES)
    octets.fill(7, start, start + SLICE_BYTES)
    const copy = new Packet(pool).at(pool.duplicate(packet.handle))
    octets.fill(8, start, start + SLICE_BYTES)
    const there = copy.payload!
    expect([...there.octets.subarray(there.start, there.start + 2)]).toEqual([7, 7])
    expect(there.octets[there.start + SLICE_BYTES - 1]).toBe(7)
    expect(pool.payloads.alive).toBe(2)
    pool.release(packet.handle)
    pool.release(copy.handle)
    expect(pool.payloads.alive).toBe(0)
  })

  it("borrows octets, and copies them for a duplicate alone", () => {
    const pool = new PacketPool({ limit: 4 })
    const packet = new Packet(pool).at(pool.alloc())
    const datagram = Uint8Array.of(0, 0, 1, 2, 3)
    packet.borrowPayload(datagram, 2, 3)
    expect(packet.payload).toEqual({ octets: datagram, start: 2 })
    const copy = new Packet(pool).at(pool.duplicate(packet.handle))
    pool.release(packet.handle)
    datagram.fill(9)
    const { octets, start } = copy.payload!
    expect([...octets.subarray(start, start + 3)]).toEqual([1, 2, 3])
    pool.release(copy.handle)
    expect(pool.payloads.alive).toBe(0)
  })

  it("has no more payloads than packets", () => {
    const pool = new PacketPool({ limit: 2 })
    const packet = new Packet(pool)
    for (let index = 0; index < 2; index++) packet.at(pool.alloc()).addPayload(1)
    expect(() => pool.payloads.alloc(1)).toThrow(PoolExhausted)
  })

  it("refuses a payload that would write over the one behind, its own and a copy's", () => {
    const pool = new PacketPool({ limit: 4 })
    const packet = new Packet(pool).at(pool.alloc())
    const refusal = `a payload of ${SLICE_BYTES + 1} octets: a packet has room for ${SLICE_BYTES}`
    expect(() => packet.addPayload(SLICE_BYTES + 1)).toThrow(PayloadTooLong)
    expect(() => packet.addPayload(SLICE_BYTES + 1)).toThrow(refusal)
    // It is as it was, and may have another.
    expect([packet.payload, packet.extension, pool.payloads.alive]).toEqual([undefined, -1, 0])
    packet.borrowPayload(new Uint8Array(SLICE_BYTES + 1), 0, SLICE_BYTES + 1)
    expect(() => pool.duplicate(packet.handle)).toThrow(refusal)
    expect(pool.payloads.alive).toBe(0)
  })

  it("has room in the extension for every field, none over another", () => {
    const offsets = Object.values(Layout.EXT)
    expect(new Set(offsets).size).toBe(offsets.length)
    expect(Math.max(...offsets)).toBeLessThan(Layout.EXTENSION_WORDS)
  })
})

describe("a PINT digest", () => {
  it("takes the place of telemetry, and travels back with it", () => {
    const pool = new PacketPool({ limit: 16 })
    const [data, reply] = [new Packet(pool).at(pool.alloc()), new Packet(pool).at(pool.alloc())]
    expect([data.pint, data.telemetryHops]).toEqual([-1, 0])
    data.pint = 65_535
    expect([data.pint, data.telemetryHops]).toEqual([65_535, 0])
    reply.attachTelemetry(data.detachTelemetry(), 0)
    expect([data.pint, reply.pint]).toEqual([-1, 65_535])
    pool.release(reply.handle)
    pool.release(data.handle)
    expect(pool.alive).toBe(0)
  })
})
