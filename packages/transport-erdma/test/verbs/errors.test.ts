import { REMOTE_KEY, TestMemory, WINDOW_KEY } from "@rdmakit/conformance"
import { Opcode } from "@rdmakit/packet"
import { QpState, type SendRequest, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { ErdmaError, erdmaVerbs } from "../../src/index.ts"
import { fixedWindow } from "../connection.ts"
import { remote, sge, verbsPair } from "./pair.ts"

const write = (offset: number, remoteKey?: number): Partial<SendRequest> => ({
  opcode: WrOpcode.RdmaWrite,
  sges: [sge(0, 3000)],
  ...remote(offset, remoteKey),
})

describe("what is wrong with the work itself", () => {
  it.each<readonly [string, Partial<SendRequest>, string]>([
    ["a key that is none", { sges: [sge(0, 8, 0x55)] }, "LocAccessErr 48"],
    ["out of bounds", { sges: [sge(65_530, 8)] }, "LocAccessErr 49"],
    ["an opcode that the device has not", { opcode: WrOpcode.AtomicWrite, inline: new Uint8Array(8) }, "LocQpOpErr 32"],
    [
      "a READ of two elements",
      { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8), sge(8, 8)], ...remote(0) },
      "LocQpOpErr 32",
    ],
    ["a local key that is none", { opcode: WrOpcode.LocalInv, invalidateKey: 0x77 }, "LocQpOpErr 32"],
  ])("%s: the driver's status and vendor error, at its turn; the rest is flushed", (_name, request, status) => {
    const { send, receive, pair, told, ends, pool } = verbsPair()
    const received = receive(0, sge(0, 8))
    const good = send(0, write(0))
    const bad = send(0, request)
    const behind = send(0, write(0))
    pair.run()
    expect(told(0, "send")).toEqual([`${good} Success`, `${bad} ${status}`, `${behind} WrFlushErr`])
    expect(told(0, "receive")).toEqual([`${received} WrFlushErr`])
    // The peer hears of it.
    expect(ends.map(({ state }) => state)).toEqual([QpState.Err, QpState.Err])
    expect([pool.alive, pool.payloads.alive]).toEqual([0, 0])
  })

  it("a right that its memory has not", () => {
    const { send, pair, told, memories } = verbsPair()
    memories[0].rights.set(0x100, 0)
    const bad = send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${bad} LocAccessErr 50`])
  })

  it("a READ where none may be outstanding", () => {
    const { send, pair, told } = verbsPair({ settings: { initiatorDepth: 0 } })
    const bad = send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${bad} GeneralErr 33`])
  })

  it("memory that goes while its message is under way", () => {
    const { send, pair, told, memories, pool } = verbsPair()
    const bad = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 60_000)], ...remote(0) })
    pair.run(1e6)
    memories[0].rights.delete(0x100)
    pair.run()
    expect(told(0, "send")).toEqual([`${bad} LocAccessErr 48`])
    expect([pool.alive, pool.payloads.alive]).toEqual([0, 0])
  })
})

describe("what is wrong at the peer", () => {
  it.each<readonly [string, Partial<SendRequest>]>([
    ["a WRITE to a key that is none", write(0, 0x55)],
    ["a WRITE out of bounds", write(64_000)],
    ["a WRITE where no memory can be", { ...write(0), remoteAddress: 2n ** 64n - 1n }],
    ["a READ of a key that is none", { opcode: WrOpcode.RdmaRead, sges: [sge(0, 8)], ...remote(0, 0x55) }],
    [
      "an atomic between two places",
      { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(0, 8)], compareAdd: 1n, ...remote(4) },
    ],
  ])("%s: REM_ACCESS_ERR, also where the Terminate is lost at first", (_name, request) => {
    // Acknowledgements and Terminates of end 1 are lost now and then.
    let count = 0
    const lossy = verbsPair({
      path: ({ from, opcode }) => (from === 1 && opcode >= Opcode.Acknowledge && ++count % 2 === 0 ? [] : [6e6]),
    })
    for (const { send, receive, pair, told, ends, asyncEvents } of [verbsPair(), lossy]) {
      const received = receive(1, sge(0, 8))
      const good = send(0, write(0))
      const bad = send(0, request)
      const behind = send(0, write(0))
      pair.run()
      expect(told(0, "send")).toEqual([`${good} Success`, `${bad} RemAccessErr`, `${behind} WrFlushErr`])
      expect(told(1, "receive")).toEqual([`${received} WrFlushErr`])
      expect(ends.map(({ state }) => state)).toEqual([QpState.Err, QpState.Err])
      expect([asyncEvents(0), asyncEvents(1)]).toEqual([["QP_FATAL"], ["QP_FATAL"]])
    }
  })

  it("a SEND that is too long: the receive is out of its bounds, the sender's error is a general one", () => {
    const { send, receive, pair, told } = verbsPair()
    const short = receive(1, sge(0, 1500))
    const bad = send(0, { sges: [sge(0, 3000)] })
    pair.run()
    expect(told(1, "receive")).toEqual([`${short} RemAccessErr 3`])
    expect(told(0, "send")).toEqual([`${bad} GeneralErr`])
  })

  it("a key that a SEND is to make void and cannot", () => {
    const { send, receive, pair, told } = verbsPair()
    const received = receive(1)
    const bad = send(0, { opcode: WrOpcode.SendWithInv, invalidateKey: 0x77 })
    pair.run()
    expect(told(1, "receive")).toEqual([`${received} GeneralErr`])
    expect(told(0, "send")).toEqual([`${bad} RemAccessErr`])
  })

  it("memory that goes while a READ is answered", () => {
    const { send, pair, told, memories, pool } = verbsPair()
    const bad = send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 60_000)], ...remote(0, WINDOW_KEY) })
    pair.run(7e6)
    memories[1].rights.delete(WINDOW_KEY)
    pair.run()
    expect(told(0, "send")).toEqual([`${bad} RemAccessErr`])
    expect([pool.alive, pool.payloads.alive]).toEqual([0, 0])
  })

  it("more READs than it has room for", () => {
    const { send, pair, told } = verbsPair({ settings: { initiatorDepth: 8, responderResources: 2 } })
    for (let index = 0; index < 8; index++)
      send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 20_000)], ...remote(0, REMOTE_KEY) })
    pair.run()
    expect(told(0, "send").some((each) => each.endsWith("GeneralErr"))).toBe(true)
  })

  it("rights that the queue pair has not", () => {
    const { send, pair, told } = verbsPair({ settings: { accessFlags: 0 } })
    const bad = send(0, write(0))
    pair.run()
    expect(told(0, "send")).toEqual([`${bad} RemAccessErr`])
  })
})

describe("engines that cannot be made", () => {
  const options = (type: "rc" | "ud", sharedReceives: { take: () => undefined } | undefined) => ({
    type,
    qpn: 1,
    user: { domain: 1, qpn: 1 },
    memory: new TestMemory(1),
    sharedReceives,
    sendMax: 1,
    receiveMax: 1,
    signalAll: false,
  })

  it("datagrams without a compatibility mode, shared receive queues", () => {
    const transport = erdmaVerbs({ controller: fixedWindow(1) })
    expect(transport.types).toEqual(["rc"])
    expect(() => transport.makeEngine(0, options("ud", undefined))).toThrow(ErdmaError)
    expect(() => transport.makeEngine(0, options("rc", { take: () => undefined }))).toThrow(ErdmaError)
  })
})
