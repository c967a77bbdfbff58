import { Flag, Layout, Opcode, Packet, PacketPool } from "@rdmakit/packet"
import { hash32 } from "@rdmakit/units"
import { expect, it } from "vitest"
import { endsOf } from "./connection.ts"

const MESSAGES = 5
const MESSAGE_BYTES = 20_000

it.each(Array.from({ length: 50 }, (_, seed) => seed))(
  "whatever comes is survived, and nothing ends twice: seed %i",
  (seed) => {
    const [end] = endsOf(0)
    const pool = new PacketPool()
    const packet = new Packet(pool)
    let drawn = 0
    const draw = (bound: number): number => hash32(seed, 1, drawn++) % bound
    for (let message = 0; message < MESSAGES; message++) end.command(0, { message, writeBytes: MESSAGE_BYTES })
    const ended: Array<number> = []
    for (let step = 1, now = 0; step < 1000; step++) {
      now += draw(3_000_000)
      const handle = pool.alloc()
      packet.at(handle)
      const isAck = draw(3) > 0
      packet.meta = isAck ? Opcode.Acknowledge | (draw(2) === 0 ? Flag.Retransmission : 0) : Opcode.SendOnly
      // Near what is under way, or anywhere.
      const number = (): number => (draw(2) === 0 ? draw(40) : hash32(seed, 2, drawn++) & 0xffffff)
      packet.psn = number()
      packet.stamp = draw(2) === 0 ? now : draw(1e9)
      packet.payloadBytes = 1000
      if (isAck && draw(2) === 0) {
        const at = packet.extend()
        pool.extension[at + Layout.EXT.cumulative] = number()
        pool.extension[at + Layout.EXT.sackBase] = number()
        for (let word = 0; word < 4; word++)
          pool.extension[at + Layout.EXT.sackBits + word] = hash32(seed, 3, drawn++) | 0
      }
      end.handlePacket(now, packet)
      pool.release(handle)
      if (end.nextTimeout <= now) end.handleTimeout(now)
      while (transmits(end, now)) {
        // Until nothing may leave now.
      }
      for (let event = end.pollEvent(); event !== undefined; event = end.pollEvent()) ended.push(event.message)
    }
    expect(new Set(ended).size).toBe(ended.length)
    expect(end.bytesDelivered).toBeLessThanOrEqual(MESSAGES * MESSAGE_BYTES)
    expect(pool.alive).toBe(0)

    function transmits(from: typeof end, now: number): boolean {
      const handle = pool.alloc()
      const sent = from.pollTransmit(now, packet.at(handle))
      pool.release(handle)
      return sent
    }
  },
)
