import { QpState, WcOpcode, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { BASE } from "./memory.ts"
import { remote, type Setup, sge, verbsPair } from "./pair.ts"

const ucPair = (setup: Setup = {}) => verbsPair({ type: "uc", ...setup })
const losing =
  (...psns: ReadonlyArray<number>): NonNullable<Setup["path"]> =>
  ({ psn }) =>
    psns.includes(psn) ? [] : [1e6]

describe("an unreliable connection", () => {
  it("SEND and WRITE, with immediates, complete when they have left, and nothing is acknowledged", () => {
    const { memories, send, receive, pair, said, completions, told } = ucPair()
    memories[0].paint(BASE, 600, 1)
    receive(1, sge(2000, 600))
    receive(1, sge(3000, 600))
    const ids = [
      send(0, { sges: [sge(0, 600)] }),
      send(0, { opcode: WrOpcode.RdmaWriteWithImm, sges: [sge(0, 300)], immediate: 0x89abcdef, ...remote(5000) }),
      send(0, { opcode: WrOpcode.RdmaWrite, sges: [], ...remote(0) }),
    ]
    expect(told(0, "send")).toEqual(ids.map((id) => `${id} Success`))
    pair.run()
    expect(said()).toEqual([
      "> UC_SEND_FIRST 100",
      "> UC_SEND_MIDDLE 101",
      "> UC_SEND_LAST 102",
      "> UC_WRITE_FIRST 103",
      "> UC_WRITE_LAST_IMM 104",
      "> UC_WRITE_ONLY 105",
    ])
    expect(completions(1, "receive")).toMatchObject([
      { opcode: WcOpcode.Recv, byteLength: 600, immediate: undefined },
      { opcode: WcOpcode.RecvRdmaWithImm, byteLength: 300, immediate: 0x89abcdef },
    ])
    expect(memories[1].slice(BASE + 2000, 600)).toEqual(memories[0].slice(BASE, 600))
    expect(memories[1].slice(BASE + 5000, 300)).toEqual(memories[0].slice(BASE, 300))
  })

  it.each([0x100, 0x101, 0x102])("a lost packet, %i, drops its message; the receive is the next one's", (lost) => {
    const { memories, send, receive, pair, told, completions } = ucPair({ path: losing(lost) })
    const first = receive(1, sge(2000, 600))
    const second = receive(1, sge(3000, 600))
    memories[0].paint(BASE, 600, 1)
    send(0, { sges: [sge(0, 600)] })
    send(0, { sges: [sge(0, 100)] })
    pair.run()
    expect(told(1, "receive")).toEqual([`${first} Success`])
    expect(completions(1, "receive")[0]!.byteLength).toBe(100)
    send(0, { sges: [sge(0, 600)] })
    pair.run()
    expect(told(1, "receive").at(-1)).toBe(`${second} Success`)
    expect(memories[1].slice(BASE + 3000, 600)).toEqual(memories[0].slice(BASE, 600))
  })

  it("a message that is overtaken is dropped, and so is a packet that comes twice", () => {
    const { send, receive, pair, told } = ucPair({
      path: ({ psn }) => (psn === 0x101 ? [4e6] : psn === 0x104 ? [1e6, 1e6] : [1e6]),
    })
    for (let at = 0; at < 3; at++) receive(1, sge(2000, 600))
    send(0, { sges: [sge(0, 600)] })
    send(0, { sges: [sge(0, 600)] })
    pair.run()
    expect(told(1, "receive")).toEqual([])
  })

  it.each([
    ["without a receive", { sges: [sge(0, 8)] }, {}],
    ["with a wrong key", { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0), remoteKey: 0xbad }, {}],
    ["past the region", { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 900)], ...remote(65_500) }, {}],
    ["not allowed here", { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) }, { accessFlags: 0 }],
  ])("a message %s is dropped, and nobody told; the next one is taken", (_name, request, settings) => {
    const { send, receive, pair, told, ends, memories, asyncEvents } = ucPair({ settings })
    send(0, request)
    pair.run()
    expect(memories[1].touches).toEqual([])
    const received = receive(1, sge(0, 8))
    send(0, { sges: [sge(0, 8)] })
    pair.run()
    expect(told(1, "receive")).toEqual([`${received} Success`])
    expect([ends[0].state, ends[1].state, asyncEvents(1)]).toEqual([QpState.Rts, QpState.Rts, []])
  })

  it("a message longer than its receive ends the queue pair, and no octet lies outside of the receive", () => {
    const { send, receive, pair, told, memories, ends } = ucPair()
    const received = receive(1, sge(0, 300))
    const next = receive(1, sge(0, 300))
    send(0, { sges: [sge(0, 600)] })
    send(0, { sges: [sge(0, 300)] })
    pair.run()
    // As two Linux kernels have it: testdata/linux-verbs.
    expect(told(1, "receive")).toEqual([`${received} LocQpOpErr`, `${next} WrFlushErr`])
    expect([ends[0].state, ends[1].state]).toEqual([QpState.Rts, QpState.Err])
    const writes = memories[1].touches.filter(({ what }) => what === "write")
    expect(Math.max(...writes.map(({ address, bytes }) => address + bytes))).toBeLessThanOrEqual(BASE + 300)
  })

  it("a receive whose memory is not there is this side's error", () => {
    const { send, receive, pair, told, ends } = ucPair()
    const bad = receive(1, sge(0, 300, 0xbad))
    send(0, { sges: [sge(0, 8)] })
    pair.run()
    expect(told(1, "receive")).toEqual([`${bad} LocProtErr`])
    expect(ends[1].state).toBe(QpState.Err)
  })

  it("an error of sending stops the send queue alone: SQE", () => {
    const { send, receive, modify, pair, told, ends } = ucPair()
    const received = receive(0, sge(0, 8))
    const good = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
    const bad = send(0, { sges: [sge(0, 8, 0xbad)], signaled: false })
    const after = send(0, { sges: [sge(0, 8)], signaled: false })
    expect(told(0, "send")).toEqual([`${good} Success`, `${bad} LocProtErr`, `${after} WrFlushErr`])
    expect(ends[0].state).toBe(QpState.Sqe)
    send(1, { sges: [sge(0, 8)] })
    pair.run()
    expect(told(0, "receive")).toEqual([`${received} Success`])
    modify(0, QpState.Rts)
    const again = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
    pair.run()
    expect(told(0, "send").at(-1)).toBe(`${again} Success`)
    expect(pair.sent.map(({ psn }) => psn)).toEqual([0x100, 0x100, 0x101])
  })

  it("what UC has no opcode for is an error of sending", () => {
    for (const opcode of [WrOpcode.RdmaRead, WrOpcode.SendWithInv, WrOpcode.AtomicFetchAndAdd]) {
      const { ends, send, told } = ucPair()
      const id = send(0, { opcode, sges: [sge(0, 8)], ...remote(0) })
      expect(told(0, "send")).toEqual([`${id} LocQpOpErr`])
      expect(ends[0].state).toBe(QpState.Err)
    }
  })

  it("a drained send queue: a message under way ends first", () => {
    const { send, modify, asyncEvents } = ucPair()
    send(0, { sges: [sge(0, 600)] })
    modify(0, QpState.Sqd)
    expect(asyncEvents(0)).toEqual(["SQ_DRAINED"])
  })
})
