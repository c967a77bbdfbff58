import { Layout, Packet, PacketPool } from "@rdmakit/packet"
import { QpState, WrOpcode } from "@rdmakit/protocol"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Carrier } from "../../src/verbs/Carrier.ts"
import { Bit, Operation } from "../../src/verbs/Operation.ts"
import { OneQueuePair, pathTo, QPN, QUEUE_KEY, remote, sge } from "./network.ts"

const { EXT } = Layout
const u32 = fc.nat(0xffff_ffff)

/** A number near those in use, or any. */
const near = (...values: ReadonlyArray<number>) => fc.oneof(fc.constantFrom(...values), u32)

const packetOf = fc.record({
  segment: fc.oneof(
    fc.nat(63).map((low) => 512 | low),
    u32,
  ),
  generation: near(0, 1, 2, 0xffff),
  psn: fc.oneof(fc.nat(20), fc.nat(0xff_ffff)),
  oldest: fc.oneof(fc.nat(20), fc.nat(0xff_ffff)),
  message: near(0, 1, 2, 3),
  status: near(0, 7, 10, 77, 255),
  queueKey: near(QUEUE_KEY),
  destinationQp: near(QPN[0], QPN[1], 0),
  remoteKey: near(0x201, 0x100),
  addressHigh: near(0, 1),
  addressLow: near(0x1000, 0x1010, 0x10ff0),
  dmaLength: near(0, 8, 60_000, 0xffff_ffff),
  messageOffset: near(0, 8, 0xffff_ffff),
  cumulative: fc.oneof(fc.nat(20), fc.nat(0xff_ffff)),
  sackBase: fc.oneof(fc.nat(20), fc.nat(0xff_ffff)),
  bits: fc.array(u32, { minLength: 4, maxLength: 4 }),
  stamp: fc.oneof(fc.constant(0), fc.nat(2 ** 31), fc.double({ min: 0, max: 2 ** 53, noNaN: true })),
  bytes: fc.oneof(fc.constant(0), fc.nat(1024)),
  hasPayload: fc.boolean(),
})

describe("packets of any content", () => {
  it("end nothing: a device goes on, and its work ends", () => {
    fc.assert(
      fc.property(fc.array(packetOf, { maxLength: 40 }), (packets) => {
        const end = new OneQueuePair(0, 0, { windowPackets: 16, unresponsiveAfterPs: 1e9 })
        end.bring(0, QpState.Rts, { rnrRetry: 1 })
        const pool = new PacketPool()
        const packet = new Packet(pool)
        const send = (now: number, id: number): void => {
          const datagram = { path: pathTo(0), qpn: QPN[1], queueKey: QUEUE_KEY }
          const work = { id, signaled: true, datagram, ...remote(0) }
          end.command(now, { type: "send", request: { ...work, opcode: WrOpcode.Send, sges: [sge(0, 100)] } })
          end.command(now, { type: "send", request: { ...work, opcode: WrOpcode.RdmaRead, sges: [sge(0, 3000)] } })
        }
        let now = 0
        let completions = 0
        const drain = (): void => {
          for (let left = 1000; ; left--) {
            expect(left).toBeGreaterThan(0)
            const handle = pool.alloc()
            const sent = end.pollTransmit(now, packet.at(handle))
            pool.release(handle)
            if (!sent) break
          }
          for (let event = end.pollEvent(); event !== undefined; event = end.pollEvent())
            if (event.type === "completion" && event.queue === "send") completions++
        }
        send(now, 1)
        drain()
        for (const said of packets) {
          now += 1e6
          packet.at(pool.alloc())
          if (said.bytes > 0 && said.hasPayload) packet.addPayload(said.bytes)
          packet.payloadBytes = said.bytes
          packet.setNodes(6, 5)
          packet.psn = said.psn
          packet.stamp = said.stamp
          const x = packet.extend()
          const { extension } = pool
          for (const name of ["segment", "generation", "oldest", "message", "status", "queueKey"] as const)
            extension[x + EXT[name]] = said[name]
          for (const name of [
            "destinationQp",
            "remoteKey",
            "dmaLength",
            "messageOffset",
            "cumulative",
            "sackBase",
          ] as const)
            extension[x + EXT[name]] = said[name]
          extension[x + EXT.remoteAddress] = said.addressHigh
          extension[x + EXT.remoteAddress + 1] = said.addressLow
          said.bits.forEach((bits, word) => {
            extension[x + EXT.sackBits + word] = bits
          })
          end.handlePacket(now, packet)
          pool.release(packet.handle)
          drain()
          while (end.nextTimeout <= now) {
            end.handleTimeout(now)
            drain()
          }
        }
        // Whatever came, work ends: by its peer's silence at the latest.
        for (let steps = 0; completions < 2; steps++) {
          expect(steps).toBeLessThan(10_000)
          now = Math.max(now, Math.min(end.nextTimeout, end.nextSend))
          expect(now).toBeLessThan(Infinity)
          if (end.nextTimeout <= now) end.handleTimeout(now)
          drain()
        }
        expect([end.state, end.qp.sendOutstanding]).toEqual([QpState.Rts, 0])
        expect(pool.alive).toBe(0)
      }),
      { seed: 11, numRuns: 300 },
    )
  })
})

describe("peers that only send", () => {
  it("are forgotten when their number is another's: places are taken again, and nothing more is sent to them", () => {
    const end = new OneQueuePair(0, 0)
    end.bring(0, QpState.Rts)
    const carrier = end.device.carrier as Carrier
    const pool = new PacketPool()
    const packet = new Packet(pool)
    const hear = (node: number): void => {
      packet.at(pool.alloc())
      packet.setNodes(node, 5)
      packet.addPayload(8)
      const x = packet.extend()
      pool.extension[x + EXT.segment] = Bit.Srd | Operation.Send
      pool.extension[x + EXT.destinationQp] = QPN[0]
      end.handlePacket(0, packet)
      pool.release(packet.handle)
    }
    const sent = (): ReadonlyArray<number> => {
      const to: Array<number> = []
      while (end.pollTransmit(0, packet.at(pool.alloc()))) {
        to.push(packet.destination)
        pool.release(packet.handle)
      }
      pool.release(packet.handle)
      return to
    }
    for (let node = 300; node < 310; node++) hear(node)
    end.device.forgetPeer(0, 303)
    end.device.forgetPeer(0, 303)
    expect(sent()).toEqual([300, 301, 302, 304, 305, 306, 307, 308, 309])
    hear(303)
    expect(sent()).toEqual([303])
    for (let node = 1000; node < 5000; node++) {
      hear(node)
      end.device.forgetPeer(0, node)
    }
    const indexes = [...carrier.contexts].map(({ index }) => index)
    expect(indexes.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(pool.alive).toBe(0)
  })
})
