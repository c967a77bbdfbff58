import { Flag, Layout, Packet, PacketPool } from "@rdmakit/packet"
import { EtherType, parseEthernet } from "@rdmakit/wire/ethernet"
import { crc32 } from "@rdmakit/wire/node"
import { icrcOf, placeInEthernet, putIcrc } from "@rdmakit/wire/roce"
import fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import { CodecError, Refusal, Route, refusalNames, VerbsCodec } from "../src/index.ts"
import { readFrames, roceCaptures } from "./captures.ts"
import { anyVerbs, built, makeVerbs, type VerbsSaid, verbsOpcodes } from "./verbs.ts"

const { EXT, EXTENSION_SHIFT } = Layout
const codec = new VerbsCodec(crc32)

const routeOf = (said: VerbsSaid): Route => {
  const { source, destination, vlan } = said
  const tag = vlan === undefined ? undefined : { id: vlan, priority: 3 }
  const ethernet = { source: 0x5254_0000_0001, destination: 0x5254_0000_0002, vlan: tag }
  return new Route(said.ethernet ? { source, destination, ethernet } : { source, destination })
}

const encoded = (): Uint8Array => codec.octets.slice(codec.start, codec.end)

const words = (packet: Packet, at: number, count: number): ReadonlyArray<number> => {
  const x = (packet.extension << EXTENSION_SHIFT) + at
  return Array.from(packet.pool.extension.subarray(x, x + count))
}

/** The addresses that a packet came with, 16 octets each. */
const addresses = (packet: Packet): readonly [Uint8Array, Uint8Array] => {
  const all = new DataView(new ArrayBuffer(32))
  words(packet, EXT.ipv6Source, 8).forEach((word, index) => {
    all.setInt32(4 * index, word)
  })
  return [new Uint8Array(all.buffer, 0, 16), new Uint8Array(all.buffer, 16, 16)]
}

/** A packet that was read, as one to be sent: its payload in a slice of its own. */
const own = (packet: Packet): void => {
  const bytes = packet.payloadBytes
  if (bytes === 0) return
  const { octets, start } = packet.payload!
  const copy = octets.slice(start, start + bytes)
  const place = packet.addPayload(bytes)
  place.octets.set(copy, place.start)
}

describe("encode", () => {
  test.each(verbsOpcodes.map((code) => [code.toString(16).padStart(2, "0"), code] as const))(
    "opcode 0x%s is what wire builds, and decodes to what it was",
    (_, opcode) => {
      const pool = new PacketPool()
      const packet = new Packet(pool)
      const copy = new Packet(pool)
      fc.assert(
        fc.property(anyVerbs(opcode), (said) => {
          makeVerbs(packet, said)
          codec.encode(packet, routeOf(said))
          const octets = encoded()
          expect(octets).toEqual(built(said))
          copy.at(pool.alloc())
          const end = octets.length
          const refusal = said.ethernet ? codec.decodeFrame(octets, 0, end, copy) : codec.decode(octets, 0, end, copy)
          expect(refusalNames[refusal]).toBe("none")
          expect(addresses(copy)).toEqual([said.source, said.destination])
          own(copy)
          codec.encode(copy, routeOf(said))
          expect(encoded()).toEqual(octets)
          pool.release(packet.handle)
          pool.release(copy.handle)
        }),
        { numRuns: 60 },
      )
      expect(pool.alive + pool.payloads.alive).toBe(0)
    },
  )

  it("refuses what has no octets", () => {
    const pool = new PacketPool()
    const packet = new Packet(pool).at(pool.alloc())
    const route = new Route({ source: new Uint8Array(16), destination: new Uint8Array(16) })
    for (const opcode of [0x40, 0x80, 0x1c, 0xf0, 0x18]) {
      packet.opcode = opcode
      expect(() => codec.encode(packet, route)).toThrow(CodecError)
    }
    packet.opcode = 0x04
    packet.payloadBytes = 5
    expect(() => codec.encode(packet, route)).toThrow("payload: found 5 synthetic octets, expected real ones")
    packet.borrowPayload(new Uint8Array(8), 0, 5)
    expect(() => codec.encode(packet, route)).toThrow("somebody else's octets")
    const mapped = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1])
    expect(() => new Route({ source: mapped, destination: new Uint8Array(16) })).toThrow("two of one kind")
    expect(() => new Route({ source: new Uint8Array(4), destination: mapped })).toThrow("16 each")
  })
})

