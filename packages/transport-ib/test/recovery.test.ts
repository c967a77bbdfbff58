import { telemetryAlive } from "@rdmakit/conformance"
import { Flag, Opcode, Packet } from "@rdmakit/packet"
import { NEVER } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { localAckTimeoutPs } from "../src/index.ts"
import { connection, FLIGHT, losing, type Setup } from "./connection.ts"

const TIMEOUT = 100e6

/** Both directions, without the acknowledgements that nothing is to be learnt from. */
const run = (bytes: number, setup: Setup) => {
  const each = connection({ ...setup, config: { ackTimeoutPs: TIMEOUT, ...setup.config } })
  each.write(bytes)
  each.pair.run()
  return each
}

describe("a lost packet", () => {
  it("is told of by one NAK, and sent again with all behind it", () => {
    const { pair, said, told, responder, requester, controller } = run(6000, { path: losing("> WriteMiddle 2 1000 B") })
    expect(said().filter((each) => each.startsWith(">"))).toEqual([
      "> WriteFirst 0 1000 B",
      "> WriteMiddle 1 1000 B",
      "> WriteMiddle 2 1000 B",
      "> WriteMiddle 3 1000 B",
      "> WriteMiddle 4 1000 B",
      "> WriteMiddle 2 1000 B again",
      "> WriteMiddle 3 1000 B again",
      "> WriteMiddle 4 1000 B again",
      "> WriteLast 5 1000 B",
    ])
    expect(said().filter((each) => each.includes("Nak"))).toEqual(["< NakSequence 2"])
    expect(told()).toEqual(["completed 0"])
    expect([responder.bytesReceived, requester.retransmissions]).toEqual([6000, 3])
    expect(controller.calls.filter((call) => call.includes("loss"))).toEqual([`${3144e3 + 2 * FLIGHT} loss nak`])
    // The NAK comes back while packet 4 is still leaving.
    expect(pair.sent.find(({ meta }) => (meta & Flag.Retransmission) !== 0)?.time).toBe(5 * 1048e3)
  })

  it("with recovery by timeouts alone is told of by nobody: all from it on goes again after the timeout", () => {
    const path = losing("> WriteMiddle 2 1000 B")
    const { pair, said, told, controller } = run(6000, { path, config: { recovery: "timeout" } })
    expect(said().filter((each) => each.includes("Nak"))).toEqual([])
    const again = pair.sent.filter(({ meta }) => (meta & Flag.Retransmission) !== 0)
    expect(again.map(({ psn }) => psn)).toEqual([2, 3, 4, 5])
    // Packets 0 and 1 are acknowledged; the timeout counts from the second acknowledgement.
    expect(again[0]!.time).toBe(1048e3 + 2 * FLIGHT + TIMEOUT)
    expect(told()).toEqual(["completed 0"])
    expect(controller.calls.filter((call) => call.includes("loss"))).toEqual([`${again[0]!.time} loss timeout`])
  })

  it("at the beginning: the NAK names it", () => {
    const { said, told } = run(3000, { path: losing("> WriteFirst 0 1000 B") })
    expect(said()).toContain("< NakSequence 0")
    expect(told()).toEqual(["completed 0"])
  })

  it("whose NAK acknowledges what came before it", () => {
    const { controller, told } = run(4000, {
      path: losing("< Acknowledge 0", "< Acknowledge 1", "> WriteMiddle 2 1000 B"),
    })
    expect(controller.acks[0]).toMatchObject({ sequence: 2000, bytes: 2000, sent: 2000 })
    expect(told()).toEqual(["completed 0"])
  })

  it("that is lost again with its gap still open waits for the timeout", () => {
    const path = losing("> WriteMiddle 1 1000 B", "> WriteMiddle 1 1000 B again")
    const { said, told, controller } = run(4000, { path })
    expect(said().filter((each) => each.includes("Nak"))).toEqual(["< NakSequence 1"])
    expect(controller.calls.filter((call) => call.includes("loss")).map((call) => call.split(" ")[2])).toEqual([
      "nak",
      "timeout",
    ])
    expect(told()).toEqual(["completed 0"])
  })

  it("or is told of again after the NAK interval", () => {
    const path = losing("> WriteMiddle 1 1000 B", "> WriteMiddle 1 1000 B again")
    const { pair, said, told, controller } = run(20_000, { path, config: { nakIntervalPs: 5e6 } })
    const naks = pair.sent.filter(({ opcode }) => opcode === Opcode.NakSequence)
    expect(naks.map(({ psn }) => psn)).toEqual([1, 1])
    expect(naks[1]!.time - naks[0]!.time).toBeGreaterThanOrEqual(5e6)
    expect(said().filter((each) => each === "> WriteMiddle 1 1000 B again")).toHaveLength(2)
    expect(controller.calls.some((call) => call.includes("timeout"))).toBe(false)
    expect(told()).toEqual(["completed 0"])
  })

  it("and a NAK that was overtaken tell of no loss", () => {
    // The NAK of packet 1 arrives when all is acknowledged already.
    const { said, told, controller, requester } = run(3000, {
      path: ({ from, ordinal, opcode }) =>
        from === 0 && ordinal === 1 ? [4 * FLIGHT] : [opcode === Opcode.NakSequence ? 200 * FLIGHT : FLIGHT],
    })
    expect(said()).toContain("< NakSequence 1")
    expect(told()).toEqual(["completed 0"])
    expect(controller.calls.filter((call) => call.includes("nak"))).toEqual([])
    expect(requester.finished).toBe(true)
  })
})

