import { type Time, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { BASE } from "./memory.ts"
import { remote, type Setup, sge, TIMEOUT_CODE, verbsPair } from "./pair.ts"

const TIMEOUT = 4.096e6 * 2 ** TIMEOUT_CODE
const PACKETS = 600
const BYTES = 256 * PACKETS

/** The responder takes so long for each packet, new or not, and its answers arrive at once. */
const taking = (servicePs: number): NonNullable<Setup["path"]> => {
  let busyUntil = 0
  return ({ from, time }) => {
    if (from === 1) return [1]
    busyUntil = Math.max(busyUntil, time) + servicePs
    return [busyUntil - time]
  }
}

describe("a responder slower than the timeout", () => {
  // As many packets as may be in flight keep it busy for so many timeouts.
  it.each([0.9, 1.5, 3, 6])("%d timeouts for a window: what is sent twice does not grow", (timeouts) => {
    const { memories, send, pair, told } = verbsPair({ path: taking((timeouts * TIMEOUT) / 128), memoryBytes: BYTES })
    memories[0].paint(BASE, BYTES, 1)
    const id = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, BYTES)], ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${id} Success`])
    expect(memories[1].slice(BASE, BYTES)).toEqual(memories[0].slice(BASE, BYTES))
    // All of it twice, and the first window once more.
    expect(pair.sent.filter(({ from }) => from === 0).length).toBeLessThanOrEqual(2 * PACKETS + 128)
  })

  it("what comes again in a row is acknowledged where it begins and where it asks", () => {
    const { send, pair, said } = verbsPair({ path: ({ from }) => [from === 0 ? 1e6 : 1.5 * TIMEOUT] })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 2560)], ...remote(0) })
    pair.run()
    expect(said().filter((packet) => packet.startsWith(">")).length).toBe(20)
    // Of ten packets, and of the same ten again.
    expect(said().filter((packet) => packet.startsWith("<"))).toEqual(["< ACK 109", "< ACK 109", "< ACK 109"])
  })

  it("a READ that was asked for too early teaches the next one to wait", () => {
    const { send, pair, told, said } = verbsPair({ path: ({ from }) => [from === 0 ? 3 * TIMEOUT : 1e6] })
    const requests = (): number => said().filter((packet) => packet.startsWith("> READ_REQUEST")).length
    const read = () => send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 2560)], ...remote(0) })
    const first = read()
    pair.run()
    const early = requests()
    const second = read()
    pair.run()
    expect([early, requests()]).toEqual([4, 5])
    expect(told(0, "send")).toEqual([`${first} Success`, `${second} Success`])
  })

  it("an acknowledgement that the network repeats is no sign of a slow peer", () => {
    let lose = false
    const { send, pair } = verbsPair({
      path: ({ from }) => (from === 0 ? [1e6] : lose ? [] : [1e6, 2e6]),
      settings: { retryCount: 0 },
    })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
    pair.run()
    const { now } = pair
    lose = true
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
    pair.run()
    expect(pair.now - now).toBe(TIMEOUT)
  })

  it("one that answers quickly again is waited for no longer than before", () => {
    let back = 1.5 * TIMEOUT
    const { send, pair } = verbsPair({
      path: ({ from }) => (from === 0 ? [1e6] : back > 0 ? [back] : []),
      settings: { retryCount: 1 },
    })
    const write = (): Time => {
      const { now } = pair
      send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
      pair.run()
      return pair.now - now
    }
    write()
    back = 1e6
    write()
    back = 0
    expect(write()).toBe(2 * TIMEOUT)
  })
})