describe("captures of Linux", () => {
  test.each(roceCaptures)("%s: %i packets, byte for byte", (name, packets) => {
    const pool = new PacketPool()
    const packet = new Packet(pool)
    let read = 0
    for (const frame of readFrames(name)) {
      packet.at(pool.alloc())
      const refusal = codec.decodeFrame(frame, 0, frame.length, packet)
      if (refusal === Refusal.None) {
        read++
        // Soft-RoCE knows no path migration.
        expect(packet.has(Flag.Migrated)).toBe(false)
        const ethernet = parseEthernet(frame)
        if (!ethernet.ok) throw new Error(ethernet.error.what)
        const { source: from, destination: to, tags } = ethernet.value
        const [source, destination] = addresses(packet)
        const tag = tags[0]
        const vlan = tag && { id: tag.vlan, priority: tag.priority }
        own(packet)
        const at = 14 + 4 * tags.length
        const identification = ethernet.value.etherType === EtherType.Ipv4 ? frame[at + 4]! * 256 + frame[at + 5]! : 0
        const route = new Route({
          source,
          destination,
          identification,
          ethernet: { source: from, destination: to, vlan },
        })
        codec.encode(packet, route)
        expect(encoded()).toEqual(frame.subarray(0, codec.end - codec.start))
      }
      pool.release(packet.handle)
    }
    expect(read).toBe(packets)
  })
})

describe("decode", () => {
  const frame = readFrames("rc_send_256_v4").find((each) => placeInEthernet(each) !== undefined)!
  const six = readFrames("rc_send_2500_v6").find((each) => placeInEthernet(each) !== undefined)!
  const refusalOf = (octets: Uint8Array): string => {
    const pool = new PacketPool()
    const packet = new Packet(pool).at(pool.alloc())
    const refusal = codec.decodeFrame(octets, 0, octets.length, packet)
    pool.release(packet.handle)
    return refusalNames[refusal]!
  }
  const changed = (of: Uint8Array, at: number, ...values: ReadonlyArray<number>): Uint8Array => {
    const octets = of.slice()
    octets.set(values, at)
    return octets
  }
  /** With the ICRC of what it has become. */
  const sealed = (octets: Uint8Array): Uint8Array => {
    const place = placeInEthernet(octets)!
    putIcrc(octets, place.icrc, icrcOf(octets, place))
    return octets
  }

  test.each<readonly [string, Uint8Array]>([
    ["none", frame],
    ["none", six],
    ["another protocol", changed(frame, 12, EtherType.Arp >> 8, EtherType.Arp & 255)],
    ["another protocol", changed(frame, 14, 0x75)],
    ["a length that cannot be", changed(six, 18, 0xff)],
    ["another protocol", changed(six, 20, 6)],
    ["a length that cannot be", changed(frame, 14, 0x44)],
    ["a length that cannot be", changed(frame, 16, 0xff)],
    ["a length that cannot be", frame.subarray(0, 17)],
    ["a length that cannot be", frame.subarray(0, 40)],
    ["a length that cannot be", six.subarray(0, 60)],
    ["wrong IPv4 checksum", changed(frame, 22, frame[22]! - 1)],
    ["wrong ICRC", changed(frame, 60, frame[60]! ^ 1)],
    ["wrong ICRC", changed(six, 100, six[100]! ^ 0x80)],
    ["a length that cannot be", changed(six, 59, six[59]! - 4)],
    ["another UDP port", changed(six, 57, 0xb6)],
    ["unknown opcode", sealed(changed(frame, 42, 0x1f))],
    ["unknown opcode", sealed(changed(frame, 42, 0x40))],
    ["another version", sealed(changed(frame, 43, 0x41))],
    ["a length that cannot be", sealed(changed(frame, 42, 0x11))],
  ])("%s", (what, octets) => {
    expect(refusalOf(octets)).toBe(what)
  })

  it("refuses fragments", () => {
    const octets = changed(frame, 20, 0x20)
    // The checksum of the header follows: the flags have changed by -0x2000.
    const sum = ((octets[24]! << 8) | octets[25]!) + 0x2000
    const folded = (sum & 0xffff) + (sum >> 16)
    expect(refusalOf(changed(octets, 24, folded >> 8, folded & 255))).toBe("a fragment")
  })

  it("never throws, whatever the octets", () => {
    const pool = new PacketPool()
    const packet = new Packet(pool)
    const read = (octets: Uint8Array): void => {
      for (const of of ["decode", "decodeFrame"] as const) {
        packet.at(pool.alloc())
        const refusal = codec[of](octets, 0, octets.length, packet)
        expect(refusalNames[refusal]).toBeTypeOf("string")
        if (refusal === Refusal.None && packet.payloadBytes > 0) {
          const { octets: where, start } = packet.payload!
          expect(where === octets && start + packet.payloadBytes + 4 <= octets.length).toBe(true)
        }
        pool.release(packet.handle)
      }
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), read), { numRuns: 2000 })
    const spoiled = fc
      .tuple(fc.constantFrom(frame, six), fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 4 }), fc.nat(400))
      .map(([of, changes, length]) => {
        const octets = of.slice(0, Math.max(14, length))
        for (const [at, value] of changes) if (at < octets.length) octets[at] = value
        return length % 2 === 0 && placeInEthernet(octets) !== undefined ? sealed(octets) : octets
      })
    fc.assert(fc.property(spoiled, read), { numRuns: 3000 })
    expect(pool.alive).toBe(0)
  })
})
