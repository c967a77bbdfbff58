import type { Crossing } from "@rdmakit/conformance"
import { Ecn, Opcode } from "@rdmakit/packet"
import type { ControllerFactory } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type TcpTransportOptions, tcpFraming } from "../src/index.ts"
import { connect, fixedWindow } from "./connection.ts"

const MS = 1e9
const US = 1e6

/** Loses the data packets whose ordinals are given, and no other. */
const losing = (...ordinals: ReadonlyArray<number>) => {
  let data = 0
  return ({ opcode }: Crossing): ReadonlyArray<number> =>
    opcode < Opcode.Acknowledge && ordinals.includes(data++) ? [] : [10 * US]
}

/** A window that a timeout leaves a segment of. */
const oneAfterTimeout = (first: number): ControllerFactory => {
  const inner = fixedWindow(first)
  return {
    ...inner,
    make: (now, path) => {
      const controller = { ...inner.make(now, path), window: first }
      controller.onLoss = (_now, timeout) => {
        if (timeout) controller.window = path.mtuBytes
        return timeout
      }
      return controller
    },
  }
}

const dataOf = (sent: ReadonlyArray<Crossing>) => sent.filter(({ opcode }) => opcode < Opcode.Acknowledge)

describe("acknowledgements (RFC 5681 §4.2)", () => {
  it("answer every second segment, the end of a message at once, and anything after 40 ms", () => {
    const { pair } = connect({ options: { controller: fixedWindow(5000), quickAcks: 0 } })
    pair.command(0, { message: 0, writeBytes: 5000 })
    pair.run()
    const acks = pair.sent.filter(({ opcode }) => opcode === Opcode.Acknowledge)
    expect(acks.map(({ psn }) => psn)).toEqual([2, 4, 5])
    // A segment of a message of two that comes alone: the window has room for one.
    const lone = connect({ options: { controller: fixedWindow(1000), quickAcks: 0 } })
    lone.pair.command(0, { message: 0, writeBytes: 2000 })
    lone.pair.run()
    const times = lone.pair.sent.filter(({ opcode }) => opcode === Opcode.Acknowledge).map(({ time }) => time)
    expect(times).toEqual([10 * US + 40 * MS, expect.any(Number)])
  })

  it.each(["ecn", "cnp", "int", "pint"] as const)("answer each segment where the controller needs %s", (need) => {
    // A window without room for two: by delayed acknowledgements ten segments would take 360 ms.
    const controller: ControllerFactory = { ...fixedWindow(1500), needs: ["rtt", need] }
    const finish = (options: Partial<TcpTransportOptions>): number => {
      const { pair } = connect({ options: { controller, quickAcks: 0, telemetry: false, ...options } })
      pair.command(0, { message: 0, writeBytes: 10_000 })
      pair.run()
      return pair.events[0]!.time
    }
    expect(finish({})).toBeLessThan(10 * 21 * US)
    expect(finish({ ackEvery: 2 })).toBeGreaterThan(360 * MS)
  })

  it("echo a mark at once", () => {
    const { pair } = connect({
      options: { controller: fixedWindow(9000), ecn: Ecn.Capable0, quickAcks: 0 },
      onWay: (packet, { psn, opcode }) => {
        if (opcode < Opcode.Acknowledge && psn === 2) packet.ecn = Ecn.Experienced
      },
    })
    pair.command(0, { message: 0, writeBytes: 6000 })
    pair.run()
    const acks = pair.sent.filter(({ opcode }) => opcode === Opcode.Acknowledge)
    expect(acks.map(({ psn, meta }) => [psn, (meta >> 9) & 1])).toEqual([
      [2, 0],
      [3, 1],
      [5, 0],
      [6, 0],
    ])
  })
})

