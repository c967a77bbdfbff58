import { LOCAL_KEY, REMOTE_KEY } from "@rdmakit/conformance"
import { Access, QpState, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { EfaStatus, efaGenerations, wcStatusOf } from "../../src/index.ts"
import { MTU, pathTo, remote, sge, srdPair } from "./network.ts"

const write = { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 100)], ...remote(0) }
const read = { opcode: WrOpcode.RdmaRead, sges: [sge(0, 100)], ...remote(0) }

describe("the device's codes", () => {
  it("are the verbs' as the driver maps them (providers/efa/verbs.c: to_ibv_status)", () => {
    const names = Object.entries(WcStatus)
    const mapped = Object.values(EfaStatus).map((code) => [
      code,
      names.find(([, status]) => status === wcStatusOf(code))?.[0],
    ])
    expect(mapped).toEqual([
      [0, "Success"],
      [1, "WrFlushErr"],
      [2, "LocQpOpErr"],
      [3, "LocQpOpErr"],
      [4, "LocQpOpErr"],
      [5, "LocProtErr"],
      [6, "LocLenErr"],
      [7, "RemAccessErr"],
      [8, "RemAbortErr"],
      [9, "RemInvRdReqErr"],
      [10, "RnrRetryExcErr"],
      [11, "RemInvReqErr"],
      [12, "BadRespErr"],
      [13, "RespTimeoutErr"],
      [14, "RemOpErr"],
      [15, "RespTimeoutErr"],
      [18, "RemInvReqErr"],
    ])
    expect(wcStatusOf(99)).toBe(WcStatus.GeneralErr)
  })
})

/** A request that is refused, and one after it that is not, for nothing else changes. */
const refusalOf = (
  setup: Parameters<typeof srdPair>[0],
  request: object,
  prepare = (_: ReturnType<typeof srdPair>) => {},
) => {
  const network = srdPair(setup)
  const { send, receive, pair, told, ends } = network
  prepare(network)
  const sent = send(0, request)
  pair.run()
  const [outcome] = told(0, "send")
  receive(1, sge(0, MTU))
  const after = send(0, { sges: [sge(0, 8)] })
  pair.run()
  expect(told(0, "send").at(-1)).toBe(`${after} Success`)
  expect(ends.map(({ state }) => state)).toEqual([QpState.Rts, QpState.Rts])
  return outcome?.replace(`${sent} `, "")
}

describe("a request is refused here", () => {
  it.each([
    ["whose memory nobody has registered", { sges: [sge(0, 8, 0x999)] }, "LocProtErr 5"],
    ["whose memory ends too early", { sges: [sge(65_530, 8)] }, "LocProtErr 5"],
    ["a READ into memory that may not be written to", { ...read, sges: [sge(0, 8, 0x700)] }, "LocProtErr 5"],
    ["a SEND longer than the MTU", { sges: [sge(0, MTU + 1)] }, "LocLenErr 6"],
    ["a WRITE longer than the device writes", { ...write, sges: [sge(0, 5001)] }, "LocLenErr 6"],
    ["for a multicast group", { datagram: { path: pathTo(0, 0xffff), qpn: 1, queueKey: 0 } }, "LocQpOpErr 4"],
  ])("%s", (_, request, expected) => {
    const setup = { options: { capabilities: { ...efaGenerations.v3, maxRdmaBytes: 5000 } } }
    const readOnly = ({ memories }: ReturnType<typeof srdPair>) => memories[0].rights.set(0x700, 0)
    expect(refusalOf(setup, request, readOnly)).toBe(expected)
  })
})

