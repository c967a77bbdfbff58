import { NEVER } from "@rdmakit/protocol"
import { hash32 } from "@rdmakit/units"
import { expect, it } from "vitest"
import { Records } from "../src/Records.ts"
import { SentPackets } from "../src/SentPackets.ts"

interface Known {
  readonly number: number
  readonly bytes: number
  state: "flying" | "lost" | "delivered"
  sentAt: number
}

/** Moves a packet to the end of a list, or into it. */
const toEnd = (list: Array<Known>, packet: Known): void => {
  const at = list.indexOf(packet)
  if (at >= 0) list.splice(at, 1)
  list.push(packet)
}

it.each([1, 2, 3])("packets under way and lost, against plain lists: seed %i", (seed) => {
  const records = new Records()
  // Another context in the same memory, whose blocks lie between.
  const other = new SentPackets(records)
  const packets = new SentPackets(records)
  const all: Array<Known> = []
  const flying: Array<Known> = []
  const lost: Array<Known> = []
  let losses = 0
  let draw = 0
  const below = (bound: number): number => hash32(seed, 1, draw++) % bound
  const deliver = (packet: Known, list: Array<Known>): void => {
    packets.deliver(packet.number)
    list.splice(list.indexOf(packet), 1)
    packet.state = "delivered"
  }
  for (let step = 0; step < 4000; step++) {
    const what = below(10)
    const oldest = all.findIndex(({ state }) => state !== "delivered")
    if (what < 4 && (oldest < 0 || all.length - oldest < 700)) {
      const bytes = below(5) * 1000
      const number = packets.add(bytes, step)
      expect(number).toBe(all.length)
      const packet: Known = { number, bytes, state: "flying", sentAt: step }
      packets.send(number, step, below(64), 1, -1)
      all.push(packet)
      toEnd(flying, packet)
      if (below(4) === 0) other.send(other.add(1, 0), step, 0, 0, -1)
    } else if (what < 5 && flying.length > 0) {
      const packet = flying[below(flying.length)]!
      packets.lose(packet.number)
      flying.splice(flying.indexOf(packet), 1)
      packet.state = "lost"
      lost.push(packet)
      losses++
    } else if (what < 6 && lost.length > 0) {
      const packet = lost.shift()!
      expect(packets.firstLost).toBe(packet.number)
      packets.send(packet.number, step, below(64), 2, -1)
      packet.state = "flying"
      packet.sentAt = step
      toEnd(flying, packet)
    } else if (what < 9 && flying.length > 0) deliver(flying[below(Math.min(flying.length, 20))]!, flying)
    else if (lost.length > 0) deliver(lost[below(lost.length)]!, lost)

    const first = all.findIndex(({ state }) => state !== "delivered")
    const { oldest: oldestIs, newest, lostCount, firstFlying, firstSentAt, firstLost, flyingBytes } = packets
    expect({ oldestIs, newest, lostCount, firstFlying, firstSentAt, firstLost, flyingBytes }, `step ${step}`).toEqual({
      oldestIs: first < 0 ? all.length : first,
      newest: all.length,
      lostCount: lost.length,
      firstFlying: flying[0]?.number ?? -1,
      firstSentAt: flying[0]?.sentAt ?? NEVER,
      firstLost: lost[0]?.number ?? -1,
      flyingBytes: flying.reduce((sum, { bytes }) => sum + Math.max(1, bytes), 0),
    })
    const any = flying.at(-1)
    if (any !== undefined)
      expect([packets.bytesOf(any.number), packets.isFlying(any.number)]).toEqual([any.bytes, true])
  }
  expect(all.length).toBeGreaterThan(1000)
  expect(losses).toBeGreaterThan(100)
})

it("tells which packet one has overtaken on its path, as long as both are there", () => {
  const packets = new SentPackets(new Records())
  for (let number = 0; number < 6; number++) packets.add(1000, 0)
  // Path 0 has 0, 2 and 4, path 1 the others, by the same draws.
  for (let number = 0; number < 6; number++)
    packets.send(number, number, number % 2, number % 2, number < 2 ? -1 : number - 2)
  expect([0, 1, 2, 3, 4, 5].map((number) => packets.overtaken(number))).toEqual([-1, -1, 0, 1, 2, 3])
  packets.deliver(2)
  expect(packets.overtaken(4)).toBe(-1)
  packets.lose(1)
  expect(packets.overtaken(3)).toBe(-1)
  // 1 goes again after 3, on 3's path: it has not been overtaken, 3 has not either, for it left first.
  packets.send(1, 10, 1, 1, 5)
  expect([packets.overtaken(3), packets.overtaken(1)]).toEqual([-1, 5])
})

it("what others left in the memory that a ring grows into says nothing of packets that have come", () => {
  const records = new Records()
  const others = new SentPackets(records)
  for (let number = 0; number < 100; number++) others.send(others.add(1000, 0), 77, 3, 1, -1)
  others.release()
  for (let size = 2; size < 7; size++) records.give(records.take(size), size)
  const packets = new SentPackets(records)
  const numbers = Array.from({ length: 60 }, (_, number) => number)
  for (const number of numbers) {
    packets.send(packets.add(1000, 0), number, 0, 1, -1)
    // The first fifty leave soon, so that the ring is small when the others make it grow.
    if (number >= 3 && number < 50) packets.deliver(number - 3)
  }
  const kept = numbers.filter((number) => packets.isKept(number) && number < packets.oldest)
  expect(kept).toEqual([44, 45, 46])
  for (const number of kept) {
    expect([number, packets.isDelivered(number), packets.wasRepeated(number)]).toEqual([number, true, false])
    expect(packets.sentAt(number)).toBeNaN()
  }
})
