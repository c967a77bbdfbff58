import { QpState, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { erdmaStateOf } from "../../src/index.ts"
import { bring, pattern, remote, sge, verbsPair } from "./pair.ts"

const write = { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 3000)], ...remote(0) }

describe("states of a queue pair", () => {
  it("have the driver's names (erdma_verbs.c: ib_to_iwarp_qps)", () => {
    const { ends, modify } = verbsPair({ states: [QpState.Init, QpState.Rts] })
    expect(ends.map(({ state }) => erdmaStateOf(state))).toEqual(["IDLE", "RTS"])
    modify(1, QpState.Sqd)
    expect(erdmaStateOf(ends[1].state)).toBe("CLOSING")
    modify(1, QpState.Err)
    expect(erdmaStateOf(ends[1].state)).toBe("ERROR")
  })

  it("in RTR it takes requests, and answers them in RTS", () => {
    const { send, receive, pair, told, modify, asyncEvents } = verbsPair({ states: [QpState.Rts, QpState.Rtr] })
    const received = receive(1, sge(0, 8))
    const ids = [
      send(0, { sges: [sge(0, 8)] }),
      send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) }),
    ]
    pair.run()
    expect(told(1, "receive")).toEqual([`${received} Success`])
    expect(told(0, "send")).toEqual([`${ids[0]} Success`])
    expect(asyncEvents(1)).toEqual(["COMM_EST"])
    modify(1, QpState.Rts, { sendPsn: 0x101, initiatorDepth: 4 })
    pair.run()
    expect(told(0, "send")).toEqual(ids.map((id) => `${id} Success`))
  })

  it("SQD lets what has begun end, says so, and goes on in RTS", () => {
    const { send, pair, told, modify, asyncEvents, ends } = verbsPair()
    const first = send(0, { ...write, sges: [sge(0, 60_000)] })
    modify(0, QpState.Sqd)
    const second = send(0, write)
    expect(ends[0].draining).toBe(true)
    pair.run()
    expect(told(0, "send")).toEqual([`${first} Success`])
    expect(asyncEvents(0)).toEqual(["SQ_DRAINED"])
    modify(0, QpState.Rts)
    pair.run()
    expect(told(0, "send")).toEqual([`${first} Success`, `${second} Success`])
  })

  it("ERR flushes what is posted, and what is posted then; the peer hears of it when it sends", () => {
    const { send, receive, pair, told, modify, ends } = verbsPair()
    const received = receive(0, sge(0, 8))
    const sent = send(0, { ...write, sges: [sge(0, 60_000)] })
    pair.run(1e6)
    modify(0, QpState.Err)
    const late = [send(0, write), receive(0)]
    expect(told(0, "send")).toEqual([`${sent} WrFlushErr`, `${late[0]} WrFlushErr`])
    expect(told(0, "receive")).toEqual([`${received} WrFlushErr`, `${late[1]} WrFlushErr`])
    pair.run()
    expect(ends[1].state).toBe(QpState.Rts)
    const theirs = send(1, write)
    pair.run()
    expect(told(1, "send")).toEqual([`${theirs} WrFlushErr`])
    expect(ends[1].state).toBe(QpState.Err)
  })

  it("RESET forgets everything, and a new connection of the same queue pairs works", () => {
    const { send, receive, pair, told, modify, pool, memories, ends } = verbsPair()
    send(0, { ...write, sges: [sge(0, 60_000)] })
    receive(1)
    // A SEND waits for a receive at end 0: its packet is held.
    send(1, { sges: [sge(0, 100)] })
    pair.run(20e6)
    modify(0, QpState.Reset)
    modify(1, QpState.Reset)
    pair.run()
    expect([told(0, "send"), told(1, "send"), told(1, "receive")]).toEqual([[], [], []])
    expect([pool.alive, pool.payloads.alive]).toEqual([0, 0])
    for (const end of [0, 1] as const) bring(pair.now, ends[end], end, QpState.Rts, { receivePsn: 5, sendPsn: 5 })
    memories[0].octets.set(pattern(3000))
    const again = send(0, write)
    pair.run()
    expect(told(0, "send")).toEqual([`${again} Success`])
    expect(memories[1].octets.subarray(0, 3000)).toEqual(pattern(3000))
  })

  it("a packet from somebody else, and one for a queue pair that is not open, are dropped", () => {
    const { send, pair, told, ends, modify } = verbsPair({ states: [QpState.Rts, QpState.Init] })
    const sent = send(0, write)
    pair.run(500e6)
    expect([told(0, "send"), ends[1].state]).toEqual([[], QpState.Init])
    modify(0, QpState.Err)
    expect(told(0, "send")).toEqual([`${sent} WrFlushErr`])
  })
})