describe("a request is refused there, which changes nothing", () => {
  const rights = (access: number) => (network: ReturnType<typeof srdPair>) =>
    network.memories[1].rights.set(REMOTE_KEY, access)

  it("no queue pair of the number", () => {
    expect(refusalOf({}, { datagram: { path: pathTo(0), qpn: 0x99, queueKey: 0x1111 } })).toBe("RemInvRdReqErr 9")
  })
  it("another queue key: the message is dropped", () => {
    const network = (each: ReturnType<typeof srdPair>) => each.receive(1, sge(0, 100))
    const datagram = { path: pathTo(0), qpn: 0x22, queueKey: 0x2222 }
    expect(refusalOf({}, { sges: [sge(0, 8)], datagram }, network)).toBe("RemInvRdReqErr 9")
  })
  it("no receive", () => {
    expect(refusalOf({}, { sges: [sge(0, 8)] })).toBe("RnrRetryExcErr 10")
    expect(refusalOf({}, { ...write, opcode: WrOpcode.RdmaWriteWithImm, immediate: 1 })).toBe("RnrRetryExcErr 10")
  })
  it("a receive that is too short, and stays", () => {
    const network = srdPair()
    const short = network.receive(1, sge(0, 7))
    const ids = [network.send(0, { sges: [sge(0, 8)] }), network.send(0, { sges: [sge(0, 7)] })]
    network.pair.run()
    expect(network.told(0, "send")).toEqual([`${ids[0]} RemInvReqErr 11`, `${ids[1]} Success`])
    expect(network.told(1, "receive")).toEqual([`${short} Success`])
  })
  it("a receive whose memory is gone: both sides are told", () => {
    const network = srdPair()
    const gone = network.receive(1, sge(0, 100, 0x999))
    const sent = network.send(0, { sges: [sge(0, 8)] })
    network.pair.run()
    expect(network.told(0, "send")).toEqual([`${sent} BadRespErr 12`])
    expect(network.told(1, "receive")).toEqual([`${gone} LocProtErr 5`])
  })
  it.each([
    ["WRITE", write, Access.RemoteRead],
    ["READ", read, Access.RemoteWrite],
  ])(
    "a %s with a key that is none, an lkey, bounds that it leaves, or a right that it has not",
    (_, request, access) => {
      const refused = "RemAccessErr 7"
      expect(refusalOf({}, { ...request, remoteKey: 0x999 })).toBe(refused)
      expect(refusalOf({}, { ...request, remoteKey: LOCAL_KEY })).toBe(refused)
      expect(refusalOf({}, { ...request, remoteAddress: 0x1000 + 65_500 })).toBe(refused)
      expect(refusalOf({}, { ...request, remoteAddress: 0 })).toBe(refused)
      expect(refusalOf({}, { ...request, remoteAddress: 2n ** 64n - 8n })).toBe(refused)
      expect(refusalOf({}, request, rights(access))).toBe(refused)
    },
  )
  it("RDMA from a device that the peer has no address handle for; a SEND comes through", () => {
    const strange = ({ ends }: ReturnType<typeof srdPair>) => ends[1].known.clear()
    expect(refusalOf({}, write, strange)).toBe("RemOpErr 14")
    expect(refusalOf({}, read, strange)).toBe("RemOpErr 14")
  })
  it("RDMA that the peer's generation has not", () => {
    const other = { other: { capabilities: efaGenerations.v1 } }
    expect(refusalOf(other, write)).toBe("RemInvReqErr 18")
    expect(refusalOf(other, read)).toBe("RemInvReqErr 18")
  })
  it("a READ whose memory goes away while it is answered", () => {
    const network = srdPair()
    const sent = network.send(0, { ...read, sges: [sge(0, 60_000)] })
    network.pair.run(8e6)
    network.memories[1].rights.delete(REMOTE_KEY)
    network.pair.run()
    expect(network.told(0, "send")).toEqual([`${sent} RemAccessErr 7`])
  })
  it("a READ whose queue pair there ends while it is answered", () => {
    const network = srdPair()
    const sent = network.send(0, { ...read, sges: [sge(0, 60_000)] })
    network.pair.run(8e6)
    network.modify(1, QpState.Reset)
    network.pair.run()
    expect(network.told(0, "send")).toEqual([`${sent} RemAbortErr 8`])
  })

  it("whatever is lost, a refusal is told once, and nothing was delivered", () => {
    for (let seed = 1; seed <= 20; seed++) {
      let drawn = seed
      const draw = (): number => {
        drawn = (Math.imul(drawn, 1664525) + 1013904223) >>> 0
        return drawn / 2 ** 32
      }
      const { send, receive, pair, told, modify } = srdPair({
        path: () => (draw() < 0.3 ? [] : [6e6, 6e6 + draw() * 60e6]),
      })
      const ids = Array.from({ length: 50 }, () => send(0, { sges: [sge(0, 8)] }))
      pair.run(20e6)
      // Receives come late: copies of packets that were refused come later still.
      const receives = Array.from({ length: 100 }, () => receive(1, sge(0, 8)))
      pair.run()
      const outcomes = told(0, "send")
      expect(outcomes).toHaveLength(ids.length)
      const delivered = outcomes.filter((each) => each.endsWith("Success")).length
      expect(delivered + outcomes.filter((each) => each.endsWith("RnrRetryExcErr 10")).length, `seed ${seed}`).toBe(50)
      expect(told(1, "receive"), `seed ${seed}`).toHaveLength(delivered)
      modify(1, QpState.Err)
      expect(told(1, "receive")).toHaveLength(receives.length)
    }
  })
})
