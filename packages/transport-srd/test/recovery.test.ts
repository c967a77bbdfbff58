import type { Crossing } from "@rdmakit/conformance"
import { Flag, Opcode } from "@rdmakit/packet"
import { hash32 } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { connect, fixedWindow, type Setup } from "./connection.ts"

const US = 1e6
/** A packet of 1,000 bytes and its headers at 10 Gb/s. */
const PACKET = 0.872 * US

const isData = ({ opcode }: Crossing): boolean => opcode < Opcode.Acknowledge

/** A flow through a network that knows by which port each packet goes. */
const connectByPort = (delays: (crossing: Crossing, port: number) => ReadonlyArray<number>, setup: Setup = {}) => {
  /** Source port of each packet that left, by its place among them. */
  const ports: Array<number> = []
  const made = connect({
    ...setup,
    onWay: (packet) => void ports.push(packet.udpPorts & 0xffff),
    path: (crossing) => delays(crossing, ports.at(-1)!),
  })
  return { ...made, ports, sender: made.ends[0] }
}

/** Lets each data packet of these numbers be lost the first time. */
const losing = (...numbers: ReadonlyArray<number>) => {
  const left = new Set(numbers)
  return (crossing: Crossing): ReadonlyArray<number> => (isData(crossing) && left.delete(crossing.psn) ? [] : [10 * US])
}

describe("a lost packet", () => {
  it("is sent again within a round trip and its deviations, on another path, and tells no controller of congestion", () => {
    const told: Array<boolean> = []
    const { pair, ports, sender } = connectByPort(losing(400), {
      options: { controller: fixedWindow(30_000, told) },
    })
    pair.command(0, { message: 0, writeBytes: 600_000 })
    pair.run()
    const places = pair.sent.flatMap((each, place) => (isData(each) && each.psn === 400 ? [place] : []))
    expect(places).toHaveLength(2)
    const [first, second] = places.map((place) => pair.sent[place]!)
    // A round trip of 20 µs, an eighth of it for packets that are late, and what a packet or two take.
    expect(second!.time - first!.time).toBeLessThan(22.5 * US + 3 * PACKET)
    expect(second!.meta & Flag.Retransmission).toBe(Flag.Retransmission)
    expect(ports[places[1]!]).not.toBe(ports[places[0]!])
    expect([sender.retransmissions, sender.spurious, sender.timeouts]).toEqual([1, 0, 0])
    expect(told).toEqual([false])
  })

  it("is found by the next on its path, before its time is up", () => {
    const { pair, sender } = connectByPort(losing(100), { options: { paths: 1, controller: fixedWindow(30_000) } })
    pair.command(0, { message: 0, writeBytes: 200_000 })
    pair.run()
    const times = pair.sent.filter((each) => isData(each) && each.psn === 100).map(({ time }) => time)
    expect(times).toHaveLength(2)
    expect(times[1]! - times[0]!).toBeLessThan(20 * US + 2 * PACKET)
    expect(sender.spurious).toBe(0)
  })

  it("of many is found with the others: half of all, and the message takes three times as long at most", () => {
    const { pair, sender } = connectByPort((crossing) =>
      isData(crossing) && hash32(1, crossing.from, crossing.ordinal) % 2 === 0 ? [] : [10 * US],
    )
    pair.command(0, { message: 0, writeBytes: 2_000_000 })
    pair.run()
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
    // At 20,000 bytes in 20 µs, and half of them lost: 4 ms.
    expect(pair.now).toBeLessThan(1.5 * 4000 * US)
    expect(sender.retransmissions).toBeGreaterThan(1500)
    expect(sender.retransmissions).toBeLessThan(2500)
  })

  it("at the end of a message is probed for when nothing has come for two round trips", () => {
    const { pair, sender } = connectByPort(losing(49))
    pair.command(0, { message: 0, writeBytes: 50_000 })
    pair.run()
    const times = pair.sent.filter((each) => isData(each) && each.psn === 49).map(({ time }) => time)
    expect(times).toHaveLength(2)
    // The last acknowledgement came a round trip after the packet before it had left.
    expect(times[1]! - times[0]!).toBeLessThan(3 * 20 * US + PACKET)
    expect(sender.timeouts).toBe(1)
  })

  it("that is the first of all waits for 100 µs, for no round trip is known", () => {
    const { pair } = connectByPort(losing(0))
    pair.command(0, { message: 0, writeBytes: 8 })
    pair.run()
    expect(pair.events[0]!.time).toBe(120 * US)
  })

  it("again and again: after eight probes each waits twice as long as the one before", () => {
    let left = 11
    const { pair } = connectByPort((crossing) => (isData(crossing) && left-- > 0 ? [] : [10 * US]))
    pair.command(0, { message: 0, writeBytes: 8 })
    pair.run()
    const times = pair.sent.filter(isData).map(({ time }) => time / US)
    expect(times).toEqual([0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1100, 1500])
  })

  it("is not one that was only late: in a network that reorders it is waited for", () => {
    const { pair, sender } = connectByPort((crossing) => [
      (10 + (isData(crossing) ? hash32(2, 0, crossing.ordinal) % 40 : 0)) * US,
    ])
    pair.command(0, { message: 0, writeBytes: 4_000_000 })
    pair.run()
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
    // Of 4,000 packets whose ways differ by up to two round trips.
    expect(sender.spurious).toBeLessThan(20)
    expect(sender.retransmissions).toBe(sender.spurious)
  })
})