// Case B34: the reference has no timeout, and stays silent on duplicates.
describe("a lost tail", () => {
  it.each([
    ["the last packet", "> WriteLast 2 1000 B"],
    ["the last acknowledgement", "< Acknowledge 2"],
    ["the only NAK", "< NakSequence 1"],
  ])("%s: the timeout recovers it", (_name, lost) => {
    for (const ackDuplicates of [true, false]) {
      const first = lost.includes("Nak") ? ["> WriteMiddle 1 1000 B", lost] : [lost]
      const { told, responder, pair, requester } = run(3000, { path: losing(...first), config: { ackDuplicates } })
      expect(told()).toEqual(["completed 0"])
      expect(responder.bytesReceived).toBe(3000)
      expect(pair.now).toBeGreaterThan(TIMEOUT)
      expect([requester.nextTimeout, requester.nextSend]).toEqual([NEVER, NEVER])
    }
  })

  it("the only packet, of no bytes", () => {
    expect(run(0, { path: losing("> WriteOnly 0 0 B") }).told()).toEqual(["completed 0"])
    expect(run(0, { path: losing("< Acknowledge 0") }).told()).toEqual(["completed 0"])
  })

  it("without a timeout is never recovered, as in the reference", () => {
    const { told, pair, requester } = run(3000, {
      path: losing("> WriteLast 2 1000 B"),
      config: { ackTimeoutPs: NEVER },
    })
    expect([told(), pair.next, requester.nextTimeout]).toEqual([[], NEVER, NEVER])
    expect([requester.finished, requester.unacknowledgedPacket, requester.bytesAcknowledged]).toEqual([false, 2, 2000])
  })
})

