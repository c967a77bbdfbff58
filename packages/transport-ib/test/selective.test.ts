import { telemetryAlive } from "@rdmakit/conformance"
import { Flag, Layout, Opcode, PacketSet } from "@rdmakit/packet"
import { NEVER } from "@rdmakit/protocol"
import { uniform } from "@rdmakit/units"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { connection, FLIGHT, losing, type Setup } from "./connection.ts"

const RTO_LOW = 100e6
const RTO_HIGH = 320e6
/** A full packet at 8 Gb/s. */
const PACKET = 1048e3

const run = (bytes: number, setup: Setup = {}) => {
  const each = connection({ ...setup, config: { recovery: "selective-repeat", bdpPackets: 20, ...setup.config } })
  each.write(bytes)
  each.pair.run()
  const data = each.said().filter((words) => words.startsWith(">"))
  return { ...each, data, numbers: data.map((words) => words.replace(/^> \w+ (\d+) \d+ B/, "$1")) }
}

const losses = (calls: ReadonlyArray<string>) => calls.filter((call) => call.includes("loss"))

describe("a lost packet", () => {
  it("alone is sent again; each packet behind it is told of by a NAK", () => {
    const { numbers, said, told, requester, responder, controller, pair } = run(6000, {
      path: losing("> WriteMiddle 2 1000 B"),
    })
    expect(numbers).toEqual(["0", "1", "2", "3", "4", "2 again", "5"])
    expect(said().filter((words) => words.startsWith("<"))).toEqual([
      "< Acknowledge 0",
      "< Acknowledge 1",
      "< NakSequence 2",
      "< NakSequence 2",
      "< Acknowledge 4",
      "< Acknowledge 5",
    ])
    // Packet 3 leaves after three others, and its NAK is back while packet 4 is still leaving.
    expect(losses(controller.calls)).toEqual([`${3 * PACKET + 2 * FLIGHT} loss nak`])
    expect(pair.sent.find(({ meta }) => (meta & Flag.Retransmission) !== 0)?.time).toBe(5 * PACKET)
    expect([requester.retransmissions, responder.bytesReceived]).toEqual([1, 6000])
    expect(told()).toEqual(["completed 0"])
  })

  it("and another: each is sent again once one behind it has come", () => {
    const { numbers, told, controller } = run(6000, {
      path: losing("> WriteMiddle 1 1000 B", "> WriteMiddle 3 1000 B"),
    })
    expect(numbers).toEqual(["0", "1", "2", "3", "1 again", "4", "5", "3 again"])
    expect(losses(controller.calls)).toHaveLength(1)
    expect(told()).toEqual(["completed 0"])
  })

  it("is named by a NAK that carries the PSN that came", () => {
    const sacks: Array<ReadonlyArray<number>> = []
    run(5000, {
      psn: 0xfffffe,
      path: losing("> WriteMiddle 16777215 1000 B"),
      onArrival: (_now, packet) => {
        if (packet.opcode !== Opcode.NakSequence) return
        const at = packet.extend()
        const { extension } = packet.pool
        sacks.push([packet.psn, extension[at + Layout.EXT.sackBase]!, extension[at + Layout.EXT.sackBits]!])
      },
    })
    expect(sacks).toEqual([
      [0xffffff, 0, 1],
      [0xffffff, 1, 1],
    ])
  })

  it("that is lost again waits for the timeout", () => {
    const path = losing("> WriteMiddle 1 1000 B", "> WriteMiddle 1 1000 B again")
    const { numbers, controller, told } = run(4000, { path })
    expect(numbers.filter((number) => number.startsWith("1"))).toEqual(["1", "1 again", "1 again"])
    expect(losses(controller.calls).map((call) => call.split(" ")[2])).toEqual(["nak", "timeout"])
    expect(told()).toEqual(["completed 0"])
  })

  it("is sent again though the controller's window is full", () => {
    const { told, controller, requester } = run(4000, {
      path: losing("> WriteFirst 0 1000 B"),
      fixed: { window: 2000 },
    })
    expect(told()).toEqual(["completed 0"])
    expect(losses(controller.calls)).toHaveLength(1)
    expect(requester.retransmissions).toBe(1)
  })
})

describe("timeouts", () => {
  const first = (pair: ReturnType<typeof run>["pair"]) =>
    pair.sent.find(({ meta }) => (meta & Flag.Retransmission) !== 0)?.time

  it("come after RTO_low with three packets in flight, after RTO_high with four", () => {
    const losingAll = (packets: number) =>
      run(packets * 1000, { path: ({ from, ordinal }) => (from === 0 && ordinal < packets ? [] : [FLIGHT]) })
    expect(first(losingAll(1).pair)).toBe(RTO_LOW)
    expect(first(losingAll(3).pair)).toBe(RTO_LOW)
    expect(first(losingAll(4).pair)).toBe(RTO_HIGH)
    expect(first(losingAll(10).pair)).toBe(RTO_HIGH)
  })

  it("cost one for a lost burst at the end, whatever its length", () => {
    const { numbers, controller } = run(6000, {
      path: ({ from, ordinal }) => (from === 0 && ordinal >= 2 && ordinal < 6 ? [] : [FLIGHT]),
    })
    expect(numbers).toEqual(["0", "1", "2", "3", "4", "5", "2 again", "3 again", "4 again", "5 again"])
    expect(losses(controller.calls).map((call) => call.split(" ")[2])).toEqual(["timeout"])
  })

  it("end a connection after the retries there are", () => {
    const { told, pair, requester } = run(1000, { path: () => [], config: { retryCount: 2 } })
    expect(told()).toEqual(["failed 0"])
    expect(pair.now).toBe(3 * RTO_LOW)
    expect([requester.nextTimeout, requester.nextSend, requester.finished]).toEqual([NEVER, NEVER, true])
  })
})

