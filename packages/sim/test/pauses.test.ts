import { Opcode, type Packet } from "@rdmakit/packet"
import { describe, expect, it } from "vitest"
import { Bench, threeHosts, twoHosts } from "./bench.ts"

/** Runs something at a time, in place of the sends of the bench. */
const at = (bench: Bench, calls: ReadonlyArray<readonly [number, (now: number) => void]>): void => {
  const { kernel } = bench
  const sends = kernel.onCall
  kernel.onCall = (now, target, argument) => (target === 1 ? calls[argument]![1](now) : sends(now, target, argument))
  calls.forEach(([time], index) => void kernel.callAt(time, 1, index))
}

describe("a pause", () => {
  it("holds back its priority and no other, until it is resumed", () => {
    const bench = new Bench(twoHosts)
    // Port 1 is the switch's towards host 0: pause priority 3 there. The frame takes 100 + 1,000 ps.
    at(bench, [
      [0, (now) => bench.kernel.sendPfc(now, 1, 3, true)],
      [10_000, (now) => bench.kernel.sendPfc(now, 1, 3, false)],
    ])
    bench.send(2000, 0, 1, { priority: 3 })
    bench.send(2000, 0, 1, { priority: 4 })
    bench.send(2000, 0, 1, { priority: 0 })
    bench.run()
    expect(bench.delivered.map(({ now, priority }) => [now, priority])).toEqual([
      [6000, 4],
      [7000, 0],
      [15_100, 3],
    ])
    expect(bench.kernel.pfcFrames).toBe(2)
    // PFC frames are no packet hops.
    expect(bench.kernel.packetHops).toBe(6)
    expect(bench.pool.alive).toBe(0)
  })

  it("stops a switch too, its queue 0 excepted", () => {
    const links = [{ between: [0, 2] }, { between: [2, 3] }, { between: [1, 3] }] as const
    const bench = new Bench({ hosts: 2, switches: 2, links })
    // Port 3 is switch 3's towards switch 2.
    at(bench, [
      [0, (now) => [0, 3, 5].forEach((priority) => void bench.kernel.sendPfc(now, 3, priority, true))],
      [50_000, (now) => bench.kernel.sendPfc(now, 3, 5, false)],
      [60_000, (now) => bench.kernel.sendPfc(now, 3, 3, false)],
    ])
    bench.send(2000, 0, 1, { priority: 3 })
    bench.send(2000, 0, 1, { priority: 5 })
    bench.send(2000, 0, 1, { priority: 0 })
    bench.run()
    expect(bench.delivered.map(({ now, priority }) => [now, priority])).toEqual([
      [10_000, 0],
      [55_100, 5],
      [65_100, 3],
    ])
    expect(bench.kernel.pausedMask(2)).toBe(1)
  })

  it("lets the frame under way finish", () => {
    const bench = new Bench(twoHosts)
    at(bench, [[0, (now) => bench.kernel.sendPfc(now, 1, 3, true)]])
    bench.send(1050, 0, 1, {}, 2)
    bench.run(1e6)
    expect(bench.times()).toEqual([5050])
    expect(bench.kernel.pausedMask(0)).toBe(8)
  })

  it("is counted, and timed while at least one priority is paused", () => {
    const bench = new Bench(twoHosts)
    const { kernel } = bench
    const seen: Array<string> = []
    kernel.onPause = (now, port, priority, pause) => void seen.push(`${now} ${port} ${priority} ${pause}`)
    at(bench, [
      [0, (now) => kernel.sendPfc(now, 1, 3, true)],
      [2000, (now) => kernel.sendPfc(now, 1, 4, true)],
      [5000, (now) => kernel.sendPfc(now, 1, 3, false)],
      [9000, (now) => kernel.sendPfc(now, 1, 4, false)],
      [20_000, (now) => kernel.sendPfc(now, 1, 3, true)],
      [20_000, (now) => kernel.sendPfc(now, 3, 7, true)],
    ])
    bench.run()
    expect(seen).toEqual([
      "1100 0 3 true",
      "3100 0 4 true",
      "6100 0 3 false",
      "10100 0 4 false",
      "21100 0 3 true",
      "21100 2 7 true",
    ])
    expect(kernel.pauses.pauses).toBe(4)
    expect([...kernel.pauses.pausedPs]).toEqual([9000, 0, 0, 0])
    // Two ports are still paused.
    expect(kernel.pauses.totalPs(31_100)).toBe(9000 + 10_000 + 10_000)
    // Of a time that has been overtaken, what fits into it: 7,000 ps from 1,100 on.
    expect(kernel.pauses.totalPs(8100, 1100)).toBe(7000)
  })

  it("keeps an incast without loss, and ends", () => {
    const bench = new Bench({ ...threeHosts, plainSwitch: { pauseBytes: 5000 } })
    bench.send(0, 0, 2, {}, 200)
    bench.send(0, 1, 2, {}, 200)
    let longest = 0
    bench.kernel.tracer = {
      received: () => {},
      enqueued: (_now, port) => {
        longest = Math.max(longest, bench.kernel.queueBytes(port))
      },
      dequeued: () => {},
    }
    bench.run()
    expect(bench.delivered.length).toBe(400)
    // At line rate from the first packet to the last, and never far more waiting than two thresholds and two flights.
    expect(bench.times().at(-1)).toBe(3000 + 400 * 1000)
    expect(longest).toBeLessThan(2 * (5000 + 4100))
    expect(bench.kernel.pauses.pauses).toBeGreaterThan(10)
    expect([0, 2].map((port) => bench.kernel.pausedMask(port))).toEqual([0, 0])
    expect(bench.pool.alive).toBe(0)
  })

  it("may be sent back through the port that a packet is leaving by", () => {
    // A switch that answers host 0 with its own packets, and sends a resume by the same port as one of them starts.
    const bench = new Bench({ ...twoHosts, hosts: 2 })
    const { kernel } = bench
    const order: Array<number> = []
    kernel.tracer = {
      received: (_now, port, packet: Packet) => {
        if (port === 0) order.push(packet.opcode === Opcode.Pfc ? -1 : packet.psn)
      },
      enqueued: () => {},
      dequeued: () => {},
    }
    let sent = 0
    kernel.switches[2] = {
      dequeue: "eager",
      perPacket: false,
      route: () => 1,
      admit: (_now, packet) => packet.priority,
      dequeued: (now, _packet, egress, queue) => {
        if (queue !== 0 && sent++ < 3) kernel.sendPfc(now, egress, 5, sent % 2 === 1)
      },
    }
    bench.send(0, 0, 1, {}, 4)
    bench.run()
    expect(order).toEqual([0, -1, 1, -1, 2, -1, 3])
    expect(bench.times()).toEqual([4000, 5100, 6200, 7300])
    expect(bench.pool.alive).toBe(0)
  })
})
