import { QpState, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { remote, sge, srdPair } from "./network.ts"

describe("no receive is posted", () => {
  it.each([
    ["SEND", WrOpcode.Send],
    ["WRITE with immediate, of many packets", WrOpcode.RdmaWriteWithImm],
  ])("a %s is tried again as often as rnr_retry says, 100 µs apart", (_, opcode) => {
    const { send, pair, told } = srdPair({ settings: { rnrRetry: 3 } })
    const bytes = opcode === WrOpcode.Send ? 8 : 5000
    const sent = send(0, { opcode, sges: [sge(0, bytes)], immediate: 1, ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${sent} RnrRetryExcErr 10`])
    const last = pair.sent.filter(({ from, payloadBytes }) => from === 0 && payloadBytes === (bytes % 1024 || 1024))
    expect(last).toHaveLength(4)
    for (let index = 1; index < 4; index++) {
      const gap = last[index]!.time - last[index - 1]!.time
      expect(gap).toBeGreaterThanOrEqual(100e6)
      expect(gap).toBeLessThan(120e6)
    }
    // A new packet each time: a refused one is never taken.
    expect(new Set(last.map(({ psn }) => psn)).size).toBe(4)
  })

  it("without end, with 7: until a receive is posted", () => {
    const { send, receive, pair, told } = srdPair({ settings: { rnrRetry: 7 }, options: { rnrDelayPs: 50e6 } })
    const sent = send(0, { sges: [sge(0, 8)] })
    pair.run(20e9)
    expect(told(0, "send")).toEqual([])
    const received = receive(1, sge(0, 8))
    pair.run()
    expect(told(0, "send")).toEqual([`${sent} Success`])
    expect(told(1, "receive")).toEqual([`${received} Success`])
  })

  it("a world is told since when that is all that is done, so that it may end", () => {
    const { send, receive, pair, ends } = srdPair({ settings: { rnrRetry: 7 } })
    const { carrier } = ends[0].device
    send(0, { sges: [sge(0, 8)] })
    expect(carrier.receiveAwaitedSince).toBeUndefined()
    pair.run(50e6)
    // It was refused once, 12 µs after it was sent.
    expect(carrier.receiveAwaitedSince).toBeUndefined()
    pair.run(150e6)
    expect(carrier.receiveAwaitedSince).toBeCloseTo(12e6, -6)
    pair.run(420e6)
    expect(carrier.receiveAwaitedSince).toBeGreaterThan(200e6)
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
    expect(carrier.receiveAwaitedSince).toBeUndefined()
    pair.run(440e6)
    expect(carrier.receiveAwaitedSince).toBeGreaterThan(200e6)
    receive(1, sge(0, 8))
    pair.run()
    expect(carrier.receiveAwaitedSince).toBeUndefined()
  })

  it("work that waits for a receive is flushed with its queue pair", () => {
    const { send, modify, pair, told, ends } = srdPair({ settings: { rnrRetry: 7 } })
    const sent = send(0, { sges: [sge(0, 8)] })
    pair.run(1e9)
    modify(0, QpState.Err)
    pair.run()
    expect(told(0, "send")).toEqual([`${sent} WrFlushErr 1`])
    expect(ends[0].nextTimeout).toBe(Number.POSITIVE_INFINITY)
  })
})

describe("a peer that does not answer", () => {
  const SECOND = 1e12

  it("ends its work after a second: 15 where it never answered, 13 where it did; and tells of it", () => {
    let dead = true
    const { send, receive, pair, told, unresponsive, ends } = srdPair({ path: () => (dead ? [] : [6e6]) })
    const first = [
      send(0, { sges: [sge(0, 8)] }),
      send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) }),
    ]
    pair.run()
    expect(told(0, "send")).toEqual(first.map((id) => `${id} RespTimeoutErr 15`))
    expect(unresponsive(0)).toHaveLength(1)
    expect(pair.now).toBeGreaterThanOrEqual(SECOND)
    expect(pair.now).toBeLessThan(1.01 * SECOND)
    dead = false
    receive(1, sge(0, 8))
    const second = send(0, { sges: [sge(0, 8)] })
    pair.run()
    expect(told(0, "send").at(-1)).toBe(`${second} Success`)
    dead = true
    const third = send(0, { sges: [sge(0, 8)] })
    const from = pair.now
    pair.run()
    expect(told(0, "send").at(-1)).toBe(`${third} RespTimeoutErr 13`)
    expect(pair.now - from).toBeLessThan(1.01 * SECOND)
    expect(ends[0].device.counters).toMatchObject({ unresponsive_remote_events: 2, impaired_remote_conn_events: 2 })
    expect(ends[0].device.counters.retrans_timeout_events).toBeGreaterThan(100)
  })

  it("a READ that was taken there, and never answered", () => {
    let dead = false
    const { send, pair, told, unresponsive } = srdPair({
      path: ({ from, ordinal }) => {
        if (from === 1 && ordinal === 0) dead = true
        return dead && !(from === 1 && ordinal === 0) ? [] : [6e6]
      },
    })
    const sent = send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${sent} RespTimeoutErr 13`])
    // The other end has its answer to send, and gives up as well.
    expect([unresponsive(0).length, unresponsive(1).length]).toEqual([1, 1])
    expect(pair.now).toBeLessThan(1.02 * SECOND)
  })

  it("what comes of work that was given up is dropped, once work was given anew", () => {
    const { send, receive, pair, told, ends } = srdPair({
      path: ({ from, time }) => [from === 0 && time < 2e9 ? 5e9 : 6e6],
      options: { unresponsiveAfterPs: 1e9 },
    })
    const lost = send(0, { sges: [sge(0, 8)] })
    const received = receive(1, sge(0, 16))
    receive(1, sge(0, 16))
    pair.run(3e9)
    expect(told(0, "send")).toEqual([`${lost} RespTimeoutErr 15`])
    const sent = send(0, { sges: [sge(0, 16)] })
    pair.run()
    expect(told(0, "send")[1]).toBe(`${sent} Success`)
    // The copies of the first came later than the second.
    expect(told(1, "receive")).toEqual([`${received} Success`])
    expect(ends[1].device.counters.rx_drops).toBeGreaterThan(0)
  })
})

describe("an address handle that is destroyed", () => {
  it("takes with it the work that was to go by it, begun or not", () => {
    const { send, pair, told, ends, paths } = srdPair({ path: () => [] })
    const ids = [
      send(0, { sges: [sge(0, 8)] }),
      send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) }),
      send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 60_000)], ...remote(0) }),
    ]
    pair.run(1e6)
    ends[0].device.forget(pair.now, paths[0])
    pair.run()
    expect(told(0, "send")).toEqual(ids.map((id) => `${id} WrFlushErr 1`))
  })
})
