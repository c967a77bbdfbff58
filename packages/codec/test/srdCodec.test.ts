import { Flag, Layout, Opcode, Packet, PacketPool } from "@rdmakit/packet"
import { emitSrd, parseSrd, type Srd, SrdOpcode } from "@rdmakit/wire/srd"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Refusal, Route, VerbsCodec } from "../src/index.ts"

const { EXT } = Layout
/** IPv4 without options, UDP, BTH. */
const HEADER_AT = 20 + 8 + 12
const SRD = 512

const u8 = fc.nat(255)
const u16 = fc.nat(0xffff)
const u24 = fc.nat(0xff_ffff)
const u32 = fc.nat(0xffff_ffff)
const u64 = fc.bigInt(0n, 2n ** 64n - 1n)
const is = <K extends string>(kind: K) => fc.constant(kind)
const immediate = fc.option(u32, { nil: undefined })
/** Picoseconds that a double has exactly. */
const common = { repeated: fc.boolean(), generation: u16, timestamp: fc.bigInt(0n, 2n ** 53n - 1n) }
const remote = { remoteKey: u32, remoteAddress: u64, bytes: u32 }

const header: fc.Arbitrary<Srd> = fc.oneof(
  fc.record({
    kind: is("ack"),
    ...common,
    congestion: fc.boolean(),
    status: u8,
    cumulative: u24,
    base: u24,
    selectiveLow: u64,
    selectiveHigh: u64,
  }),
  fc.record({
    kind: is("data"),
    ...common,
    queueKey: u32,
    sourceQp: u24,
    oldest: u24,
    operation: fc.oneof(
      fc.record({ kind: is("send"), immediate }),
      fc.record({ kind: is("write"), immediate, ...remote }),
      fc.record({ kind: is("readRequest"), ...remote, message: u32 }),
      fc.record({ kind: is("readResponse"), message: u32, offset: u32, status: u8 }),
    ),
  }),
)

const mapped = (last: number): Uint8Array => Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last)
const route = new Route({ source: mapped(1), destination: mapped(2) })

const kinds = { send: 1, write: 2, readRequest: 3, readResponse: 4 } as const
const opcodes = [0, Opcode.SendOnly, Opcode.WriteOnly, Opcode.ReadRequest, 0x10, Opcode.Acknowledge]

/** A packet as `transport-srd` has it in memory. */
const make = (packet: Packet, value: Srd, psn: number, destinationQp: number, payload: Uint8Array): void => {
  const { pool } = packet
  packet.at(pool.alloc())
  if (payload.length > 0) {
    const { octets, start } = packet.addPayload(payload.length)
    octets.set(payload, start)
  }
  const x = packet.extend()
  const { extension } = pool
  const put64 = (at: number, number: bigint): void => {
    extension[x + at] = Number(BigInt.asIntN(32, number >> 32n))
    extension[x + at + 1] = Number(BigInt.asIntN(32, number))
  }
  packet.psn = psn
  packet.stamp = Number(value.timestamp)
  packet.udpPorts = (0xc123 | (4791 << 16)) >>> 0
  extension[x + EXT.destinationQp] = destinationQp
  extension[x + EXT.partition] = 0xffff
  extension[x + EXT.hopLimit] = 64
  extension[x + EXT.generation] = value.generation
  const kind = value.kind === "ack" ? 5 : kinds[value.operation.kind]
  packet.meta = (packet.meta & Flag.SlabPayload) | opcodes[kind]! | (value.repeated ? Flag.Retransmission : 0)
  if (value.kind === "ack") {
    extension[x + EXT.segment] = SRD | 5
    extension[x + EXT.aeth] = 0xe000_0000 | 0
    if (value.congestion) packet.set(Flag.CongestionEcho)
    extension[x + EXT.status] = value.status
    extension[x + EXT.cumulative] = value.cumulative
    extension[x + EXT.sackBase] = value.base
    const all = value.selectiveLow | (value.selectiveHigh << 64n)
    for (let word = 0; word < 4; word++)
      extension[x + EXT.sackBits + word] = Number(BigInt.asIntN(32, all >> BigInt(32 * word)))
    return
  }
  const { operation } = value
  const said = "immediate" in operation ? operation.immediate : undefined
  extension[x + EXT.segment] = SRD | kind | (said === undefined ? 0 : 16)
  extension[x + EXT.queueKey] = value.queueKey
  extension[x + EXT.sourceQp] = value.sourceQp
  extension[x + EXT.oldest] = value.oldest
  if (said !== undefined) extension[x + EXT.immediate] = said
  if ("remoteKey" in operation) {
    extension[x + EXT.remoteKey] = operation.remoteKey
    put64(EXT.remoteAddress, operation.remoteAddress)
    extension[x + EXT.dmaLength] = operation.bytes
  }
  if ("message" in operation) extension[x + EXT.message] = operation.message
  if ("offset" in operation) {
    extension[x + EXT.messageOffset] = operation.offset
    extension[x + EXT.status] = operation.status
  }
}

