import { Layout, Packet, PacketPool } from "@rdmakit/packet"
import { crc32 } from "@rdmakit/wire/node"
import fc from "fast-check"
import { expect, it } from "vitest"
import { Refusal, Route, VerbsCodec } from "../src/index.ts"
import { anyVerbs, built, verbsOpcodes } from "./verbs.ts"

const { EXTENSION_SHIFT, EXTENSION_WORDS, RECORD_SHIFT, RECORD_WORDS } = Layout
const UDP_BYTES = 8

/** Everything that a packet is: its record, its extension, its payload. */
const contents = (packet: Packet): ReadonlyArray<ReadonlyArray<number>> => {
  const { pool, handle } = packet
  const record = Array.from(pool.words.subarray(handle << RECORD_SHIFT, (handle << RECORD_SHIFT) + RECORD_WORDS))
  const x = packet.extension << EXTENSION_SHIFT
  const extension = Array.from(pool.extension.subarray(x, x + EXTENSION_WORDS))
  const { payload } = packet
  const octets =
    payload === undefined ? [] : payload.octets.subarray(payload.start, payload.start + packet.payloadBytes)
  // Where the payload lies is another place.
  extension[Layout.EXT.payloadOffset] = 0
  return [record, extension, [...octets]]
}

it("a datagram without its headers is read, or refused, as the packet that has them", () => {
  const codec = new VerbsCodec(crc32)
  const pool = new PacketPool()
  const packet = new Packet(pool)
  const read = (decode: () => Refusal) => {
    packet.at(pool.alloc())
    const refusal = decode()
    const said = refusal === Refusal.None ? contents(packet) : []
    pool.release(packet.handle)
    return { refusal, said }
  }
  const seen = new Set<Refusal>()
  const any = fc.constantFrom(...verbsOpcodes).chain(anyVerbs)
  const change = fc.option(fc.record({ at: fc.nat(), bit: fc.nat(7), cut: fc.constantFrom(0, 0, 1, 4, 30) }))
  fc.assert(
    fc.property(any, change, (said, spoiled) => {
      const plain = { ...said, ethernet: false, vlan: undefined, trafficClass: 0, flowLabel: 0, hopLimit: 64 }
      const whole = built(plain)
      const udp = (said.v6 ? 40 : 20) + UDP_BYTES
      const datagram = whole.slice(udp, Math.max(udp, whole.length - (spoiled?.cut ?? 0)))
      if (spoiled !== null && datagram.length > 0) datagram[spoiled.at % datagram.length]! ^= 1 << spoiled.bit
      const before = datagram.slice()
      const route = new Route({ source: said.source, destination: said.destination })
      const alone = read(() => codec.decodeDatagram(datagram, route, said.port, 64, packet))
      expect(datagram).toEqual(before)
      const headers = headersOf(whole.subarray(0, udp), datagram.length)
      const together = new Uint8Array([...headers, ...datagram])
      expect(alone).toEqual(read(() => codec.decode(together, 0, together.length, packet)))
      seen.add(alone.refusal)
      // The prefix that a route keeps is that of the length and the port that it is asked for.
      const other = read(() => codec.decodeDatagram(datagram, route, said.port ^ 1, 64, packet))
      if (alone.refusal === Refusal.None) expect(other.refusal).toBe(Refusal.Icrc)
      expect(read(() => codec.decodeDatagram(datagram, route, said.port, 64, packet))).toEqual(alone)
    }),
    { numRuns: 600, seed: 4791 },
  )
  for (const refusal of [Refusal.None, Refusal.Icrc, Refusal.Length, Refusal.Opcode, Refusal.Version])
    expect(seen).toContain(refusal)
  expect(pool.alive).toBe(0)
})

/** Headers of IP and UDP around another number of octets. */
const headersOf = (headers: Uint8Array, bytes: number): Uint8Array => {
  const out = headers.slice()
  const view = new DataView(out.buffer)
  const udp = out.length - UDP_BYTES
  view.setUint16(udp + 4, UDP_BYTES + bytes)
  if (udp === 40) view.setUint16(4, UDP_BYTES + bytes)
  else {
    view.setUint16(2, out.length + bytes)
    view.setUint16(10, 0)
    let sum = 0
    for (let at = 0; at < udp; at += 2) sum += view.getUint16(at)
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
    view.setUint16(10, ~sum & 0xffff)
  }
  return out
}