describe("acknowledgements that do not wait (Linux's quick acknowledgements)", () => {
  it("are the first sixteen of a connection", () => {
    const { pair } = connect({ options: { controller: fixedWindow(40_000) } })
    pair.command(0, { message: 0, writeBytes: 24_000 })
    pair.run()
    const acks = pair.sent.filter(({ opcode }) => opcode === Opcode.Acknowledge).map(({ psn }) => psn)
    expect(acks).toEqual([...Array.from({ length: 16 }, (_, index) => index + 1), 18, 20, 22, 24])
  })

  it("and those after a silence as long as a timeout: a sender with one segment goes on at once", () => {
    // The window is a segment after the timeout, and stays: eight are sent again, one by one.
    const lastAt = (quickAcks: number): number => {
      const { ends, pair } = connect({
        options: { controller: oneAfterTimeout(30_000), quickAcks, lossDetection: "sack" },
        path: losing(...Array.from({ length: 8 }, (_, index) => 22 + index)),
      })
      pair.command(0, { message: 0, writeBytes: 30_000 })
      pair.run()
      expect([ends[0].timeouts, ends[1].bytesReceived]).toEqual([1, 30_000])
      return pair.events[0]!.time
    }
    expect(lastAt(16)).toBeLessThan(201 * MS)
    // All but the last, the end of the message, wait for 40 ms.
    expect(lastAt(0)).toBeGreaterThan((200 + 7 * 40) * MS)
  })
})

describe("losses in the middle", () => {
  it.each(["rack-tlp", "sack"] as const)("%s: what is lost is sent again, once, without a timeout", (lossDetection) => {
    const told: Array<boolean> = []
    const { ends, pair } = connect({
      options: { controller: fixedWindow(20_000, told), lossDetection },
      path: losing(3, 4, 9),
    })
    pair.command(0, { message: 0, writeBytes: 40_000 })
    pair.run(100 * MS)
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
    expect(
      dataOf(pair.sent)
        .filter(({ meta }) => (meta & (1 << 11)) !== 0)
        .map(({ psn }) => psn),
    ).toEqual([3, 4, 9])
    expect([ends[0].timeouts, ends[0].recoveries, told]).toEqual([0, 1, [false]])
    expect(ends[1].bytesReceived).toBe(40_000)
  })

  it("what is lost again is found by time (RFC 8985), where counting waits for the timeout", () => {
    // Segment 3 and, as the 21st to leave, its retransmission.
    const run = (lossDetection: "rack-tlp" | "sack") => {
      const lost = new Set([3])
      let again = 0
      const { ends, pair } = connect({
        options: { controller: fixedWindow(20_000), lossDetection },
        path: ({ opcode, psn, meta }) => {
          if (opcode >= Opcode.Acknowledge || !lost.has(psn)) return [10 * US]
          const isAgain = (meta & (1 << 11)) !== 0
          return !isAgain || again++ === 0 ? [] : [10 * US]
        },
      })
      pair.command(0, { message: 0, writeBytes: 100_000 })
      pair.run(1000 * MS)
      expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
      return ends[0].timeouts
    }
    expect([run("rack-tlp"), run("sack")]).toEqual([0, 1])
  })

  it("order alone is not taken for a loss once it was seen (RFC 8985 §6.2)", () => {
    // Every tenth segment takes 4 µs more, a fifth of a round trip; the first of them less, so that two overtake it.
    const { ends, pair } = connect({
      options: { controller: fixedWindow(30_000) },
      path: ({ opcode, psn }) => {
        if (opcode >= Opcode.Acknowledge || psn % 10 !== 5) return [10 * US]
        return [psn === 5 ? 11.8 * US : 14 * US]
      },
    })
    pair.command(0, { message: 0, writeBytes: 300_000 })
    pair.run(1000 * MS)
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
    expect(ends[0].retransmissions).toBeLessThanOrEqual(2)
    expect(ends[0].timeouts).toBe(0)
  })
})

