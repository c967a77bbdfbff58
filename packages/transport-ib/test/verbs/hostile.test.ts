import { Layout, Packet, PacketPool } from "@rdmakit/packet"
import { QpState, type QpType, WrOpcode } from "@rdmakit/protocol"
import fc from "fast-check"
import { expect, it } from "vitest"
import { BASE, REMOTE_KEY } from "./memory.ts"
import { QUEUE_KEY, remote, sge, verbsPair } from "./pair.ts"

/** A packet of the right peer that says anything at all, mostly near what could be. */
interface Forged {
  readonly opcode: number
  readonly psn: number
  readonly bytes: number
  readonly flags: number
  readonly key: number
  readonly high: number
  readonly low: number
  readonly length: number
  readonly aeth: number
  readonly bare: boolean
}

const word = fc.oneof(fc.integer(), fc.constantFrom(0, 1, 8, 255, 256, 257, 600, -1, 2 ** 31 - 1, -(2 ** 31)))
const forged = (base: number): fc.Arbitrary<Forged> =>
  fc.record({
    opcode: fc.oneof(
      fc.nat(255),
      fc.constantFrom(...Array.from({ length: 0x1e }, (_, at) => base | at), 0x64, 0x65, 0x81),
    ),
    psn: fc.oneof(fc.nat(0xffffff), fc.integer({ min: 0xf0, max: 0x110 })),
    bytes: fc.constantFrom(0, 0, 1, 8, 255, 256, 256, 257, 4096),
    flags: fc.integer(),
    key: fc.oneof(word, fc.constant(REMOTE_KEY)),
    high: fc.oneof(fc.constant(0), word),
    low: fc.oneof(word, fc.integer({ min: BASE - 300, max: BASE + 70_000 })),
    length: word,
    aeth: fc.oneof(word, fc.constantFrom(0x1f00_0001, 0x2100_0000, 0x6000_0000, 0x6100_0000, 0x6200_0000)),
    bare: fc.boolean(),
  })

const SPARE = 256

it.each([
  ["rc", 0, "go-back-n"],
  ["rc", 0, "selective-repeat"],
  ["uc", 0x20, "go-back-n"],
  ["ud", 0x60, "go-back-n"],
] as const)(
  "nothing a peer sends touches what is not registered, grows without bound, throws or hangs: %s",
  (type, base, recovery) => {
    fc.assert(
      fc.property(fc.array(forged(base), { maxLength: 60 }), (packets) => {
        const pool = new PacketPool()
        const { ends, memories, pair, receive, send } = verbsPair({
          type: type as QpType,
          pool,
          memoryBytes: 4096,
          options: { recovery, reorderPackets: 16, inFlightPackets: 8 },
          settings: { timeout: 0 },
          path: () => [],
        })
        const memory = memories[1]
        // The region ends in front of the last octets: they are nobody's.
        for (const [key, region] of memory.regions) memory.regions.set(key, { ...region, length: 4096 - SPARE })
        memory.octets.fill(0xee, 4096 - SPARE)
        for (let at = 0; at < 6; at++) receive(1, sge(at * 100, 100 * at))
        if (type === "rc") {
          send(1, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 600)], ...remote(0) })
          send(1, { opcode: WrOpcode.AtomicFetchAndAdd, compareAdd: 1n, sges: [sge(0, 8)], ...remote(0) })
        }
        if (type !== "ud") send(1, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 600)], ...remote(0) })
        const packet = new Packet(pool)
        const octets = new Uint8Array(4096).fill(0x55)
        for (const { aeth, bare, bytes, flags, high, key, length, low, opcode, psn } of packets) {
          packet.at(pool.alloc())
          packet.meta = opcode | (flags & 0x00ff_bf00) | (flags & 0x3000_0000)
          packet.psn = psn
          packet.setNodes(5, 6)
          if (!bare || bytes > 0) {
            const at = packet.extend()
            const { EXT } = Layout
            pool.extension[at + EXT.partition] = 0xffff
            pool.extension[at + EXT.queueKey] = QUEUE_KEY
            pool.extension[at + EXT.remoteAddress] = high
            pool.extension[at + EXT.remoteAddress + 1] = low
            pool.extension[at + EXT.remoteKey] = key
            pool.extension[at + EXT.dmaLength] = length
            pool.extension[at + EXT.immediate] = key
            pool.extension[at + EXT.aeth] = aeth
            pool.extension[at + EXT.sackBase] = low
            pool.extension[at + EXT.sackBits] = flags & 1
          }
          if (bytes > 0 && !bare) packet.borrowPayload(octets, 0, bytes)
          else packet.payloadBytes = bytes
          ends[1].handlePacket(pair.now, packet)
          pool.release(packet.handle)
          // Drained as a world does it.
          for (let left = 0; ; left++) {
            expect(left).toBeLessThan(2 ** 24)
            packet.at(pool.alloc())
            const sent = left < 50 && ends[1].pollTransmit(pair.now, packet)
            pool.release(packet.handle)
            if (!sent) break
          }
          while (ends[1].pollEvent() !== undefined) {}
          if (ends[1].nextTimeout <= pair.now) ends[1].handleTimeout(pair.now)
        }
        expect(memory.octets.subarray(4096 - SPARE).every((octet) => octet === 0xee)).toBe(true)
        for (const { address, bytes } of memory.touches) {
          expect(address >= BASE && address + bytes <= BASE + 4096 - SPARE).toBe(true)
        }
        expect(pool.alive).toBeLessThanOrEqual(32)
        ends[1].command(pair.now, { type: "modify", state: QpState.Reset, settings: {} })
        expect([pool.alive, pool.payloads.alive]).toEqual([0, 0])
      }),
      { numRuns: 400 },
    )
  },
)

it("a peer that asks for all it may is answered in pieces: no queue grows", () => {
  const { ends, pool, pair } = verbsPair({ memoryBytes: 65_536, settings: { responderResources: 16 } })
  const packet = new Packet(pool)
  for (let at = 0; at < 10_000; at++) {
    packet.at(pool.alloc())
    packet.opcode = 0x0c
    // The same READ, again and again.
    packet.psn = 0x100
    packet.setNodes(5, 6)
    const word = packet.extend()
    pool.extension[word + Layout.EXT.partition] = 0xffff
    pool.extension[word + Layout.EXT.remoteAddress + 1] = BASE
    pool.extension[word + Layout.EXT.remoteKey] = REMOTE_KEY
    pool.extension[word + Layout.EXT.dmaLength] = 65_536
    ends[1].handlePacket(pair.now, packet)
    pool.release(packet.handle)
  }
  expect(ends[1].state).toBe(QpState.Rts)
  pair.run()
  expect(pair.sent.length).toBeLessThanOrEqual(256)
  expect(pool.alive).toBe(0)
})
