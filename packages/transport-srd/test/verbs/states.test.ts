import { QpState, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { SrdOptionsError, srdVerbs } from "../../src/index.ts"
import { fixedWindow } from "../connection.ts"
import { pattern, QPN, remote, sge, srdPair } from "./network.ts"

const write = { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 3000)], ...remote(0) }

describe("states of a queue pair", () => {
  it("in RTR it receives, in INIT and ERR it does not", () => {
    const { send, receive, pair, told, modify } = srdPair({ states: [QpState.Rts, QpState.Init] })
    const received = receive(1, sge(0, 8))
    const first = send(0, { sges: [sge(0, 8)] })
    pair.run()
    modify(1, QpState.Rtr)
    const second = send(0, { sges: [sge(0, 8)] })
    pair.run()
    modify(1, QpState.Err)
    const third = send(0, { sges: [sge(0, 8)] })
    pair.run()
    expect(told(0, "send")).toEqual([`${first} RemInvRdReqErr 9`, `${second} Success`, `${third} RemInvRdReqErr 9`])
    expect(told(1, "receive")).toEqual([`${received} Success`])
  })

  it("SQD lets what has begun end, says so, and goes on in RTS", () => {
    const { send, pair, told, modify, asyncEvents, ends } = srdPair()
    const first = send(0, { ...write, sges: [sge(0, 60_000)] })
    modify(0, QpState.Sqd)
    const second = send(0, write)
    expect(ends[0].qp.draining).toBe(true)
    pair.run()
    expect(told(0, "send")).toEqual([`${first} Success`])
    expect(asyncEvents(0)).toEqual(["SQ_DRAINED"])
    expect(ends[0].qp.draining).toBe(false)
    modify(0, QpState.Rts)
    pair.run()
    expect(told(0, "send")).toEqual([`${first} Success`, `${second} Success`])
  })

  it("ERR flushes what is posted, the send queue's first, and what is posted then", () => {
    const { send, receive, pair, told, modify } = srdPair()
    const received = [receive(0, sge(0, 8)), receive(0)]
    const sent = [send(0, { ...write, sges: [sge(0, 60_000)] }), send(0, { sges: [sge(0, 8)] })]
    pair.run(1e6)
    modify(0, QpState.Err)
    const late = [send(0, write), receive(0)]
    expect(told(0, "send")).toEqual([...sent, late[0]].map((id) => `${id} WrFlushErr 1`))
    expect(told(0, "receive")).toEqual([...received, late[1]].map((id) => `${id} WrFlushErr 1`))
    const kinds = pair.events.flatMap(({ event }) => (event.type === "completion" ? [event.queue] : []))
    expect(kinds.slice(0, 4)).toEqual(["send", "send", "receive", "receive"])
  })

  it("RESET forgets everything, and the queue pair works again", () => {
    const { send, receive, pair, told, modify, memories, ends, pool } = srdPair()
    send(0, { ...write, sges: [sge(0, 60_000)] })
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 60_000)], ...remote(0) })
    receive(1)
    pair.run(7e6)
    modify(0, QpState.Reset)
    modify(1, QpState.Reset)
    pair.run()
    expect([told(0, "send"), told(1, "receive")]).toEqual([[], []])
    expect([pool.alive, pool.payloads.alive]).toEqual([0, 0])
    for (const end of ends) end.bring(pair.now, QpState.Rts)
    memories[0].octets.set(pattern(3000))
    const again = send(0, write)
    pair.run()
    expect(told(0, "send")).toEqual([`${again} Success`])
    expect(memories[1].octets.subarray(0, 3000)).toEqual(pattern(3000))
  })

  it("one queue pair's errors are not another's, nor of the context that both use", () => {
    const { pair, told, send, receive, ends } = srdPair()
    const other = ends[1].makeQp(0, 0x33)
    ends[1].bring(0, QpState.Rts, {}, other)
    ends[1].bring(0, QpState.Err, {}, other)
    other.command(0, { type: "modify", state: QpState.Err, settings: {} })
    const received = receive(1, sge(0, 8))
    const ids = [send(0, { sges: [sge(0, 8)], datagram: { ...pair0(), qpn: 0x33 } }), send(0, { sges: [sge(0, 8)] })]
    pair.run()
    expect(told(0, "send")).toEqual([`${ids[0]} RemInvRdReqErr 9`, `${ids[1]} Success`])
    expect(told(1, "receive")).toEqual([`${received} Success`])
  })
})

