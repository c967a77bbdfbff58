import { Opcode, Packet } from "@rdmakit/packet"
import { NEVER, type Time } from "@rdmakit/protocol"
import { ns3TxNanoseconds } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { connection, FLIGHT, LINE_RATE_BPS, type Setup } from "./connection.ts"

/** A full packet at line rate, ps: 1,048 bytes at 8 Gb/s. */
const PACKET: Time = 1048e3

/** A connection with everything that leaves held back: the test plays the network. */
const held = (setup: Setup = {}) => {
  const { pool, requester, controller } = connection(setup)
  const packet = new Packet(pool).at(pool.alloc())
  return {
    requester,
    controller,
    packet,
    write: (now: Time, ...sizes: ReadonlyArray<number>): void => {
      for (const writeBytes of sizes) requester.command(now, { message: 0, writeBytes })
    },
    /** Polls once, and says whether something left. */
    poll: (now: Time): boolean => requester.pollTransmit(now, packet),
    receive: (now: Time, opcode: number, psn: number): void => {
      packet.meta = opcode
      packet.psn = psn
      requester.handlePacket(now, packet)
    },
  }
}

describe("pacing", () => {
  it("keeps the next packet a serialization time away, at the controller's rate", () => {
    const { pair, write } = connection({ fixed: { rate: LINE_RATE_BPS / 4 } })
    write(2500)
    pair.run()
    const times = pair.sent.filter(({ from }) => from === 0).map(({ time }) => time)
    expect(times).toEqual([0, 4 * PACKET, 8 * PACKET])
  })

  it("says when the next packet may leave, and sends none before", () => {
    const { requester, write, poll } = held({ now: 7e6 })
    expect([requester.nextSend, poll(8e6)]).toEqual([NEVER, false])
    write(9e6, 2000)
    expect(requester.nextSend).toBe(9e6)
    expect([poll(9e6), poll(9e6)]).toEqual([true, false])
    expect(requester.nextSend).toBe(9e6 + PACKET)
    expect([poll(9e6 + PACKET - 1), poll(9e6 + PACKET)]).toEqual([false, true])
    expect([requester.nextSend, requester.hasData]).toEqual([NEVER, false])
  })

  it("counts from when the packet left, not from when it might have", () => {
    const { requester, write, poll } = held()
    write(0, 2000)
    poll(5e6)
    expect(requester.nextSend).toBe(5e6 + PACKET)
  })

  it("takes its arithmetic from the configuration", () => {
    const { requester, write, poll } = held({
      config: { pacePs: (b, r) => ns3TxNanoseconds(b, r) * 1000 },
      fixed: { rate: 100e9 },
    })
    write(0, 2000)
    poll(0)
    // 83.84 ns, cut to whole nanoseconds.
    expect(requester.nextSend).toBe(83e3)
  })

  it("starts anew with work after a pause, but not before the last packet's time", () => {
    const { requester, write, poll, receive } = held({ fixed: { rate: LINE_RATE_BPS / 10 } })
    write(0, 1000)
    poll(0)
    receive(2e6, Opcode.Acknowledge, 0)
    expect(requester.finished).toBe(true)
    write(3e6, 1000)
    expect(requester.nextSend).toBe(10 * PACKET)
    poll(10 * PACKET)
    receive(50e6, Opcode.Acknowledge, 1)
    write(80e6, 1000)
    expect(requester.nextSend).toBe(80e6)
  })
})

describe("a change of rate", () => {
  const change = (config: Setup["config"]) => {
    const { requester, controller, write, poll, receive } = held({ config: config ?? {} })
    write(0, 5000)
    poll(0)
    poll(PACKET)
    controller.acts = true
    controller.rate = LINE_RATE_BPS / 8
    receive(1.5e6, Opcode.Acknowledge, 0)
    return { requester, controller, poll, receive }
  }

  it("moves the next packet by the difference of the last one's times, later or sooner", () => {
    const { requester, controller, receive } = change({ repace: true })
    expect(requester.nextSend).toBe(PACKET + 8 * PACKET)
    expect(requester.rateChanged).toBe(true)
    controller.rate = LINE_RATE_BPS / 2
    receive(2e6, Opcode.Acknowledge, 0)
    expect(requester.nextSend).toBe(PACKET + 2 * PACKET)
    // A law that ran and kept its rate moves nothing.
    receive(2e6, Opcode.Acknowledge, 0)
    expect(requester.nextSend).toBe(PACKET + 2 * PACKET)
    expect(requester.controllerActions).toBe(3)
  })

  it("or holds from the packet after", () => {
    const { requester, poll } = change({ repace: false })
    expect([requester.nextSend, requester.rateChanged]).toEqual([2 * PACKET, false])
    poll(2 * PACKET)
    expect(requester.nextSend).toBe(2 * PACKET + 8 * PACKET)
  })

  it("is no pacing where the rate does not bind: packets go at line rate", () => {
    const { pair, write } = connection({ config: { rateBound: false }, fixed: { rate: LINE_RATE_BPS / 100 } })
    write(3000)
    pair.run()
    expect(pair.sent.filter(({ from }) => from === 0).map(({ time }) => time)).toEqual([0, PACKET, 2 * PACKET])
  })

  it("before anything was sent moves nothing", () => {
    const { requester, controller, receive, write } = held()
    write(0, 1000)
    controller.acts = true
    controller.rate = 1e6
    receive(0, Opcode.Cnp, 0)
    expect([requester.nextSend, requester.rateChanged]).toEqual([0, false])
  })
})

