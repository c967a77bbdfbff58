import { Layout, Packet, PacketPool, PSN_MASK, psnDistance } from "@rdmakit/packet"
import { hash32 } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { BITMAP, ReceivedPackets } from "../src/ReceivedPackets.ts"

const pool = new PacketPool()

/** What an acknowledgement of packet `number` says: every packet that it shows to have come. */
const toldBy = (received: ReceivedPackets, number: number): { readonly told: Set<number>; readonly below: number } => {
  const packet = new Packet(pool).at(pool.alloc())
  received.tell(number, packet)
  const told = new Set([number])
  if (packet.extension < 0) return { told, below: number + 1 }
  const { expected } = received
  const at = packet.extend()
  const below = expected + psnDistance(pool.extension[at + Layout.EXT.cumulative]!, expected & PSN_MASK)
  const base = expected + psnDistance(pool.extension[at + Layout.EXT.sackBase]!, expected & PSN_MASK)
  for (let bit = 0; bit < BITMAP; bit++) {
    if ((pool.extension[at + Layout.EXT.sackBits + (bit >> 5)]! & (1 << (bit & 31))) !== 0) told.add(base + bit)
  }
  return { told, below }
}

describe("what a receiver remembers", () => {
  it("takes each packet in once, in any order, and refuses what is beyond the window", () => {
    const received = new ReceivedPackets(8)
    expect([0, 3, 3, 1, 0, 7].map((number) => received.add(number))).toEqual([
      "new",
      "new",
      "again",
      "new",
      "again",
      "new",
    ])
    expect(received.expected).toBe(2)
    expect([received.add(9), received.add(10)]).toEqual(["new", "beyond"])
  })

  it("numbers without wrapping, from 24 bits", () => {
    const received = new ReceivedPackets(8)
    for (let number = 0; number < 2 ** 24 + 5; number++) received.add(number)
    expect(received.numberOf(6)).toBe(2 ** 24 + 6)
    expect(received.numberOf(PSN_MASK)).toBe(2 ** 24 - 1)
    expect(received.add(received.numberOf(4))).toBe("again")
  })

  it.each([1, 31, 32, 129, 4096])("agrees with a set of numbers, 3,000 packets through a window of %i", (window) => {
    const received = new ReceivedPackets(window)
    const seen = new Set<number>()
    let expected = 0
    for (let step = 0; step < 3000; step++) {
      const draw = hash32(window, 1, step)
      const number = Math.max(0, expected - 3 + (draw % (Math.min(window, 300) + 5)))
      const was = number < expected || seen.has(number) ? "again" : number - expected >= window ? "beyond" : "new"
      expect(received.add(number), `step ${step}, packet ${number}`).toBe(was)
      if (was === "new") seen.add(number)
      while (seen.delete(expected)) expected++
      expect(received.expected).toBe(expected)
      if (was === "beyond" || step % 7 !== 0) continue
      const { told, below } = toldBy(received, number)
      expect(below <= expected || expected === number + 1, "nothing is told that has not come").toBe(true)
      const untrue = [...told].filter((each) => each >= expected && !seen.has(each))
      expect(untrue, `step ${step}: told of, and never came`).toEqual([])
      // Nothing is missing before it, and that is all it says.
      if (expected === number + 1) continue
      // Of the 128 from the first hole on, or up to the packet itself, all that have come are told of.
      const base = number - expected < BITMAP ? expected : number - BITMAP + 1
      const untold = [...seen].filter((each) => each >= base && each < base + BITMAP && !told.has(each))
      expect(untold, `step ${step}: came, and is not told of`).toEqual([])
    }
  })
})
