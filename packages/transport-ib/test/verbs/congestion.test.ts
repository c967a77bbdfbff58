import { Ecn, Flag, PacketPool } from "@rdmakit/packet"
import { type ControllerFactory, NEVER, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { fixedController } from "../connection.ts"
import { remote, type Setup, sge, verbsPair } from "./pair.ts"

const write = (bytes: number) => ({ opcode: WrOpcode.RdmaWrite, sges: [sge(0, bytes)], ...remote(0) })

/** Marks every data packet of end 0. */
const marking: NonNullable<Setup["onWay"]> = (packet, { from, opcode }) => {
  if (from === 0 && opcode !== 0x81) packet.ecn = Ecn.Experienced
}

const controlled = (options: Parameters<typeof fixedController>[0], setup: Setup = {}) => {
  const factory = fixedController(options)
  const all = verbsPair({ ...setup, options: { controller: factory, ...setup.options } })
  return { ...all, controllers: factory.made }
}

describe("congestion control", () => {
  it("data leave at the controller's rate", () => {
    const { send, pair } = controlled({ rate: 1e9 })
    send(0, write(1024))
    pair.run()
    const [first, second] = pair.sent.filter(({ from }) => from === 0).map(({ time }) => time)
    // The first packet carries a RETH: 82 + 16 + 256 octets of 8 ns each.
    expect([first, second]).toEqual([0, 354 * 8000])
  })

  it("no more bytes are in flight than the window allows, and what fills it is asked about", () => {
    const { send, pair, completions } = controlled({ window: 512 }, { options: { ackEvery: 64 } })
    send(0, write(2048))
    pair.run()
    const times = pair.sent.filter(({ from }) => from === 0).map(({ time }) => time / 1e6)
    expect(times.slice(0, 3).map(Math.floor)).toEqual([0, 0, 2])
    expect(completions(0, "send").length).toBe(1)
  })

  it("is told of acknowledgements, with the round trip and the marks", () => {
    const { send, pair, controllers } = controlled({ needs: ["ecn"] }, { now: 5e6, onWay: marking })
    send(0, write(600))
    pair.run()
    const { acks } = controllers.at(-2)!
    expect(acks.map(({ sequence, bytes, congestion }) => [sequence, bytes, congestion])).toEqual([
      [256, 256, true],
      [512, 256, true],
      [600, 88, true],
    ])
    expect(acks[0]!.rttPs).toBe(2e6)
  })

  it("data are ECN-capable where the controller lives on marks; acknowledgements are not", () => {
    for (const [needs, expected] of [
      [["ecn"], Ecn.Capable0],
      [["rtt"], Ecn.NotCapable],
    ] as const) {
      const { send, pair } = controlled({ needs })
      send(0, write(8))
      pair.run()
      expect(pair.sent.map(({ meta }) => (meta >>> 28) & 3)).toEqual([expected, Ecn.NotCapable])
    }
  })

  it("measures the round trip itself where packets bring no stamp back", () => {
    const { send, pair, controllers } = controlled({}, { onWay: (packet) => (packet.stamp = 0), now: 1e6 })
    send(0, write(8))
    pair.run()
    expect(controllers.at(-2)!.acks.map(({ rttPs }) => rttPs)).toEqual([2e6])
  })

  it("telemetry goes out with data and comes back, where the controller lives on it", () => {
    const pool = new PacketPool({ telemetryHops: 2, telemetryRates: [1e9] })
    const { send, pair, controllers } = controlled(
      { needs: ["int"] },
      {
        pool,
        onWay: (packet) => {
          if (packet.has(Flag.Telemetry)) packet.stampHop(3e6, 4000, 500, 0, 7)
        },
      },
    )
    send(0, write(600))
    pair.run()
    const { acks } = controllers.at(-2)!
    expect(acks.map(({ hops, pathId }) => [hops, pathId])).toEqual([
      [1, 7],
      [1, 7],
      [1, 7],
    ])
    expect(pool.alive).toBe(0)
  })

  it("hears of losses", () => {
    let lost = 0
    const { send, pair, controllers } = controlled(
      {},
      { path: ({ psn }) => (psn === 0x101 && lost++ === 0 ? [] : [1e6]) },
    )
    send(0, write(600))
    pair.run()
    expect(controllers.at(-2)!.calls.filter((call) => call.includes("loss"))).toEqual([expect.stringContaining("nak")])
  })

  it("has its timers run", () => {
    const { send, pair, controllers } = controlled({ timer: 10e6 })
    send(0, write(8))
    pair.run()
    expect(controllers[0]!.calls).toContain("10000000 timer")
  })

  it("a READ's responses leave at the responder's pace", () => {
    const { send, pair } = controlled({ rate: 1e9 })
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 512)], ...remote(0) })
    pair.run()
    const [first, second] = pair.sent.filter(({ from }) => from === 1).map(({ time }) => time)
    expect(second! - first!).toBe((82 + 4 + 256) * 8000)
  })

  it("a controller that breaks its contract is found out", () => {
    const factory: ControllerFactory = { ...fixedController({ rate: Number.NaN }), name: "broken" }
    expect(() => verbsPair({ options: { controller: factory } })).toThrow("rate")
  })
})

describe("congestion notifications", () => {
  it("marked packets are told of, once in 50 us a queue pair, and the sender's controller hears it", () => {
    const { send, pair, controllers, said } = controlled({ needs: ["cnp"] }, { onWay: marking })
    send(0, write(600))
    pair.run(60e6)
    expect(said().filter((packet) => packet === "< CNP 0").length).toBe(1)
    send(0, write(600))
    pair.run()
    const notifications = pair.sent.filter(({ opcode }) => opcode === 0x81)
    expect(notifications.map(({ time }) => time)).toEqual([1e6, 61e6])
    expect(notifications.every(({ meta }) => (meta & Flag.Backward) !== 0)).toBe(true)
    expect(controllers.at(-2)!.calls.filter((call) => call.includes("cnp")).length).toBe(2)
  })

  it("on an unreliable connection too", () => {
    const { send, pair, controllers } = controlled({ needs: ["cnp"] }, { type: "uc", onWay: marking })
    send(0, write(600))
    pair.run()
    expect(pair.sent.filter(({ opcode }) => opcode === 0x81).length).toBe(1)
    expect(controllers.at(-2)!.calls.filter((call) => call.includes("cnp")).length).toBe(1)
  })

  it("none are made where they are not wanted", () => {
    const { send, pair } = controlled({}, { onWay: marking, options: { cnpIntervalPs: NEVER } })
    send(0, write(600))
    pair.run()
    expect(pair.sent.filter(({ opcode }) => opcode === 0x81)).toEqual([])
  })
})
