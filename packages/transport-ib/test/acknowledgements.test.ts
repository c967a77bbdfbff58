import { telemetryAlive } from "@rdmakit/conformance"
import { Ecn, Flag, Layout, Opcode, Packet } from "@rdmakit/packet"
import { NEVER } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { connection, FLIGHT, losing } from "./connection.ts"

const answers = (said: ReadonlyArray<string>): ReadonlyArray<string> => said.filter((each) => each.startsWith("<"))

describe("acknowledgements", () => {
  it("come one for each packet, of the packet's number", () => {
    const { pair, write, said } = connection()
    write(3000, 0)
    pair.run()
    expect(answers(said())).toEqual(["< Acknowledge 0", "< Acknowledge 1", "< Acknowledge 2", "< Acknowledge 3"])
    expect(pair.sent.find(({ from }) => from === 1)).toMatchObject({ time: FLIGHT, wireBytes: 60, payloadBytes: 0 })
  })

  it("come for every n-th packet, and for the last of a message", () => {
    const { pair, write, said, told } = connection({ config: { ackEvery: 3 } })
    write(8000, 1000)
    pair.run()
    expect(answers(said())).toEqual(["< Acknowledge 2", "< Acknowledge 5", "< Acknowledge 7", "< Acknowledge 8"])
    expect(told()).toEqual(["completed 0", "completed 1"])
  })

  it("come for a packet that fills the window, however many are waited for", () => {
    const { pair, write, said } = connection({
      config: { ackEvery: 100, ackTimeoutPs: NEVER },
      fixed: { window: 2000 },
    })
    write(5000)
    pair.run()
    expect(answers(said())).toEqual(["< Acknowledge 1", "< Acknowledge 3", "< Acknowledge 4"])
  })

  it.each([
    ["once enough has come in all", 2500, 0, ["2", "3", "4", "5"]],
    ["at multiples of the chunk", 1e9, 2000, ["1", "3", "5"]],
    ["of nothing but what is sent again after a timeout, and a message of zero bytes", 1e9, 0, ["5", "5"]],
  ])("come by the ns-3 rule %s", (_name, ns3AckBytes, ns3AckChunkBytes, expected) => {
    const { pair, write, said } = connection({ config: { ns3AckBytes, ns3AckChunkBytes } })
    write(6000)
    pair.run()
    expect(answers(said())).toEqual(expected.map((psn) => `< Acknowledge ${psn}`))
  })

  it("come for zero bytes by the ns-3 rule, timeout or not", () => {
    const { pair, write, told } = connection({ config: { ns3AckBytes: 1, ns3AckChunkBytes: 0, ackTimeoutPs: NEVER } })
    write(0)
    pair.run()
    expect(told()).toEqual(["completed 0"])
  })

  it("complete several messages at once, in order", () => {
    const { pair, write, told } = connection({ path: losing("< Acknowledge 0", "< Acknowledge 1", "< Acknowledge 2") })
    write(0, 10, 1000, 2500)
    pair.run()
    expect(told()).toEqual(["completed 0", "completed 1", "completed 2", "completed 3"])
    expect(new Set(pair.events.slice(0, 3).map(({ time }) => time)).size).toBe(1)
    expect(pair.events.map(({ event }) => event.bytes)).toEqual([0, 10, 1000, 2500])
  })

  it("that are older than what is acknowledged move nothing back", () => {
    // The first acknowledgement is overtaken by the two behind it.
    const { pair, write, controller, told } = connection({
      path: ({ from, ordinal }) => [from === 1 && ordinal === 0 ? 10 * FLIGHT : FLIGHT],
    })
    write(3500)
    pair.run()
    expect(told()).toEqual(["completed 0"])
    expect(controller.acks.map(({ sequence, bytes, sent }) => [sequence, bytes, sent])).toEqual([
      [2000, 2000, 3000],
      [3000, 1000, 3500],
      [3500, 500, 3500],
      // Its own offset, in full packets: the exact one has left with its message.
      [500, 0, 3500],
    ])
  })

  it("of packets that were never sent are ignored", () => {
    const { pair, pool, requester, controller, write } = connection()
    write(5000)
    const packet = new Packet(pool).at(pool.alloc())
    packet.meta = Opcode.Acknowledge
    packet.psn = 3
    requester.handlePacket(0, packet)
    pool.release(packet.handle)
    expect([requester.unacknowledgedPacket, controller.acks.length]).toEqual([0, 0])
    pair.run()
    expect(pair.events).toHaveLength(1)
  })

  it("repeat the congestion mark of their packet, and only that", () => {
    const { pair, write, controller } = connection({
      config: { ecn: Ecn.Capable0 },
      onWay: (packet, { from, ordinal }) => {
        if (from === 0 && ordinal === 1) packet.ecn = Ecn.Experienced
      },
    })
    write(3000)
    pair.run()
    expect(controller.acks.map(({ congestion }) => congestion)).toEqual([false, true, false])
    expect(pair.sent.filter(({ meta }) => (meta & Flag.CongestionEcho) !== 0)).toMatchObject([{ from: 1, psn: 1 }])
    expect(pair.sent.filter(({ from }) => from === 1).map(({ meta }) => (meta >>> 28) & 3)).toEqual([0, 0, 0])
  })

  it("repeat the time stamp of their packet: a round trip", () => {
    const { pair, write, controller } = connection({
      path: ({ from, ordinal }) => [from === 0 ? FLIGHT : (ordinal + 2) * FLIGHT],
    })
    write(3000)
    pair.run()
    expect(controller.acks.map(({ rttPs }) => rttPs / FLIGHT)).toEqual([3, 4, 5])
  })

  it("answer by the way the packet came, with the ports turned round", () => {
    const arrived: Array<unknown> = []
    const { pair, write } = connection({
      onArrival: (_now, packet, to) =>
        arrived.push([
          to,
          packet.source,
          packet.destination,
          packet.udpPorts & 0xffff,
          packet.udpPorts >>> 16,
          packet.flow,
        ]),
    })
    write(1)
    pair.run()
    expect(arrived).toEqual([
      [1, 7, 9, 10, 20, 0],
      [0, 9, 7, 20, 10, 1],
    ])
  })
})