describe("a lost tail (RFC 8985 §7)", () => {
  it("a probe finds it after two round trips, and the controller hears of the loss", () => {
    const told: Array<boolean> = []
    const { ends, pair } = connect({ options: { controller: fixedWindow(10_000, told) }, path: losing(9) })
    pair.command(0, { message: 0, writeBytes: 10_000 })
    pair.run()
    expect([ends[0].probes, ends[0].timeouts, told]).toEqual([1, 0, [false]])
    // The ninth segment's acknowledgement waits for 40 ms, and the lone one's probe 40 ms more than two round trips.
    expect(pair.events[0]!.time).toBeLessThan(90 * MS)
  })

  it("a lone segment's probe waits for no delayed acknowledgement where each segment has one", () => {
    const options = { controller: fixedWindow(10_000), quickAcks: 0 }
    const finish = (ackEvery: number): number => {
      const { ends, pair } = connect({ options: { ...options, ackEvery }, path: losing(1) })
      for (const message of [0, 1]) {
        pair.command(0, { message, writeBytes: 1000 })
        pair.run()
      }
      expect([ends[0].probes, ends[0].timeouts]).toEqual([1, 0])
      return pair.events[1]!.time
    }
    expect(finish(1)).toBeLessThan(200 * US)
    expect(finish(2)).toBeGreaterThan(40 * MS)
  })

  it("several lost at the end: the probe's acknowledgement tells of them", () => {
    const { ends, pair } = connect({ options: { controller: fixedWindow(10_000) }, path: losing(6, 7, 8, 9) })
    pair.command(0, { message: 0, writeBytes: 10_000 })
    pair.run()
    expect([ends[0].probes, ends[0].timeouts]).toEqual([1, 0])
    expect(pair.events[0]!.time).toBeLessThan(1 * MS)
  })

  it("without it there is the timeout, 200 ms at least", () => {
    const { ends, pair } = connect({
      options: { controller: fixedWindow(10_000), lossDetection: "sack" },
      path: losing(6, 7, 8, 9),
    })
    pair.command(0, { message: 0, writeBytes: 10_000 })
    pair.run()
    expect(ends[0].timeouts).toBe(1)
    expect(pair.events[0]!.time).toBeGreaterThan(200 * MS)
    expect(pair.events[0]!.time).toBeLessThan(201 * MS)
  })
})

describe("probes in recovery", () => {
  /** The last segment, and what is sent in its place the first time. */
  const tailTwice = (probesInRecovery: boolean) => {
    let lost = 0
    const { ends, pair } = connect({
      options: { controller: fixedWindow(10_000), ackEvery: 1, probesInRecovery },
      path: ({ opcode, psn }) =>
        opcode < Opcode.Acknowledge && (psn === 5 || psn === 9) && lost++ < 3 ? [] : [10 * US],
    })
    pair.command(0, { message: 0, writeBytes: 10_000 })
    pair.run()
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
    return { timeouts: ends[0].timeouts, probes: ends[0].probes, time: pair.events[0]!.time }
  }

  it("a tail that is lost again waits for the timeout with RFC 8985, and is probed where they are allowed", () => {
    const plain = tailTwice(false)
    expect(plain.timeouts).toBe(1)
    expect(plain.time).toBeGreaterThan(200 * MS)
    const probed = tailTwice(true)
    expect(probed.timeouts).toBe(0)
    expect(probed.probes).toBeGreaterThan(0)
    expect(probed.time).toBeLessThan(1 * MS)
  })
})

describe("framing", () => {
  it("is what segments and acknowledgements take beside the payload", () => {
    const framing = { ...tcpFraming, dataBytes: 150, ackBytes: 120, leastBytes: 200 }
    const { pair } = connect({ options: { framing } })
    pair.command(0, { message: 0, writeBytes: 1005 })
    pair.run()
    expect(dataOf(pair.sent).map(({ wireBytes }) => wireBytes)).toEqual([1150, 200])
    const acks = pair.sent.filter(({ opcode }) => opcode === Opcode.Acknowledge)
    expect(new Set(acks.map(({ wireBytes }) => wireBytes))).toEqual(new Set([120]))
  })
})

describe("room for segments out of order", () => {
  it.each([
    [2, 9],
    [2 ** 20, 1],
  ])("of %i: %i are sent again where the first of ten is lost", (reorderSegments, retransmissions) => {
    const { ends, pair } = connect({ options: { controller: fixedWindow(10_000), reorderSegments }, path: losing(0) })
    pair.command(0, { message: 0, writeBytes: 10_000 })
    pair.run()
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
    expect(ends[0].retransmissions).toBe(retransmissions)
  })
})