describe("the window", () => {
  it("holds back what would be more than it in flight, in bytes of payload; by one packet it may overshoot", () => {
    const { requester, write, poll, receive } = held({ fixed: { window: 2500 }, config: { pacePs: () => 0 } })
    write(0, 10_000)
    expect([poll(0), poll(0), poll(0), poll(0)]).toEqual([true, true, true, false])
    expect([requester.windowBound, requester.hasData, requester.nextSend]).toEqual([true, true, NEVER])
    receive(1e6, Opcode.Acknowledge, 0)
    expect([requester.windowBound, requester.nextSend]).toEqual([false, 0])
    expect([poll(1e6), poll(1e6)]).toEqual([true, false])
  })

  it("always lets one packet out", () => {
    const { pair, write, told } = connection({ fixed: { window: 1 } })
    write(3500)
    pair.run()
    expect(told()).toEqual(["completed 0"])
    const times = pair.sent.filter(({ from }) => from === 0).map(({ time }) => time)
    expect(times).toEqual([0, 2 * FLIGHT, 4 * FLIGHT, 6 * FLIGHT])
  })

  it("is empty again after the requester went back", () => {
    const { requester, write, poll, receive } = held({ fixed: { window: 2000 }, config: { pacePs: () => 0 } })
    write(0, 10_000)
    poll(0)
    poll(0)
    expect(requester.windowBound).toBe(true)
    receive(1e6, Opcode.NakSequence, 0)
    expect([requester.windowBound, requester.nextSend]).toEqual([false, 0])
  })
})

describe("the controller", () => {
  it("hears of what was sent, acknowledged and lost, in order", () => {
    const { controller, write, poll, receive } = held()
    write(0, 2500)
    poll(0)
    poll(PACKET)
    receive(3e6, Opcode.Acknowledge, 0)
    receive(4e6, Opcode.NakSequence, 1)
    expect(controller.calls).toEqual([
      "0 sent 1000",
      "1048000 sent 1000",
      "3000000 ack 1000",
      "4000000 ack 1000",
      "4000000 loss nak",
    ])
    expect(controller.acks[1]).toMatchObject({ bytes: 0, sent: 1000 })
  })

  it("hears of congestion notifications", () => {
    const { controller, requester, receive } = held()
    receive(5, Opcode.Cnp, 0)
    expect([controller.calls, requester.controllerActions, controller.acks]).toEqual([["5 cnp"], 0, []])
    controller.acts = true
    receive(6, Opcode.Cnp, 0)
    expect(requester.controllerActions).toBe(1)
  })

  it("has its timer: nextTimeout is the earlier of the two", () => {
    const { controller, requester, write, poll, receive } = held({ config: { ackTimeoutPs: 100e6 } })
    write(0, 3000)
    poll(0)
    expect(requester.nextTimeout).toBe(100e6)
    // Set on an acknowledgement, a notification or a packet sent, whether the law ran or not.
    controller.nextTimer = 50e6
    receive(1e6, Opcode.Cnp, 0)
    expect(requester.nextTimeout).toBe(50e6)
    controller.nextTimer = 40e6
    poll(2e6)
    expect(requester.nextTimeout).toBe(40e6)
    controller.nextTimer = 300e6
    receive(3e6, Opcode.Acknowledge, 0)
    expect(requester.nextTimeout).toBe(103e6)
    controller.nextTimer = 60e6
    receive(4e6, Opcode.Acknowledge, 1)
    expect(requester.nextTimeout).toBe(60e6)
    requester.handleTimeout(60e6)
    expect(controller.calls.filter((call) => call.includes("timer"))).toEqual(["60000000 timer"])
    // Packets 0 and 1 are acknowledged, packet 2 has not been sent: no timeout but the controller's.
    expect(requester.nextTimeout).toBe(NEVER)
  })

  it("and the acknowledgement may time out at one moment", () => {
    const { controller, requester, write, poll } = held({ config: { ackTimeoutPs: 100e6 } })
    write(0, 1000)
    controller.nextTimer = 100e6
    poll(0)
    requester.handleTimeout(100e6)
    expect(controller.calls.slice(1)).toEqual(["100000000 timer", "100000000 loss timeout"])
    expect(poll(100e6)).toBe(true)
  })

  it("with a timer from the beginning is asked for it", () => {
    const { pair, requester } = connection({ fixed: { timer: 30 } })
    expect(requester.nextTimeout).toBe(30)
    pair.run()
    expect([pair.now, requester.nextTimeout]).toEqual([30, NEVER])
  })
})