describe("acknowledgements", () => {
  it("that are lost are made up for by the next: nine in ten, and only probes are sent again", () => {
    const { pair, sender } = connectByPort((crossing) =>
      !isData(crossing) && hash32(3, crossing.from, crossing.ordinal) % 10 !== 0 ? [] : [10 * US],
    )
    pair.command(0, { message: 0, writeBytes: 1_000_000 })
    pair.run()
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
    expect(sender.bytesDelivered).toBe(1_000_000)
    expect(sender.retransmissions).toBe(sender.timeouts)
    expect(sender.retransmissions).toBeLessThan(250)
  })

  it("go back by the port that the packet came by", () => {
    const { pair, ports } = connectByPort(() => [10 * US])
    pair.command(0, { message: 0, writeBytes: 20_000 })
    pair.run()
    const of = (kind: boolean): Map<number, number> =>
      new Map(pair.sent.flatMap((each, place) => (isData(each) === kind ? [[each.psn, ports[place]!] as const] : [])))
    expect(of(false)).toEqual(of(true))
  })

  it("of what came twice say so: it is taken in once, and not sent a third time", () => {
    const { pair, ends } = connectByPort((crossing) => (isData(crossing) ? [10 * US, 13 * US] : [10 * US]))
    pair.command(0, { message: 0, writeBytes: 300_000 })
    pair.run()
    expect([ends[1].bytesReceived, ends[1].receiver.duplicates]).toEqual([300_000, 300])
    expect([ends[0].retransmissions, ends[0].spurious]).toEqual([0, 0])
  })
})

describe("a way that fails", () => {
  it("is left: of 16 ways one is dead from 1 ms on, and soon nothing is sent into it", () => {
    const dead = { sent: 0, late: 0 }
    const { pair, sender } = connectByPort((crossing, port) => {
      if (crossing.time < 1000 * US || port % 16 !== 5) return [10 * US]
      if (isData(crossing)) dead.sent++
      if (isData(crossing) && crossing.time > 1200 * US) dead.late++
      return []
    })
    pair.command(0, { message: 0, writeBytes: 4_000_000 })
    pair.run()
    // 2,900 packets after it died: a sixteenth of them would be 181, and one of each of that many new ports 11.
    expect(dead.sent).toBeGreaterThan(3)
    expect(dead.sent).toBeLessThan(60)
    expect(sender.paths.dead).toBeGreaterThan(3)
    expect(sender.timeouts).toBe(0)
    // 20,000 bytes in a round trip: it takes as long as through a whole network, but for what is sent again.
    expect(pair.now).toBeLessThan(1.05 * 4000 * US)
  })

  it("without another is told after a second: what has begun has failed, what has not is flushed", () => {
    const { pair } = connectByPort(() => [])
    pair.command(0, { message: 7, writeBytes: 5000 })
    pair.command(0, { message: 8, writeBytes: 500_000 })
    pair.command(0, { message: 9, writeBytes: 0 })
    pair.run()
    expect(pair.events.map(({ event }) => [event.message, event.type])).toEqual([
      [7, "failed"],
      [8, "failed"],
      [9, "flushed"],
    ])
    expect(pair.now).toBeGreaterThanOrEqual(1e12)
    expect(pair.now).toBeLessThan(1.01e12)
    pair.command(0, { message: 10, writeBytes: 1 })
    expect(pair.events.at(-1)!.event).toMatchObject({ message: 10, type: "flushed" })
  })

  it("for half a second, and comes back: all completes", () => {
    const { pair } = connectByPort(({ time }) => (time > 50 * US && time < 5e11 ? [] : [10 * US]))
    pair.command(0, { message: 0, writeBytes: 500_000 })
    pair.run()
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
    // The longest timeout is 4 ms.
    expect(pair.now).toBeLessThan(5e11 + 5000 * US)
  })
})

describe("a slow way", () => {
  it("is left: of 16 ways one has a queue of 25 µs, and it has little of a flow", () => {
    const slow = { sent: 0, all: 0 }
    const { pair, sender } = connectByPort((crossing, port) => {
      if (!isData(crossing)) return [10 * US]
      // Other ways have queues of up to 10 µs.
      const queue = hash32(4, 0, crossing.ordinal) % 10
      slow.all++
      if (port % 16 !== 5) return [(10 + queue) * US]
      slow.sent++
      return [(35 + queue) * US]
    })
    pair.command(0, { message: 0, writeBytes: 8_000_000 })
    pair.run()
    expect(sender.paths.overloaded).toBeGreaterThan(5)
    // A port that turns out to be slow is left after its second sample; all others are used 16 times.
    expect(slow.sent / slow.all).toBeLessThan(1 / 16 / 3)
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
  })

  it("with a queue of 3 ms holds nobody up, and what comes out of it at last is no round trip of others", () => {
    const { pair, ends, sender } = connectByPort((crossing, port) => [
      (isData(crossing) && port % 16 === 5 ? 3000 : 10) * US,
    ])
    // Over 8 ms, so that answers from the slow way come all the time.
    pair.command(0, { message: 0, writeBytes: 8_000_000 })
    pair.run()
    expect(pair.events[0]!.time).toBeLessThan(1.05 * 8000 * US)
    expect(sender.rtt.smoothedPs).toBeLessThan(25 * US)
    expect(ends[1].receiver.duplicates).toBeGreaterThan(20)
  })
})