describe("duplicates", () => {
  const late = (again: boolean) => {
    const { pair, said, told, responder } = connection({
      config: { ackDuplicates: again },
      path: ({ from, ordinal }) => (from === 0 && ordinal === 0 ? [FLIGHT, 50 * FLIGHT] : [FLIGHT]),
    })
    pair.command(0, { message: 0, writeBytes: 3000 })
    pair.run()
    expect([told(), responder.bytesReceived]).toEqual([["completed 0"], 3000])
    return said().filter((each) => each.startsWith("<"))
  }

  it("are answered with all that has come", () => {
    expect(late(true)).toEqual(["< Acknowledge 0", "< Acknowledge 1", "< Acknowledge 2", "< Acknowledge 2"])
  })

  it("or are not", () => {
    expect(late(false)).toEqual(["< Acknowledge 0", "< Acknowledge 1", "< Acknowledge 2"])
  })

  it("are answered in any case when they were sent after a timeout, and then only", () => {
    const { pair, said, told } = run(3000, {
      path: losing("< Acknowledge 0", "< Acknowledge 1", "< Acknowledge 2"),
      config: { ackDuplicates: false },
    })
    expect(said().slice(6)).toEqual([
      "> WriteFirst 0 1000 B again",
      "< Acknowledge 2",
      "> WriteMiddle 1 1000 B again",
      "< Acknowledge 2",
    ])
    const marked = pair.sent.filter(({ meta }) => (meta & Flag.AfterTimeout) !== 0)
    expect(marked).toHaveLength(2)
    expect(told()).toEqual(["completed 0"])
    // What is sent again later, for a gap, is not marked any more.
    pair.command(0, { message: 1, writeBytes: 2000 })
    pair.run()
    expect(pair.sent.filter(({ meta }) => (meta & Flag.AfterTimeout) !== 0)).toHaveLength(2)
  })

  it("of a NAK's making after the timeout's packets were acknowledged are not marked", () => {
    const { pair, told } = run(3000, {
      path: losing("< Acknowledge 0", "< Acknowledge 1", "< Acknowledge 2", "> WriteFirst 3 1000 B"),
    })
    pair.command(0, { message: 1, writeBytes: 3000 })
    pair.run()
    expect(told()).toEqual(["completed 0", "completed 1"])
    const again = pair.sent.filter(
      ({ from, psn, meta }) => from === 0 && psn >= 3 && (meta & Flag.Retransmission) !== 0,
    )
    expect(again.map(({ psn, meta }) => [psn, (meta & Flag.AfterTimeout) !== 0])).toEqual([
      [3, false],
      [4, false],
      [5, false],
    ])
  })
})

describe("a timeout", () => {
  it("counts from the last progress", () => {
    const { pair, requester, write } = connection({
      config: { ackTimeoutPs: TIMEOUT },
      path: losing("> WriteLast 1 1000 B"),
    })
    expect(requester.nextTimeout).toBe(NEVER)
    write(2000)
    expect(requester.nextTimeout).toBe(TIMEOUT)
    pair.run(1.5e6)
    expect(requester.nextTimeout).toBe(TIMEOUT)
    pair.run(2.5e6)
    expect(requester.nextTimeout).toBe(2e6 + TIMEOUT)
    pair.run()
    expect(pair.sent.at(-2)?.time).toBe(2e6 + TIMEOUT)
    expect(requester.nextTimeout).toBe(NEVER)
  })

  it("does not run while nothing is out: a host that may not send for long does not fail", () => {
    const { pool, requester } = connection({ config: { ackTimeoutPs: TIMEOUT, retryCount: 0 } })
    const packet = new Packet(pool).at(pool.alloc())
    requester.command(0, { message: 0, writeBytes: 3000 })
    expect(requester.nextTimeout).toBe(NEVER)
    requester.pollTransmit(1000, packet)
    expect(requester.nextTimeout).toBe(1000 + TIMEOUT)
    // A NAK takes the packet back; a pause then holds everything.
    requester.pollTransmit(2e6, packet)
    packet.meta = Opcode.NakSequence
    packet.psn = 0
    requester.handlePacket(3e6, packet)
    expect([requester.hasData, requester.nextTimeout]).toEqual([true, NEVER])
    requester.pollTransmit(9e9, packet)
    expect(requester.nextTimeout).toBe(9e9 + TIMEOUT)
    expect(requester.pollEvent()).toBeUndefined()
  })

  it("that comes late, or that nobody asked for, does what is due and no more", () => {
    const { pair, requester, write } = connection({ config: { ackTimeoutPs: TIMEOUT }, path: () => [] })
    write(1000)
    requester.handleTimeout(TIMEOUT - 1)
    expect(requester.nextTimeout).toBe(TIMEOUT)
    requester.handleTimeout(3 * TIMEOUT)
    expect([requester.hasData, requester.nextTimeout]).toEqual([true, NEVER])
    requester.handleTimeout(3 * TIMEOUT)
    expect(pair.sent).toHaveLength(1)
  })

  // Case B21.
  it("is 4.096 µs times a power of two", () => {
    expect([14, 18, 20].map((code) => localAckTimeoutPs(code))).toEqual([
      67_108_864_000, 1_073_741_824_000, 4_294_967_296_000,
    ])
    expect(localAckTimeoutPs(0)).toBe(NEVER)
    expect(() => localAckTimeoutPs(32)).toThrow(/timeout code is 32/)
  })
})

