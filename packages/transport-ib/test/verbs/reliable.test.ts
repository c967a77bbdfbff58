import { WcOpcode, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { BASE } from "./memory.ts"
import { remote, sge, verbsPair } from "./pair.ts"

describe("SEND and RDMA WRITE over a reliable connection", () => {
  it("a SEND of several packets arrives once, in order, and completes on both sides", () => {
    const { memories, send, receive, pair, completions, said } = verbsPair()
    memories[0].paint(BASE, 600, 1)
    const received = receive(1, sge(1000, 100), sge(3000, 900))
    const sent = send(0, { sges: [sge(0, 250), sge(250, 350)] })
    pair.run()
    expect(said()).toEqual(["> SEND_FIRST 100", "> SEND_MIDDLE 101", "> SEND_LAST 102", "< ACK 102"])
    expect(completions(0, "send")).toMatchObject([
      { id: sent, status: WcStatus.Success, opcode: WcOpcode.Send, byteLength: 600 },
    ])
    expect(completions(1, "receive")).toMatchObject([
      { id: received, status: WcStatus.Success, opcode: WcOpcode.Recv, byteLength: 600, immediate: undefined },
    ])
    const whole = [...memories[1].slice(BASE + 1000, 100), ...memories[1].slice(BASE + 3000, 500)]
    expect(whole).toEqual([...memories[0].slice(BASE, 600)])
  })

  it("a WRITE lands in the peer's memory, and tells it nothing", () => {
    const { memories, send, pair, completions, said } = verbsPair()
    memories[0].paint(BASE, 700, 2)
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 700)], ...remote(5000) })
    pair.run()
    expect(said()).toEqual(["> WRITE_FIRST 100", "> WRITE_MIDDLE 101", "> WRITE_LAST 102", "< ACK 102"])
    expect(memories[1].slice(BASE + 5000, 700)).toEqual(memories[0].slice(BASE, 700))
    expect(completions(0, "send")).toMatchObject([{ status: WcStatus.Success, opcode: WcOpcode.RdmaWrite }])
    expect(completions(1, "receive")).toEqual([])
  })
})
