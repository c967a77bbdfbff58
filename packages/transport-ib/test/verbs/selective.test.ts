import { Layout, PacketPool } from "@rdmakit/packet"
import { QpState, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { BASE } from "./memory.ts"
import { remote, type Setup, sge, TIMEOUT_CODE, verbsPair, words } from "./pair.ts"

const TIMEOUT = 4.096e6 * 2 ** TIMEOUT_CODE

const losing = (...packets: ReadonlyArray<string>): NonNullable<Setup["path"]> => {
  const left = [...packets]
  return (crossing) => {
    const index = left.indexOf(words(crossing))
    if (index < 0) return [1e6]
    left.splice(index, 1)
    return []
  }
}

const selective = (setup: Setup = {}) => {
  const pool = new PacketPool()
  const options = { recovery: "selective-repeat", inFlightPackets: 64, ...setup.options } as const
  return verbsPair({ pool, ...setup, options })
}

describe("selective repeat", () => {
  it("only what is lost is sent again, and what came ahead is carried out in its turn", () => {
    const lost = ["> WRITE_MIDDLE 102", "> WRITE_MIDDLE 105"]
    const { memories, send, receive, pair, said, told, pool } = selective({ path: losing(...lost) })
    memories[0].paint(BASE, 3000, 1)
    receive(1, sge(8000, 100))
    const ids = [
      send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 3000)], ...remote(0) }),
      send(0, { sges: [sge(0, 100)] }),
    ]
    pair.run()
    const data = said().filter((packet) => packet.startsWith(">"))
    expect(data.slice(13)).toEqual(lost)
    expect(told(0, "send")).toEqual(ids.map((id) => `${id} Success`))
    expect(memories[1].slice(BASE, 3000)).toEqual(memories[0].slice(BASE, 3000))
    expect(pair.now).toBeLessThan(TIMEOUT)
    expect([pool.alive, pool.payloads.alive]).toEqual([0, 0])
  })

  it("a receive is not filled before its turn", () => {
    const { send, receive, pair, told } = selective({ path: losing("> SEND_ONLY 100") })
    const received = [receive(1, sge(0, 100)), receive(1, sge(0, 100))]
    send(0, { sges: [sge(0, 10)] })
    send(0, { sges: [sge(0, 20)] })
    pair.run(1.5e6)
    expect(told(1, "receive")).toEqual([])
    pair.run()
    expect(told(1, "receive")).toEqual(received.map((id) => `${id} Success`))
  })

  it("of a READ only the missing responses are asked for again", () => {
    const lost = ["< READ_RESPONSE_MIDDLE 102", "< READ_RESPONSE_MIDDLE 103", "< READ_RESPONSE_MIDDLE 107"]
    const { memories, send, pair, said } = selective({ path: losing(...lost) })
    memories[1].paint(BASE, 2560, 1)
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 2560)], ...remote(0) })
    pair.run()
    expect(said().slice(11)).toEqual([
      "> READ_REQUEST 102",
      "< READ_RESPONSE_FIRST 102",
      "< READ_RESPONSE_LAST 103",
      "> READ_REQUEST 107",
      "< READ_RESPONSE_ONLY 107",
    ])
    expect(memories[0].slice(BASE, 2560)).toEqual(memories[1].slice(BASE, 2560))
  })

  it("a lost tail is the timeout's: the oldest goes first, and its acknowledgement tells which one is lost", () => {
    const { send, pair, told } = selective({ path: losing("> WRITE_LAST 102") })
    const id = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 600)], ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${id} Success`])
    expect(pair.events.at(-1)!.time).toBe(TIMEOUT + 4e6)
  })

  it("a NAK that does not say what came is good for one packet", () => {
    const lost = ["> WRITE_MIDDLE 102", "> WRITE_MIDDLE 105"]
    const { memories, send, pair, told, said } = selective({
      path: losing(...lost),
      onWay: (packet, { opcode }) => {
        if (opcode === 0x11) packet.pool.extension[packet.extend() + Layout.EXT.sackBits] = 0
      },
    })
    memories[0].paint(BASE, 3000, 1)
    const id = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 3000)], ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${id} Success`])
    expect(memories[1].slice(BASE, 3000)).toEqual(memories[0].slice(BASE, 3000))
    const data = said().filter((packet) => packet.startsWith(">"))
    expect(data.filter((packet) => packet === lost[0]).length).toBe(2)
  })

  it("no more is kept than the window has room for", () => {
    const { send, pair, pool } = selective({
      options: { reorderPackets: 4 },
      path: ({ from, psn }) => (from === 0 && psn === 0x100 ? [] : [1e6]),
      settings: { retryCount: 0 },
    })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 2560)], ...remote(0) })
    pair.run(1.5e6)
    expect(pool.payloads.alive).toBe(3)
  })

  it("what was kept goes with the queue pair", () => {
    for (const state of [QpState.Err, QpState.Reset]) {
      const { send, pair, pool, modify } = selective({
        path: ({ from, psn }) => (from === 0 && psn === 0x100 ? [] : [1e6]),
      })
      send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 2560)], ...remote(0) })
      pair.run(1e6)
      expect(pool.payloads.alive).toBeGreaterThan(0)
      modify(1, state)
      modify(0, state)
      pair.run()
      expect([pool.alive, pool.payloads.alive]).toEqual([0, 0])
    }
  })
})
