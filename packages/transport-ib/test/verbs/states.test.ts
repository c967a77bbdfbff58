import { QpState, type ReceiveRequest, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { BASE, LOCAL_KEY } from "./memory.ts"
import { remote, sge, verbsPair } from "./pair.ts"

const write = { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 600)], ...remote(0) }

describe("states", () => {
  it("a queue pair in RTR takes requests, answers them, and says that the connection is there", () => {
    const { send, receive, pair, asyncEvents, told, ends } = verbsPair({ states: [QpState.Rts, QpState.Rtr] })
    const received = receive(1, sge(0, 8))
    const id = send(0, { sges: [sge(0, 8)] })
    send(0, write)
    pair.run()
    expect(asyncEvents(1)).toEqual(["COMM_EST"])
    expect(told(0, "send")[0]).toBe(`${id} Success`)
    expect(told(1, "receive")).toEqual([`${received} Success`])
    expect(ends[1].state).toBe(QpState.Rtr)
  })

  it("a queue pair in INIT or RESET hears nothing", () => {
    for (const state of [QpState.Reset, QpState.Init]) {
      const { send, pair, told } = verbsPair({ states: [QpState.Rts, state], settings: { retryCount: 0 } })
      const id = send(0, write)
      pair.run()
      expect(told(0, "send")).toEqual([`${id} RetryExcErr`])
    }
  })

  it("packets of another node, or another partition, are nobody's", () => {
    const { send, inject, pair, said } = verbsPair()
    for (const spoil of [
      (packet: Parameters<Parameters<typeof inject>[1]>[0]) => packet.setNodes(9, 6),
      (packet: Parameters<Parameters<typeof inject>[1]>[0]) => {
        packet.pool.extension[packet.extend() + 34] = 0x8123
      },
    ]) {
      inject(1, (packet) => {
        packet.opcode = 0x0a
        packet.psn = 0x105
        spoil(packet)
      })
    }
    pair.run()
    expect(said()).toEqual([])
    send(0, write)
    pair.run()
    expect(said().at(-1)).toBe("< ACK 102")
  })

  it("a drained send queue: what is under way ends, what is not begun waits, and the event comes once", () => {
    const { send, modify, pair, asyncEvents, ends, told } = verbsPair()
    const first = send(0, write)
    pair.run(5e5)
    modify(0, QpState.Sqd)
    const second = send(0, write)
    expect([ends[0].draining, asyncEvents(0)]).toEqual([true, []])
    pair.run()
    expect(asyncEvents(0)).toEqual(["SQ_DRAINED"])
    expect([ends[0].draining, ends[0].sendOutstanding, ends[0].state]).toEqual([false, 1, QpState.Sqd])
    expect(told(0, "send")).toEqual([`${first} Success`])
    modify(0, QpState.Rts)
    pair.run()
    expect(told(0, "send")).toEqual([`${first} Success`, `${second} Success`])
  })

  it("an idle send queue is drained at once, and answers the peer meanwhile", () => {
    const { modify, asyncEvents, send, pair, told } = verbsPair()
    modify(0, QpState.Sqd)
    expect(asyncEvents(0)).toEqual(["SQ_DRAINED"])
    const id = send(1, write)
    pair.run()
    expect(told(1, "send")).toEqual([`${id} Success`])
  })

  it("what is lost while it drains is sent again", () => {
    let lost = 0
    const { send, modify, pair, asyncEvents, told } = verbsPair({
      path: ({ psn }) => (psn === 0x102 && lost++ < 2 ? [] : [1e6]),
    })
    const id = send(0, write)
    modify(0, QpState.Sqd)
    pair.run()
    expect(told(0, "send")).toEqual([`${id} Success`])
    expect(asyncEvents(0)).toEqual(["SQ_DRAINED"])
  })

  it("RESET forgets everything without a word, and the queue pair can begin anew", () => {
    const { send, receive, modify, connect, pair, told, ends, memories } = verbsPair()
    send(0, { ...write, ...remote(0), remoteKey: 0xbad })
    receive(0, sge(0, 8))
    pair.run()
    const before = told(0, "send").length + told(0, "receive").length
    for (const end of [0, 1] as const) {
      send(end, write)
      modify(end, QpState.Reset)
      expect([ends[end].state, ends[end].flow, ends[end].sendOutstanding]).toEqual([QpState.Reset, -1, 0])
      connect(end, QpState.Rts)
    }
    memories[0].paint(BASE, 600, 9)
    const id = send(0, write)
    pair.run()
    expect(told(0, "send").at(-1)).toBe(`${id} Success`)
    expect(told(0, "send").length + told(0, "receive").length).toBeLessThanOrEqual(before + 2)
    expect(memories[1].slice(BASE, 600)).toEqual(memories[0].slice(BASE, 600))
  })

  it("settings may change under way: a longer RNR timer in RTS (case B22)", () => {
    const { send, modify, pair, receive } = verbsPair({ settings: { minRnrTimer: 1 } })
    modify(1, QpState.Rts, { minRnrTimer: 14 })
    send(0, { sges: [] })
    pair.run(3e6)
    receive(1)
    pair.run()
    expect(pair.sent.filter(({ from }) => from === 0).map(({ time }) => time)).toEqual([0, 2e6 + 1.28e9])
  })

  it("more work than a queue holds is the device's mistake", () => {
    const { send, receive } = verbsPair({ queueMax: 2, path: () => [] })
    for (let at = 0; at < 2; at++) {
      send(0, write)
      receive(0, sge(0, 8))
    }
    expect(() => send(0, write)).toThrow(RangeError)
    expect(() => receive(0, sge(0, 8))).toThrow(RangeError)
  })
})

describe("shared receive queues", () => {
  const queueOf = (count: number) => {
    const requests: Array<ReceiveRequest> = Array.from({ length: count }, (_, at) => ({
      id: 100 + at,
      sges: [{ address: BASE, length: 1000, lkey: LOCAL_KEY }],
    }))
    return { requests, take: () => requests.shift() }
  }

  it("receives come from the shared queue; without one the peer waits", () => {
    const queue = queueOf(2)
    const { send, pair, told } = verbsPair({ shared: [undefined, queue] })
    for (let at = 0; at < 3; at++) send(0, { sges: [sge(0, 300)] })
    pair.run(5e6)
    expect(told(1, "receive")).toEqual(["100 Success", "101 Success"])
    queue.requests.push({ id: 102, sges: [sge(0, 1000)] })
    pair.run()
    expect(told(1, "receive").at(-1)).toBe("102 Success")
  })

  it("in the error state the one in use is flushed, the others stay, and the last is told of", () => {
    const queue = queueOf(3)
    const { send, modify, pair, told, asyncEvents } = verbsPair({
      shared: [undefined, queue],
      path: ({ psn }) => (psn === 0x101 ? [] : [1e6]),
    })
    send(0, { sges: [sge(0, 600)] })
    pair.run(1.5e6)
    modify(1, QpState.Err)
    expect(told(1, "receive")).toEqual(["100 WrFlushErr"])
    expect(queue.requests.length).toBe(2)
    expect(asyncEvents(1)).toEqual(["QP_LAST_WQE_REACHED"])
  })
})