describe("work that was flushed", () => {
  it("is not sent again, though its packets were lost among those of others", () => {
    let dead = true
    const { pair, ends, memories, send, told, to } = srdPair({ path: () => (dead ? [] : [6e6]) })
    const other = ends[0].makeQp(0, 0x33)
    ends[0].bring(0, QpState.Rts, {}, other)
    memories[0].octets.fill(1, 0, 30_000)
    const ids: Array<number> = []
    for (let index = 0; index < 10; index++) {
      // A packet each, in turns; only the second's memory stays.
      const flushed = { ...remote(1000 * index), sges: [sge(0, 1000, 0x700)] }
      memories[0].rights.set(0x700, 0)
      const common = { id: 1000 + index, opcode: WrOpcode.RdmaWrite, signaled: true, datagram: to(0) }
      other.command(pair.now, { type: "send", request: { ...common, ...flushed } })
      ids.push(send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 1000)], ...remote(20_000 + 1000 * index) }))
    }
    pair.run(500e6)
    other.command(pair.now, { type: "modify", state: QpState.Err, settings: {} })
    memories[0].rights.delete(0x700)
    dead = false
    pair.run()
    expect([...told(0, "send")].sort()).toEqual(
      [...ids.map((id) => `${id} Success`), ...ids.map((_, index) => `${1000 + index} WrFlushErr 1`)].sort(),
    )
    expect(memories[1].octets.subarray(0, 10_000).every((octet) => octet === 0)).toBe(true)
    expect(memories[1].octets.subarray(20_000, 30_000).every((octet) => octet === 1)).toBe(true)
  })
})

const pair0 = () => srdPair().to(0)

describe("options", () => {
  const controller = fixedWindow(60_000)

  it.each([
    ["rnrDelayPs", { rnrDelayPs: 0 }],
    ["unsolicitedWrites", { unsolicitedWrites: true, capabilities: { ...capabilitiesOfV1(), maxRdmaBytes: 0 } }],
    ["capabilities.maxRdmaBytes", { capabilities: { ...capabilitiesOfV1(), maxRdmaBytes: -1 } }],
    ["paths", { paths: 0 }],
  ])("%s out of range is refused", (option, options) => {
    expect(() => srdVerbs({ controller, ...options })).toThrow(
      expect.objectContaining({ _tag: "SrdOptionsError", option }),
    )
  })

  it("queue pairs of other types, shared receive queues, and transports of no device are refused", () => {
    const transport = srdVerbs({ controller })
    const options = {
      type: "srd" as const,
      qpn: QPN[0],
      user: { domain: 1, qpn: QPN[0] },
      memory: srdPair().memories[0],
      sharedReceives: undefined,
      sendMax: 1,
      receiveMax: 1,
      signalAll: false,
    }
    const device = transport.open!(0, { mtuBytes: 1024, pathTo: () => undefined, knows: () => true })
    expect(transport.types).toEqual(["srd"])
    expect(() => transport.makeEngine(0, options)).toThrow(SrdOptionsError)
    expect(() => device.makeEngine(0, { ...options, type: "rc" })).toThrow(SrdOptionsError)
    expect(() => device.makeEngine(0, { ...options, sharedReceives: { take: () => undefined } })).toThrow(
      SrdOptionsError,
    )
  })
})

function capabilitiesOfV1() {
  return { rdmaRead: false, rdmaWrite: false, rnrRetry: true, cqWithSgid: false, unsolicitedWriteRecv: false }
}