/** Words of the extension record that say something of SRD. */
const words = (packet: Packet): ReadonlyArray<number> => {
  const at = packet.extend()
  const wanted: Array<number> = [
    EXT.segment,
    EXT.generation,
    EXT.oldest,
    EXT.message,
    EXT.status,
    EXT.queueKey,
    EXT.sourceQp,
  ]
  wanted.push(EXT.destinationQp, EXT.remoteKey, EXT.remoteAddress, EXT.remoteAddress + 1, EXT.dmaLength, EXT.immediate)
  wanted.push(EXT.messageOffset, EXT.cumulative, EXT.sackBase, EXT.aeth, EXT.partition)
  wanted.push(...[0, 1, 2, 3].map((word) => EXT.sackBits + word))
  return wanted.map((word) => packet.pool.extension[at + word]!)
}

describe("packets of SRD", () => {
  it("are a BTH with a manufacturer's opcode, then the header as `wire` has it, and come back the same", () => {
    const pool = new PacketPool()
    const out = new Packet(pool)
    const back = new Packet(pool)
    const codec = new VerbsCodec()
    fc.assert(
      fc.property(header, u24, u24, fc.uint8Array({ maxLength: 64 }), (value, psn, qpn, octets) => {
        const carries = value.kind === "data" && value.operation.kind !== "readRequest"
        const payload = carries ? octets : new Uint8Array(0)
        make(out, value, psn, qpn, payload)
        const said = words(out)
        codec.encode(out, route)
        const frame = codec.octets.slice(codec.start, codec.end)
        const expected = new Uint8Array(64)
        const bytes = emitSrd(value, expected)
        expect(frame.subarray(HEADER_AT, HEADER_AT + bytes)).toEqual(expected.subarray(0, bytes))
        expect(parseSrd(frame, HEADER_AT)).toMatchObject({ ok: true, value })
        expect(Object.values(SrdOpcode)).toContain(frame[HEADER_AT - 12])
        back.at(pool.alloc())
        expect(codec.decode(frame, 0, frame.length, back)).toBe(Refusal.None)
        expect(words(back)).toEqual(said)
        expect([back.psn, back.stamp, back.opcode]).toEqual([psn, Number(value.timestamp), out.opcode])
        const flags = Flag.Retransmission | Flag.CongestionEcho
        expect(back.meta & flags).toBe(out.meta & flags)
        const place = back.payload
        expect(back.payloadBytes).toBe(payload.length)
        if (place !== undefined)
          expect(place.octets.subarray(place.start, place.start + payload.length)).toEqual(payload)
        pool.release(out.handle)
        pool.release(back.handle)
      }),
      { seed: 7, numRuns: 500 },
    )
  })

  it("of another version, or whose opcode and header differ, are refused", () => {
    const pool = new PacketPool()
    const packet = new Packet(pool)
    const codec = new VerbsCodec()
    const data: Srd = {
      kind: "data",
      repeated: false,
      generation: 0,
      timestamp: 0n,
      queueKey: 0,
      sourceQp: 0,
      oldest: 0,
      operation: { kind: "send", immediate: undefined },
    }
    make(packet, data, 1, 2, new Uint8Array(0))
    for (const first of [0x21, 0x12]) {
      codec.encode(packet, route)
      const frame = codec.octets.slice(codec.start, codec.end)
      frame[HEADER_AT] = first
      // The version is looked at before the ICRC, which would be wrong too.
      expect(codec.decode(frame, 0, frame.length, new Packet(pool).at(pool.alloc()))).toBe(Refusal.Version)
    }
  })
})