describe("padding", () => {
  it("counts on the wire, and is no payload", () => {
    const { ends, pair } = connect({ options: { alignBytes: 4 } })
    pair.command(0, { message: 0, writeBytes: 1005 })
    pair.run()
    expect(dataOf(pair.sent).map(({ payloadBytes, wireBytes }) => [payloadBytes, wireBytes])).toEqual([
      [1000, 1090],
      [5, 98],
    ])
    expect(ends[1].bytesReceived).toBe(1005)
  })
})

describe("timeouts (RFC 6298)", () => {
  it("double: 1 s before a round trip is known, then 2, 4 and 8; at the end every message is told of", () => {
    const told: Array<boolean> = []
    const { pair } = connect({ options: { controller: fixedWindow(3000, told), retryCount: 3 }, path: () => [] })
    pair.command(0, { message: 7, writeBytes: 3000 })
    pair.command(0, { message: 8, writeBytes: 1000 })
    pair.run()
    const firsts = dataOf(pair.sent).filter(({ psn }) => psn === 0)
    expect(firsts.map(({ time }) => Math.round(time / 1e12))).toEqual([0, 1, 3, 7])
    expect(pair.events.map(({ event }) => [event.type, event.message])).toEqual([
      ["failed", 7],
      ["flushed", 8],
    ])
    expect(Math.round(pair.events[0]!.time / 1e12)).toBe(15)
    expect(told).toEqual([true, true, true])
    pair.command(0, { message: 9, writeBytes: 1 })
    pair.run()
    expect(pair.events.at(-1)!.event).toMatchObject({ type: "flushed", message: 9 })
  })

  it("never grow beyond the most", () => {
    const { pair } = connect({
      options: { controller: fixedWindow(1000), retryCount: 4, mostTimeoutPs: 2e12 },
      path: () => [],
    })
    pair.command(0, { message: 0, writeBytes: 1000 })
    pair.run()
    expect(Math.round(pair.events[0]!.time / 1e12)).toBe(1 + 2 + 2 + 2 + 2)
  })
})

describe("segmentation offload", () => {
  it("waits for room of a burst, and sends it together", () => {
    // The window is full after 24 segments; the next leaves with the first acknowledgement, or with the eighth.
    const next = (offloadSegments: number): number => {
      const options = { controller: fixedWindow(24_000), offloadSegments, ackEvery: 1 }
      const { pair } = connect({ options, path: () => [20 * US] })
      pair.command(0, { message: 0, writeBytes: 96_000 })
      pair.run()
      expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
      return dataOf(pair.sent)[24]!.time
    }
    // 1,090 bytes at 10 Gb/s.
    expect(next(8) - next(1)).toBeCloseTo(7 * 0.872 * US, -4)
  })
})

describe("hosts that take their time", () => {
  it("send up to that much after an acknowledgement, by the seed", () => {
    const run = (seed: number, processingPs: number) => {
      // A segment at a time: each waits for the acknowledgement of the one before it.
      const { pair } = connect({ seed, options: { controller: fixedWindow(1000), processingPs, ackEvery: 1 } })
      pair.command(0, { message: 0, writeBytes: 20_000 })
      pair.run()
      return dataOf(pair.sent).map(({ time }) => time)
    }
    const gaps = (times: ReadonlyArray<number>) => times.slice(1).map((time, index) => time - times[index]!)
    const least = gaps(run(1, 0))[0]!
    const late = gaps(run(1, 5 * US)).map((gap) => gap - least)
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...late)).toBeLessThan(5 * US)
    expect(new Set(late).size).toBeGreaterThan(10)
    expect(run(1, 5 * US)).toEqual(run(1, 5 * US))
    expect(run(2, 5 * US)).not.toEqual(run(1, 5 * US))
  })
})

describe("what cannot be", () => {
  it("refuses a size that is no whole number of bytes", () => {
    const { pair } = connect()
    for (const writeBytes of [-1, 1.5, Number.NaN])
      expect(() => pair.command(0, { message: 0, writeBytes })).toThrow(RangeError)
  })
})
