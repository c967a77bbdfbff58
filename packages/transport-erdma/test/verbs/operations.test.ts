import { LOCAL_KEY, REMOTE_KEY, WINDOW_KEY } from "@rdmakit/conformance"
import { Opcode } from "@rdmakit/packet"
import { WcOpcode, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { pattern, QPN, remote, sge, verbsPair } from "./pair.ts"

describe("messages", () => {
  it("a SEND goes to the receives in order, gathered and scattered; an immediate and an invalidated key are told", () => {
    const { send, receive, pair, memories, completions } = verbsPair()
    memories[0].octets.set(pattern(5000))
    receive(1, sge(0, 10), sge(100, 4000))
    receive(1, sge(8000, 10))
    receive(1)
    send(0, { sges: [sge(0, 1), sge(10, 3000)] })
    send(0, { opcode: WrOpcode.SendWithImm, sges: [sge(0, 10)], immediate: 0xfeedface, solicited: true })
    send(0, { opcode: WrOpcode.SendWithInv, invalidateKey: WINDOW_KEY })
    pair.run()
    const told = completions(1, "receive").map(({ byteLength, immediate, invalidatedKey, opcode, qpn }) => [
      byteLength,
      immediate,
      invalidatedKey,
      opcode,
      qpn,
    ])
    expect(told).toEqual([
      [3001, undefined, undefined, WcOpcode.Recv, QPN[1]],
      [10, 0xfeedface, undefined, WcOpcode.Recv, QPN[1]],
      [0, undefined, WINDOW_KEY, WcOpcode.Recv, QPN[1]],
    ])
    const sent = [...pattern(5000).subarray(0, 1), ...pattern(5000).subarray(10, 3010)]
    expect([...memories[1].octets.subarray(0, 10), ...memories[1].octets.subarray(100, 3091)]).toEqual(sent)
    expect(memories[1].rights.has(WINDOW_KEY)).toBe(false)
    const solicited = pair.events.flatMap(({ event }) => (event.type === "completion" ? [event.solicited] : []))
    expect(solicited.filter(Boolean)).toHaveLength(1)
  })

  it("octets inline; unsignaled work completes in silence; a local key is made void in order", () => {
    const { send, pair, memories, told } = verbsPair()
    send(0, { opcode: WrOpcode.RdmaWrite, inline: Uint8Array.of(1, 2, 3), signaled: false, ...remote(50) })
    const last = send(0, { opcode: WrOpcode.LocalInv, invalidateKey: LOCAL_KEY })
    pair.run()
    expect([...memories[1].octets.subarray(50, 53)]).toEqual([1, 2, 3])
    expect(told(0, "send")).toEqual([`${last} Success`])
    expect(memories[0].rights.has(LOCAL_KEY)).toBe(false)
  })

  it("headers count by kind: untagged 4 more, requests and immediates what they carry", () => {
    const { send, receive, pair } = verbsPair()
    receive(1)
    receive(1, sge(0, 100))
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 16)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaWriteWithImm, sges: [sge(0, 16)], immediate: 1, ...remote(0) })
    send(0, { sges: [sge(0, 16)] })
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 16)], ...remote(0) })
    send(0, { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(0, 8)], compareAdd: 1n, ...remote(0) })
    pair.run()
    const data = pair.sent.filter(({ opcode }) => opcode < Opcode.Acknowledge)
    const sizes = (from: number) => data.filter((each) => each.from === from).map(({ wireBytes }) => wireBytes - 160)
    expect(sizes(0)).toEqual([16, 24, 20, 32, 56])
    expect(sizes(1)).toEqual([16, 16])
  })
})

describe("READs and atomics", () => {
  it("complete when the answer has come, in order with what was posted after them", () => {
    const { send, pair, memories, told } = verbsPair()
    memories[1].octets.set(pattern(9000))
    const view = new DataView(memories[1].octets.buffer)
    view.setBigUint64(16_000, 40n, true)
    const ids = [
      send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(100, 9000)], ...remote(0) }),
      send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 10)], ...remote(30_000) }),
      send(0, { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(20_000, 8)], compareAdd: 2n, ...remote(16_000) }),
      send(0, {
        opcode: WrOpcode.AtomicCmpAndSwp,
        sges: [sge(20_008, 8)],
        compareAdd: 42n,
        swap: 0x0102030405060708n,
        ...remote(16_000),
      }),
      send(0, { opcode: WrOpcode.RdmaRead, sges: [], ...remote(0, 0x999) }),
    ]
    pair.run()
    expect(told(0, "send")).toEqual(ids.map((id) => `${id} Success`))
    expect(memories[0].octets.subarray(100, 9100)).toEqual(pattern(9000))
    const here = new DataView(memories[0].octets.buffer)
    expect([here.getBigUint64(20_000, true), here.getBigUint64(20_008, true)]).toEqual([40n, 42n])
    expect(view.getBigUint64(16_000, true)).toBe(0x0102030405060708n)
  })

  it("no more are outstanding than was agreed on, whatever is lost", () => {
    let drawn = 7
    const { send, pair, told, ends } = verbsPair({
      settings: { initiatorDepth: 2, responderResources: 2 },
      path: () => {
        drawn = (Math.imul(drawn, 1664525) + 1013904223) >>> 0
        return drawn < 0.2 * 2 ** 32 ? [] : [6e6]
      },
    })
    for (let index = 0; index < 60; index++) {
      send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 3000)], ...remote(0) })
      send(1, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 100)], ...remote(0) })
    }
    pair.run()
    for (const end of [0, 1] as const) {
      expect(told(end, "send").every((each) => each.endsWith("Success"))).toBe(true)
      expect(ends[end].sendOutstanding).toBe(0)
    }
  })

  it("a fence waits for them", () => {
    const { send, pair } = verbsPair()
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 10)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 10)], fence: true, ...remote(0) })
    pair.run()
    const times = pair.sent.filter(({ from, opcode }) => from === 0 && opcode < Opcode.Acknowledge)
    // The answer comes a round trip later.
    expect(times[1]!.time - times[0]!.time).toBeGreaterThanOrEqual(12e6)
  })

  it("answers and requests take turns", () => {
    const { send, pair, completions } = verbsPair()
    for (let index = 0; index < 3; index++) {
      send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 20_000)], ...remote(0, REMOTE_KEY) })
      for (let more = 0; more < 10; more++)
        send(1, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 20_000)], ...remote(0) })
    }
    pair.run()
    const lastRead = pair.events.findLast(({ end, event }) => end === 0 && event.type === "completion")!.time
    const lastWrite = pair.events.findLast(({ end, event }) => end === 1 && event.type === "completion")!.time
    expect(lastRead).toBeLessThan(lastWrite / 2)
    expect(completions(0, "send")).toHaveLength(3)
  })
})
