import { Layout } from "@rdmakit/packet"
import { QpState, WcOpcode, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { efaGenerations } from "../../src/index.ts"
import { pattern, QPN, remote, sge, srdPair } from "./network.ts"

describe("SEND", () => {
  it("takes a receive, with an immediate, and says who sent it", () => {
    const { send, receive, pair, memories, completions, told, pool } = srdPair()
    memories[0].octets.set(pattern(1024))
    const received = [receive(1, sge(100, 600), sge(800, 600)), receive(1)]
    const sent = [
      send(0, { sges: [sge(0, 500), sge(500, 524)] }),
      send(0, { opcode: WrOpcode.SendWithImm, immediate: 0xfeedface, solicited: true }),
    ]
    pair.run()
    expect(told(0, "send")).toEqual(sent.map((id) => `${id} Success`))
    expect(completions(1, "receive")).toMatchObject([
      { id: received[0], byteLength: 1024, immediate: undefined, opcode: WcOpcode.Recv, sourceQp: QPN[0] },
      { id: received[1], byteLength: 0, immediate: 0xfeedface, opcode: WcOpcode.Recv, grh: false },
    ])
    expect(completions(1, "receive")[0]!.sourceGid?.at(-1)).toBe(5)
    expect([...memories[1].octets.subarray(100, 700), ...memories[1].octets.subarray(800, 1224)]).toEqual([
      ...pattern(1024),
    ])
    const solicited = pair.events.map(({ event }) => event.type === "completion" && event.solicited)
    expect(solicited.filter(Boolean)).toHaveLength(1)
    expect([pool.alive, pool.payloads.alive]).toEqual([0, 0])
  })

  it("octets inline; unsignaled work completes in silence", () => {
    const { send, receive, pair, memories, told } = srdPair()
    receive(1, sge(0, 10))
    send(0, { inline: Uint8Array.of(1, 2, 3), signaled: false })
    pair.run()
    expect([...memories[1].octets.subarray(0, 3)]).toEqual([1, 2, 3])
    expect(told(0, "send")).toEqual([])
  })

  it("each message has its own way: packets of one message after the other leave by 64 UDP ports", () => {
    const ports = new Set<number>()
    const { send, receive, pair } = srdPair({
      onWay: (packet, { from }) => {
        if (from === 0) ports.add(packet.udpPorts & 0xffff)
      },
    })
    for (let index = 0; index < 64; index++) receive(1, sge(0, 1024))
    for (let index = 0; index < 64; index++) send(0, { sges: [sge(0, 1024)] })
    pair.run()
    expect(ports.size).toBe(64)
  })
})

describe("WRITE", () => {
  it("of many packets that come in any order; the immediate comes when all of it is there", () => {
    const seen: Array<boolean> = []
    const { send, receive, pair, memories, completions } = srdPair({
      path: ({ ordinal, from }) => [6e6 + (from === 0 ? ((ordinal * 7919) % 13) * 3e6 : 0)],
      onArrival: (_now, packet, to) => {
        if (to === 1 && packet.payloadBytes > 0)
          seen.push(
            (packet.pool.extension[(packet.extension << Layout.EXTENSION_SHIFT) + Layout.EXT.segment]! & 16) !== 0,
          )
      },
    })
    memories[0].octets.set(pattern(20_000))
    const received = receive(1, sge(0, 100))
    send(0, {
      opcode: WrOpcode.RdmaWriteWithImm,
      sges: [sge(0, 12_345), sge(12_345, 7_655)],
      immediate: 7,
      ...remote(30_000),
    })
    pair.run()
    expect(memories[1].octets.subarray(30_000, 50_000)).toEqual(pattern(20_000))
    expect(completions(1, "receive")).toMatchObject([
      { id: received, opcode: WcOpcode.RecvRdmaWithImm, byteLength: 20_000, immediate: 7, sourceQp: QPN[0] },
    ])
    expect(seen).toHaveLength(20)
    expect(seen.indexOf(true)).toBe(19)
  })

  it("of no bytes looks at no key", () => {
    const { send, pair, told } = srdPair()
    const sent = send(0, { opcode: WrOpcode.RdmaWrite, ...remote(0, 0x999) })
    pair.run()
    expect(told(0, "send")).toEqual([`${sent} Success`])
  })

  it("with immediate takes no receive where the queue pair was made so", () => {
    const { send, pair, told, completions } = srdPair({ options: { unsolicitedWrites: true } })
    const sent = send(0, { opcode: WrOpcode.RdmaWriteWithImm, sges: [sge(0, 8)], immediate: 9, ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${sent} Success`])
    expect(completions(1, "receive")).toMatchObject([{ unsolicited: true, immediate: 9, byteLength: 8 }])
  })
})

describe("READ", () => {
  it("of many packets, both ways at once, whatever is lost and repeated", () => {
    let drawn = 3
    const draw = (): number => {
      drawn = (Math.imul(drawn, 1664525) + 1013904223) >>> 0
      return drawn / 2 ** 32
    }
    const { send, pair, memories, told, ends } = srdPair({
      path: () => (draw() < 0.15 ? [] : draw() < 0.1 ? [6e6, 9e6] : [6e6 + draw() * 20e6]),
    })
    memories[0].octets.set(pattern(9000), 40_000)
    memories[1].octets.set(pattern(9000), 40_000)
    const ids = [0, 1].map((end) =>
      Array.from({ length: 200 }, (_, index) =>
        send(end as 0 | 1, { opcode: WrOpcode.RdmaRead, sges: [sge((index % 4) * 9000, 9000)], ...remote(40_000) }),
      ),
    )
    pair.run()
    for (const end of [0, 1] as const) {
      expect([...told(end, "send")].sort()).toEqual(ids[end]!.map((id) => `${id} Success`).sort())
      expect(ends[end].qp.sendOutstanding).toBe(0)
    }
    for (const { octets } of memories)
      for (const at of [0, 9000, 18_000, 27_000]) expect(octets.subarray(at, at + 9000)).toEqual(pattern(9000))
  })

  it("of no bytes, from any address", () => {
    const { send, pair, told } = srdPair()
    const sent = send(0, { opcode: WrOpcode.RdmaRead, remoteAddress: 2n ** 64n - 1n, remoteKey: 0x999 })
    pair.run()
    expect(told(0, "send")).toEqual([`${sent} Success`])
  })

  it("waits when 128 are outstanding, and those behind it do not", () => {
    const { send, pair, told } = srdPair()
    const reads = Array.from({ length: 300 }, () =>
      send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 1000)], ...remote(0) }),
    )
    const write = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
    pair.run()
    const order = told(0, "send")
    expect(order).toHaveLength(301)
    expect(order.indexOf(`${write} Success`)).toBeLessThan(order.indexOf(`${reads[299]} Success`))
  })
})

describe("what a device has", () => {
  const operations = { read: WrOpcode.RdmaRead, write: WrOpcode.RdmaWrite, send: WrOpcode.Send }

  it.each([
    ["v1", ["read", "write"]],
    ["v2", ["write"]],
    ["v3", []],
  ] as const)("generation %s lacks %s, and says so: LOC_QP_OP_ERR, 3", (generation, lacks) => {
    const { send, receive, pair, told } = srdPair({ options: { capabilities: efaGenerations[generation] } })
    receive(1, sge(0, 8))
    const ids = Object.entries(operations).map(
      ([name, opcode]) => [name, send(0, { opcode, sges: [sge(0, 8)], ...remote(0) })] as const,
    )
    pair.run()
    const expected = ids.map(([name, id]) =>
      (lacks as ReadonlyArray<string>).includes(name) ? `${id} LocQpOpErr 3` : `${id} Success`,
    )
    expect([...told(0, "send")].sort()).toEqual(expected.sort())
  })

  it("none has atomics, nor SENDs that invalidate", () => {
    const { send, told, ends } = srdPair()
    const ids = [
      send(0, { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(0, 8)], compareAdd: 1n, ...remote(0) }),
      send(0, { opcode: WrOpcode.SendWithInv, invalidateKey: 1 }),
      send(0, { opcode: WrOpcode.LocalInv, invalidateKey: 1 }),
    ]
    expect(told(0, "send")).toEqual(ids.map((id) => `${id} LocQpOpErr 3`))
    expect(ends[0].state).toBe(QpState.Rts)
  })

  it("the counters have the driver's names, and count what was done", () => {
    const { send, receive, pair, ends } = srdPair()
    receive(1, sge(0, 100))
    send(0, { sges: [sge(0, 100)] })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 3000)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 5000)], ...remote(0) })
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 50)], ...remote(0, 0x999) })
    pair.run()
    expect(ends[0].device.counters).toMatchObject({
      send_wrs: 1,
      send_bytes: 100,
      rdma_write_wrs: 1,
      rdma_write_bytes: 3000,
      rdma_read_wrs: 1,
      rdma_read_bytes: 5000,
      rdma_read_wr_err: 1,
      tx_bytes: 3100,
      rx_bytes: 5000,
      retrans_pkts: 0,
      unresponsive_remote_events: 0,
    })
    expect(ends[1].device.counters).toMatchObject({
      recv_wrs: 1,
      recv_bytes: 100,
      rdma_write_recv_bytes: 3000,
      rdma_read_resp_bytes: 5000,
      rx_drops: 1,
    })
  })
})
