import { Layout } from "@rdmakit/packet"
import { QpState, type SendRequest, WcOpcode, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { BASE } from "./memory.ts"
import { pathOf, QPN, QUEUE_KEY, type Setup, sge, verbsPair } from "./pair.ts"

const udPair = (setup: Setup = {}) => {
  const all = verbsPair({ type: "ud", ...setup })
  return {
    ...all,
    datagram: (request: Partial<SendRequest> = {}): number =>
      all.send(0, {
        sges: [sge(0, 100)],
        datagram: { path: pathOf(0), qpn: QPN[1], queueKey: QUEUE_KEY },
        ...request,
      }),
  }
}

describe("datagrams", () => {
  it("a datagram arrives behind 40 octets of network header, and says whom it is from", () => {
    const { memories, datagram, receive, pair, said, completions } = udPair()
    memories[0].paint(BASE, 100, 1)
    receive(1, sge(1000, 20), sge(2000, 200))
    datagram({ opcode: WrOpcode.SendWithImm, immediate: 0x89abcdef, solicited: true })
    expect(completions(0, "send")).toMatchObject([{ opcode: WcOpcode.Send, byteLength: 100 }])
    pair.run()
    expect(said()).toEqual(["> UD_SEND_IMM 100"])
    expect(completions(1, "receive")).toMatchObject([
      { byteLength: 140, immediate: 0x89abcdef, sourceQp: QPN[0], grh: true, opcode: WcOpcode.Recv },
    ])
    expect(memories[1].slice(BASE + 2020, 100)).toEqual(memories[0].slice(BASE, 100))
  })

  it("the header of IPv4 is in the last 20 octets, as Linux leaves it", () => {
    const { memories, datagram, receive, pair } = udPair()
    receive(1, sge(0, 200))
    datagram({ datagram: { path: { ...pathOf(0), trafficClass: 106, hopLimit: 9 }, qpn: QPN[1], queueKey: QUEUE_KEY } })
    pair.run()
    const header = memories[1].slice(BASE, 40)
    expect([...header.subarray(0, 20)]).toEqual(new Array(20).fill(0))
    // 20 IPv4, 8 UDP, 12 BTH, 8 DETH, 100, 4 ICRC.
    expect([...header.subarray(20, 30)]).toEqual([0x45, 106, 0, 152, 0, 0, 0x40, 0, 9, 17])
    expect([...header.subarray(32)]).toEqual([10, 0, 0, 1, 10, 0, 0, 2])
    let sum = 0
    for (let at = 20; at < 40; at += 2) sum += (header[at]! << 8) | header[at + 1]!
    expect((sum & 0xffff) + (sum >>> 16)).toBe(0xffff)
  })

  it("the header of IPv6 fills all of it", () => {
    const { memories, datagram, receive, pair } = udPair()
    const gid = (last: number): Uint8Array => Uint8Array.of(0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last)
    const path = {
      ...pathOf(0),
      sourceGid: gid(1),
      destinationGid: gid(2),
      trafficClass: 0x6a,
      flowLabel: 0x12345,
      hopLimit: 64,
    }
    receive(1, sge(0, 200))
    datagram({ sges: [sge(0, 5)], datagram: { path, qpn: QPN[1], queueKey: QUEUE_KEY } })
    pair.run()
    // 8 UDP, 12 BTH, 8 DETH, 5 and 3 of padding, 4 ICRC.
    const expected = [0x66, 0xa1, 0x23, 0x45, 0, 40, 17, 64, ...gid(1), ...gid(2)]
    expect([...memories[1].slice(BASE, 40)]).toEqual(expected)
  })

  it("one with another Q_Key is dropped", () => {
    const { datagram, receive, pair, told } = udPair()
    receive(1, sge(0, 200))
    datagram({ datagram: { path: pathOf(0), qpn: QPN[1], queueKey: QUEUE_KEY + 1 } })
    pair.run()
    expect(told(1, "receive")).toEqual([])
  })

  it("a controlled Q_Key stands for the queue pair's own", () => {
    const { datagram, receive, pair, told } = udPair()
    const id = receive(1, sge(0, 200))
    datagram({ datagram: { path: pathOf(0), qpn: QPN[1], queueKey: 0x8000_0000 } })
    pair.run()
    expect(told(1, "receive")).toEqual([`${id} Success`])
  })

  it("without a receive it is dropped, and the next one fits to the octet", () => {
    const { datagram, receive, pair, told, memories, completions } = udPair()
    datagram()
    pair.run()
    expect([told(1, "receive"), memories[1].touches]).toEqual([[], []])
    const id = receive(1, sge(0, 139))
    datagram({ sges: [sge(0, 99)] })
    pair.run()
    expect(told(1, "receive")).toEqual([`${id} Success`])
    expect(completions(1, "receive")[0]!.byteLength).toBe(139)
  })

  it("one that the receive is too short for ends the queue pair, and nothing is written", () => {
    const { datagram, receive, pair, told, memories, ends } = udPair()
    const id = receive(1, sge(0, 139))
    datagram()
    pair.run()
    // As two Linux kernels have it: testdata/linux-verbs.
    expect([told(1, "receive"), memories[1].touches]).toEqual([[`${id} LocQpOpErr`], []])
    expect([ends[0].state, ends[1].state]).toEqual([QpState.Rts, QpState.Err])
  })

  it("a message longer than the path MTU is not sent, and no error", () => {
    const { datagram, pair, told } = udPair()
    const ids = [datagram({ sges: [sge(0, 257)] }), datagram({ sges: [sge(0, 256)] })]
    pair.run()
    expect(told(0, "send")).toEqual(ids.map((id) => `${id} Success`))
    expect(pair.sent.map(({ payloadBytes }) => payloadBytes)).toEqual([256])
  })

  it("datagrams of no octets, and inline ones", () => {
    const { datagram, receive, pair, completions } = udPair()
    receive(1, sge(0, 40))
    receive(1, sge(0, 50))
    datagram({ sges: [] })
    datagram({ sges: [], inline: Uint8Array.of(1, 2, 3) })
    pair.run()
    expect(completions(1, "receive").map(({ byteLength }) => byteLength)).toEqual([40, 43])
  })

  it("node, flow and priority are those of the next datagram", () => {
    const { ends } = udPair()
    expect([ends[0].flow, ends[0].hasData]).toEqual([-1, false])
    const path = { ...pathOf(0), flow: 77, priority: 5 }
    const request = { id: 1, opcode: WrOpcode.Send, sges: [], signaled: false }
    ends[0].command(0, { type: "send", request: { ...request, datagram: { path, qpn: 9, queueKey: 1 } } })
    expect([ends[0].flow, ends[0].priority, ends[0].node, ends[0].hasData]).toEqual([77, 5, 5, true])
  })

  it("an error of sending stops the send queue alone: SQE", () => {
    const { datagram, ends, told, modify, pair } = udPair()
    const bad = datagram({ sges: [sge(0, 8, 0xbad)] })
    const after = datagram()
    expect(told(0, "send")).toEqual([`${bad} LocProtErr`, `${after} WrFlushErr`])
    expect(ends[0].state).toBe(QpState.Sqe)
    modify(0, QpState.Rts)
    const good = datagram()
    pair.run()
    expect(told(0, "send").at(-1)).toBe(`${good} Success`)
  })

  it("anything but a datagram is nobody's", () => {
    const { inject, receive, told } = udPair()
    receive(1, sge(0, 200))
    for (const opcode of [0x04, 0x24, 0x66, 0x81, 0xff]) {
      inject(1, (packet) => {
        packet.opcode = opcode
        packet.pool.extension[packet.extend() + Layout.EXT.queueKey] = QUEUE_KEY
      })
    }
    expect(told(1, "receive")).toEqual([])
  })
})