describe("telemetry", () => {
  it("goes back with the acknowledgement, and out of the pool when it has arrived", () => {
    const { pair, pool, write, controller } = connection({
      config: { telemetry: true },
      onWay: (packet, { from, ordinal }) => {
        if (from === 0) packet.stampHop(100 + ordinal, 5000 * ordinal, 70, 1, 0x123)
        if (from === 0 && ordinal === 1) packet.stampHop(200, 1, 2, 0, 0x456)
      },
    })
    write(3000)
    pair.run()
    expect(controller.acks.map(({ hops, pathId }) => [hops, pathId])).toEqual([
      [1, 0x123],
      [2, 0x123 ^ 0x456],
      [1, 0x123],
    ])
    expect([...controller.acks[1]!.telemetry]).toEqual([101, 5000, 70, 2e9, 200, 1, 2, 1e9])
    expect([...controller.acks[2]!.telemetry.subarray(0, 4)]).toEqual([102, 10_000, 70, 2e9])
    expect([pool.alive, telemetryAlive(pool)]).toEqual([0, 0])
  })

  it("is the same block there and back, and is not stamped on the way back", () => {
    const blocks: Array<number> = []
    const { pair, write } = connection({
      config: { telemetry: true },
      onArrival: (_now, packet, to) => {
        blocks.push(packet.telemetry & 0xffffff)
        expect(packet.has(Flag.Telemetry)).toBe(to === 1)
      },
    })
    write(1)
    pair.run()
    expect(blocks).toHaveLength(2)
    expect(blocks[0]).toBe(blocks[1])
  })

  it("of a packet nobody answers leaves with it", () => {
    const { pair, pool, write } = connection({ config: { telemetry: true, ackEvery: 4 } })
    write(7000)
    pair.run()
    expect([pool.alive, telemetryAlive(pool)]).toEqual([0, 0])
  })

  it("of an answer that was not fetched before the next one is given back", () => {
    const { pool, requester, responder } = connection({ config: { telemetry: true } })
    requester.command(0, { message: 0, writeBytes: 2000 })
    const packet = new Packet(pool)
    for (const now of [0, 2e6]) {
      requester.pollTransmit(now, packet.at(pool.alloc()))
      responder.handlePacket(now, packet)
      pool.release(packet.handle)
    }
    expect([pool.alive, telemetryAlive(pool)]).toEqual([0, 1])
    responder.pollTransmit(2e6, packet.at(pool.alloc()))
    expect([packet.psn, responder.controlPending]).toEqual([1, false])
    pool.release(packet.handle)
    expect([pool.alive, telemetryAlive(pool)]).toEqual([0, 0])
  })

  it("that is missing is no path", () => {
    const { pair, write, controller } = connection({
      config: { telemetry: true },
      onWay: (packet, { from, ordinal }) => {
        if (from === 0 && ordinal === 0) packet.stampHop(1, 1, 1, 1, 0x123)
      },
    })
    write(2000)
    pair.run()
    expect(controller.acks.map(({ hops, pathId }) => [hops, pathId])).toEqual([
      [1, 0x123],
      [0, 0],
    ])
  })
})

describe("pollTransmit", () => {
  it("leaves a packet alone that it does not send", () => {
    const { pool, requester, responder } = connection({ config: { telemetry: true } })
    const packet = new Packet(pool).at(pool.alloc())
    const base = packet.handle << Layout.RECORD_SHIFT
    const before = pool.words.slice(base, base + Layout.RECORD_WORDS)
    expect([requester.pollTransmit(0, packet), responder.pollTransmit(0, packet)]).toEqual([false, false])
    requester.command(5, { message: 0, writeBytes: 5000 })
    expect(requester.pollTransmit(4, packet)).toBe(false)
    expect(pool.words.slice(base, base + Layout.RECORD_WORDS)).toEqual(before)
    expect(telemetryAlive(pool)).toBe(0)
  })
})
