import { Flag, Layout, Opcode, Packet, PSN_MASK, PSN_WINDOW, packetsOf, psnDistance } from "@rdmakit/packet"
import { describe, expect, it } from "vitest"
import { connection } from "./connection.ts"

describe("packets of a message", () => {
  // Case B13.
  it.each([
    [0, 1],
    [1, 1],
    [1023, 1],
    [1024, 1],
    [1025, 2],
    [2 ** 31, 2_097_152],
    [2 ** 32 + 1, 4_194_305],
    [2 ** 53 - 1, 2 ** 43],
  ])("%d bytes at an MTU of 1024 take %d", (bytes, packets) => {
    expect(packetsOf(bytes, 1024)).toBe(packets)
  })

  it.each([
    ["zero bytes, one packet", 0, ["WriteOnly 0 0 B"]],
    ["one byte", 1, ["WriteOnly 0 1 B"]],
    ["a full packet", 1000, ["WriteOnly 0 1000 B"]],
    ["two", 2000, ["WriteFirst 0 1000 B", "WriteLast 1 1000 B"]],
    ["a byte more", 2001, ["WriteFirst 0 1000 B", "WriteMiddle 1 1000 B", "WriteLast 2 1 B"]],
  ])("%s", (_name, bytes, expected) => {
    const { pair, write, said, told, responder } = connection()
    write(bytes)
    pair.run()
    expect(said().filter((each) => each.startsWith(">"))).toEqual(expected.map((each) => `> ${each}`))
    expect(told()).toEqual(["completed 0"])
    expect(responder.bytesReceived).toBe(bytes)
  })

  it("carry what a network and a responder read", () => {
    const { pair, pool, requester, write } = connection({ now: 5e6, config: { ecn: 2, telemetry: true } })
    write(2500)
    const [first, last] = [new Packet(pool).at(pool.alloc()), new Packet(pool).at(pool.alloc())]
    // The pair has polled the first one.
    expect(pair.sent).toMatchObject([{ time: 5e6, wireBytes: 1048, stamp: 5e6 }])
    expect(requester.pollTransmit(6.048e6, first)).toBe(true)
    expect(requester.pollTransmit(7.096e6, last)).toBe(true)
    expect([first.opcode, first.psn, first.payloadBytes, first.wireBytes]).toEqual([Opcode.WriteMiddle, 1, 1000, 1048])
    expect([last.opcode, last.psn, last.payloadBytes, last.wireBytes]).toEqual([Opcode.WriteLast, 2, 500, 548])
    expect([last.source, last.destination, last.priority, last.ecn, last.flow]).toEqual([7, 9, 3, 2, 0])
    expect(last.udpPorts).toBe(10 | (20 << 16))
    expect(last.stamp).toBe(7.096e6)
    expect([first.has(Flag.AckRequest), last.has(Flag.AckRequest), last.has(Flag.Telemetry)]).toEqual([
      false,
      true,
      true,
    ])
    expect(last.telemetryHops).toBe(0)
    expect(last.telemetry).toBeGreaterThanOrEqual(0)
  })

  it("are padded where the framing has a least size", () => {
    const framing = {
      name: "padded",
      dataBytes: 62,
      telemetryBytes: 0,
      leastBytes: 64,
      ackBytes: 64,
      cnpBytes: 64,
      pfcBytes: 64,
    }
    const { pair, write } = connection({ config: { framing } })
    write(1, 2, 3)
    pair.run()
    expect(pair.sent.filter(({ from }) => from === 0).map(({ wireBytes }) => wireBytes)).toEqual([64, 64, 65])
  })

  // Case B36: the reference parses sizes in 32 bits.
  it("more than 4 GiB arrive to the byte", () => {
    const bytes = 2 ** 32 + 2 ** 20 + 7
    const { pair, write, responder } = connection({ config: { mtuBytes: 2 ** 22, pacePs: () => 1e6 } })
    write(bytes)
    pair.run()
    expect(pair.events.map(({ event }) => event)).toMatchObject([{ type: "completed", bytes }])
    expect(responder.bytesReceived).toBe(bytes)
    expect(pair.sent.findLast(({ from }) => from === 0)).toMatchObject({ psn: 1024, payloadBytes: 2 ** 20 + 7 })
  })
})