describe("a connection whose retries are exceeded", () => {
  const dead = () => {
    // Two packets get through; their acknowledgements, and all that follows, do not.
    const each = connection({
      config: { ackTimeoutPs: TIMEOUT, retryCount: 3, telemetry: true },
      path: ({ from, ordinal }) => (from === 0 && ordinal < 2 ? [FLIGHT] : from === 1 && ordinal === 0 ? [FLIGHT] : []),
    })
    each.write(1500, 0, 4000)
    each.pair.run()
    return each
  }

  it("says so of each message in order, once", () => {
    const { pair, told, controller } = dead()
    expect(told()).toEqual(["failed 0", "flushed 1", "flushed 2"])
    expect(pair.events.map(({ event }) => event.bytes)).toEqual([1000, 0, 0])
    expect(controller.calls.filter((call) => call.includes("loss timeout"))).toHaveLength(3)
    // The first acknowledgement, then four timeouts.
    expect(pair.now).toBe(2e6 + 4 * TIMEOUT)
  })

  it("is silent then: nothing to send, nothing to wait for, nothing left", () => {
    const { pair, pool, requester, write, told } = dead()
    const { length } = pair.sent
    expect([requester.finished, requester.hasData, requester.nextSend, requester.nextTimeout]).toEqual([
      true,
      false,
      NEVER,
      NEVER,
    ])
    write(100, 0)
    pair.run(pair.now + 100 * TIMEOUT)
    expect(told().slice(3)).toEqual(["flushed 3", "flushed 4"])
    expect(pair.sent).toHaveLength(length)
    expect([pool.alive, telemetryAlive(pool)]).toEqual([0, 0])
  })

  it("ignores what arrives, and its timers", () => {
    const { pool, requester, controller, told, pair } = dead()
    const calls = controller.calls.length
    const packet = new Packet(pool).at(pool.alloc())
    for (const [opcode, psn] of [
      [Opcode.Acknowledge, 1],
      [Opcode.NakSequence, 1],
      [Opcode.Cnp, 0],
      [Opcode.WriteOnly, 0],
      [Opcode.WriteOnly, 9],
    ] as const) {
      packet.meta = opcode
      packet.psn = psn
      requester.handlePacket(1e12, packet)
      expect([requester.controlPending, requester.nextTimeout, requester.pollEvent()]).toEqual([
        false,
        NEVER,
        undefined,
      ])
    }
    controller.nextTimer = 1e12
    requester.handleTimeout(2e12)
    expect([controller.calls.length, requester.nextTimeout]).toEqual([calls, NEVER])
    expect([told().length, pair.next]).toEqual([3, NEVER])
  })

  it("fails at the first timeout with a retry count of 0", () => {
    const { pair, told } = run(1000, { path: () => [], config: { retryCount: 0 } })
    expect([told(), pair.now]).toEqual([["failed 0"], TIMEOUT])
  })

  it("does not fail while there is progress", () => {
    // Every packet is lost three times.
    const tries = new Map<number, number>()
    const { told, responder } = run(5000, {
      config: { retryCount: 3 },
      path: ({ from, psn }) => {
        if (from === 1) return [FLIGHT]
        tries.set(psn, (tries.get(psn) ?? 0) + 1)
        return tries.get(psn)! <= 3 ? [] : [FLIGHT]
      },
    })
    expect([told(), responder.bytesReceived]).toEqual([["completed 0"], 5000])
  })
})