describe("packets in flight", () => {
  it("are the bandwidth-delay product of the path at most", () => {
    // 8 Gb/s · 2 µs are 2,000 bytes.
    const { data } = run(10_000, { path: () => [], config: { bdpPackets: undefined as never, retryCount: 0 } })
    expect(data).toHaveLength(2)
  })

  it("or as many as are asked for, counted from the oldest unacknowledged one", () => {
    const { pair } = run(50_000, { config: { bdpPackets: 5 }, path: losing("> WriteMiddle 7 1000 B") })
    let acked = 0
    for (const { from, psn, opcode, meta } of pair.sent) {
      if (from === 1) acked = Math.max(acked, opcode === Opcode.NakSequence ? psn : psn + 1)
      else if ((meta & Flag.Retransmission) === 0) expect(psn - acked).toBeLessThan(5)
    }
  })
})

it("packets that overtake each other cost a packet sent again each, not all behind it", () => {
  // Every tenth packet takes two packets' time longer.
  const { requester, responder, told } = run(100_000, {
    path: ({ from, ordinal }) => [from === 0 && ordinal % 10 === 5 ? FLIGHT + 2 * PACKET : FLIGHT],
  })
  expect(told()).toEqual(["completed 0"])
  expect(responder.bytesReceived).toBe(100_000)
  expect(requester.retransmissions).toBeLessThanOrEqual(11)
})

it("whatever is lost, duplicated or overtaken, every byte arrives once, and nothing is left", () => {
  const network = fc.record({
    seed: fc.integer(),
    loss: fc.constantFrom(0, 0.01, 0.1, 0.3),
    duplicate: fc.constantFrom(0, 0.1, 0.5),
    jitter: fc.constantFrom(0, 1, 10, 30),
  })
  const options = fc.record({
    mtuBytes: fc.constantFrom(7, 50, 100, 1000),
    ackEvery: fc.constantFrom(1, 2, 5),
    bdpPackets: fc.constantFrom(1, 3, 20, 100),
    ackTimeoutPs: fc.constantFrom(10e6, 100e6),
    telemetry: fc.boolean(),
    repace: fc.boolean(),
  })
  const sizes = fc.array(fc.constantFrom(0, 1, 6, 7, 8, 99, 100, 101, 350), { minLength: 1, maxLength: 10 })
  fc.assert(
    fc.property(network, options, sizes, fc.constantFrom(1, 150, Infinity), fc.nat(2 ** 24 - 1), (...given) => {
      const [{ seed, loss, duplicate, jitter }, config, messages, window, psn] = given
      let draws = 0
      const draw = (): number => uniform(seed, 0, draws++)
      const delay = (): number => FLIGHT + Math.floor(draw() * jitter * FLIGHT)
      const arrived = new Set<number>()
      let bytes = 0
      const { pair, pool, requester, responder, write, told } = connection({
        psn,
        config: { ...config, recovery: "selective-repeat", retryCount: 1000 },
        fixed: { window },
        path: () => (draw() < loss ? [] : draw() < duplicate ? [delay(), delay()] : [delay()]),
        onArrival: (_now, packet, to) => {
          if (responder.bytesReceived !== bytes) throw new Error(`${responder.bytesReceived} bytes, not ${bytes}`)
          if (to === 0 || packet.opcode >= Opcode.Acknowledge || arrived.has(packet.psn)) return
          arrived.add(packet.psn)
          bytes += packet.payloadBytes
        },
      })
      write(...messages)
      pair.run()
      const total = messages.reduce<number>((sum, size) => sum + size, 0)
      expect([responder.bytesReceived, requester.bytesAcknowledged, requester.finished]).toEqual([total, total, true])
      expect(told()).toEqual(messages.map((_, message) => `completed ${message}`))
      expect([pool.alive, telemetryAlive(pool), pair.next]).toEqual([0, 0, NEVER])
    }),
    { numRuns: 100 },
  )
})

it("a set of packet numbers forgets what leaves its window", () => {
  const set = new PacketSet(40)
  for (const number of [5, 44]) set.add(number)
  expect([4, 5, 43, 44].map((number) => set.has(number))).toEqual([false, true, false, true])
  set.delete(5)
  // 64 bits: 69 falls where 5 was.
  expect(set.has(69)).toBe(false)
})