describe("packet sequence numbers", () => {
  // Case B11.
  it("wrap within a message", () => {
    const { pair, write, said, told } = connection({ psn: 0xfffffe, config: { mtuBytes: 1024 } })
    write(4096, 0)
    pair.run()
    expect(said().filter((each) => each.startsWith(">"))).toEqual([
      `> WriteFirst ${0xfffffe} 1024 B`,
      `> WriteMiddle ${0xffffff} 1024 B`,
      "> WriteMiddle 0 1024 B",
      "> WriteLast 1 1024 B",
      "> WriteOnly 2 0 B",
    ])
    expect(said().filter((each) => each.startsWith("<"))).toEqual(
      [0xfffffe, 0xffffff, 0, 1, 2].map((psn) => `< Acknowledge ${psn}`),
    )
    expect(told()).toEqual(["completed 0", "completed 1"])
  })

  it("are compared modulo 2^24", () => {
    expect(psnDistance(1, 0xffffff)).toBe(2)
    expect(psnDistance(0xffffff, 1)).toBe(-2)
    expect(psnDistance(0x800000, 0)).toBe(-(2 ** 23))
    expect(psnDistance(0x7fffff, 0)).toBe(2 ** 23 - 1)
  })

  it("of which more than 24 bits are given, lose the others", () => {
    const { pair, write, said } = connection({ psn: 0x1000005 })
    write(1)
    pair.run()
    expect(said()).toEqual(["> WriteOnly 5 1 B", "< Acknowledge 5"])
  })

  it("start over in a message of more than 2^24 packets", () => {
    const { pair, requester, responder, said, told, write } = connection({ config: { mtuBytes: 1 } })
    const done = 2 ** 24 - 2
    // As if all but the last six had been sent already.
    Object.assign(requester, { una: done, nxt: done, highest: done, ackedBytes: done, sentBytes: done, limit: done })
    Object.assign(responder, { expected: done, receivedBytes: done })
    write(2 ** 24 + 4)
    pair.run()
    const psns = [0xfffffe, 0xffffff, 0, 1, 2, 3]
    expect(said().filter((each) => each.startsWith("<"))).toEqual(psns.map((psn) => `< Acknowledge ${psn}`))
    expect(said().filter((each) => each.startsWith(">"))).toEqual(
      psns.map((psn) => `> ${psn === 3 ? "WriteLast" : "WriteMiddle"} ${psn} 1 B`),
    )
    expect(told()).toEqual(["completed 0"])
    expect(responder.bytesReceived).toBe(2 ** 24 + 4)
  })

  it("are never out in such numbers that two could be mistaken for each other", () => {
    const { pool, requester } = connection({ config: { mtuBytes: 1, pacePs: () => 0 } })
    requester.command(0, { message: 0, writeBytes: 2 ** 25 })
    const sent = PSN_WINDOW - 3
    Object.assign(requester, { nxt: sent, highest: sent, sentBytes: sent })
    const out = new Packet(pool)
    const poll = (): boolean => {
      const handle = pool.alloc()
      const polled = requester.pollTransmit(0, out.at(handle))
      pool.release(handle)
      return polled
    }
    expect([poll(), poll(), poll(), poll()]).toEqual([true, true, true, false])
    expect([requester.hasData, requester.finished]).toEqual([false, false])
    // An acknowledgement of the first two makes room for as many.
    const ack = out.at(pool.alloc())
    ack.meta = Opcode.Acknowledge
    ack.psn = 1
    requester.handlePacket(0, ack)
    pool.release(ack.handle)
    expect([poll(), poll(), poll()]).toEqual([true, true, false])
    expect(out.pool.words[(out.handle << Layout.RECORD_SHIFT) + Layout.PSN]! & ~PSN_MASK).toBe(0)
  })
})
