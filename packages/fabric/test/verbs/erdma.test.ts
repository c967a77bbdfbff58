import { hpccFamily } from "@rdmakit/cc-erdma"
import { QpState, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { star } from "@rdmakit/topology"
import { erdmaVerbs } from "@rdmakit/transport-erdma"
import { describe, expect, it } from "vitest"
import { frameObserver, VerbsNetwork, type VerbsNetworkOptions } from "../../src/index.ts"
import { connect, destroy, type End, makeEnd, polled } from "./connected.ts"

const US = 1e6

const networkOf = (loss = 0, seed = 1, more: Partial<VerbsNetworkOptions> = {}): VerbsNetwork =>
  new VerbsNetwork({
    ...more,
    graph: star(2, { rate: "100Gbps", delay: "1us", loss }),
    seed,
    transport: erdmaVerbs({ controller: hpccFamily({ variant: "rtt" }) }),
  })

const pairOf = (network: VerbsNetwork, pathMtuBytes = 4096): readonly [End, End] => {
  const [a, b] = network.devices.map((device) => makeEnd(device, "rc"))
  connect(a!, b!, { pathMtuBytes })
  return [a!, b!]
}

const sge = ({ mr }: End, offset: number, length: number) => ({ address: mr.address + offset, length, lkey: mr.lkey })

const pattern = (bytes: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, at) => (at * 31 + seed * 17 + (at >> 8)) & 0xff)

it("its packets are not taken for RoCE's, whose opcodes they have", () => {
  const network = networkOf(0, 1, { onPacket: frameObserver(() => {}) })
  const [a, b] = pairOf(network)
  const remote = { remoteAddress: b.mr.address, remoteKey: b.mr.rkey }
  a.qp.postSend({ id: 1, opcode: WrOpcode.RdmaWrite, sges: [sge(a, 0, 9000)], signaled: true, ...remote })
  expect(() => network.run()).toThrow("opcode: found one of eRDMA's stream, expected one of RC, UC, UD, XRC, or 0x81")
})

describe.each([0, 0.02, 0.2])("operations of RC on eRDMA, %d of the packets lost", (loss) => {
  it("SEND, with immediate, WRITE, WRITE with immediate, READ, atomics", () => {
    const network = networkOf(loss)
    const [a, b] = pairOf(network)
    const octets = pattern(20_000, 1)
    a.memory.octets.set(octets)
    b.qp.postRecv({ id: 1, sges: [sge(b, 0, 30_000)] })
    b.qp.postRecv({ id: 2, sges: [sge(b, 30_000, 100)] })
    b.qp.postRecv({ id: 3, sges: [] })
    a.qp.postSend({ id: 11, opcode: WrOpcode.Send, sges: [sge(a, 0, 20_000)], signaled: true })
    a.qp.postSend({
      id: 12,
      opcode: WrOpcode.SendWithImm,
      sges: [sge(a, 7, 100)],
      signaled: true,
      immediate: 0x89abcdef,
    })
    const remote = (offset: number) => ({ remoteAddress: b.mr.address + offset, remoteKey: b.mr.rkey })
    a.qp.postSend({ id: 13, opcode: WrOpcode.RdmaWrite, sges: [sge(a, 100, 9000)], signaled: true, ...remote(40_000) })
    a.qp.postSend({
      id: 14,
      opcode: WrOpcode.RdmaWriteWithImm,
      sges: [sge(a, 0, 5000)],
      signaled: true,
      immediate: 7,
      ...remote(50_000),
    })
    a.qp.postSend({
      id: 15,
      opcode: WrOpcode.RdmaRead,
      sges: [sge(a, 30_000, 9000)],
      signaled: true,
      ...remote(40_000),
    })
    a.qp.postSend({
      id: 16,
      opcode: WrOpcode.AtomicFetchAndAdd,
      sges: [sge(a, 40_000, 8)],
      signaled: true,
      compareAdd: 5n,
      ...remote(60_000),
    })
    a.qp.postSend({
      id: 17,
      opcode: WrOpcode.AtomicCmpAndSwp,
      sges: [sge(a, 40_008, 8)],
      signaled: true,
      compareAdd: 5n,
      swap: 0x1122334455667788n,
      ...remote(60_000),
    })
    expect(network.run()).toBe(false)
    expect(polled(a).map(({ id, status, byteLength }) => [id, status, byteLength])).toEqual([
      [11, 0, 20_000],
      [12, 0, 100],
      [13, 0, 9000],
      [14, 0, 5000],
      [15, 0, 9000],
      [16, 0, 8],
      [17, 0, 8],
    ])
    expect(polled(b).map(({ id, status, byteLength, immediate }) => [id, status, byteLength, immediate])).toEqual([
      [1, 0, 20_000, undefined],
      [2, 0, 100, 0x89abcdef],
      [3, 0, 5000, 7],
    ])
    expect(b.memory.octets.subarray(0, 20_000)).toEqual(octets)
    expect(b.memory.octets.subarray(30_000, 30_100)).toEqual(octets.subarray(7, 107))
    expect(b.memory.octets.subarray(40_000, 49_000)).toEqual(octets.subarray(100, 9100))
    expect(b.memory.octets.subarray(50_000, 55_000)).toEqual(octets.subarray(0, 5000))
    expect(a.memory.octets.subarray(30_000, 39_000)).toEqual(octets.subarray(100, 9100))
    const view = new DataView(a.memory.octets.buffer, a.memory.octets.byteOffset)
    expect([view.getBigUint64(40_000, true), view.getBigUint64(40_008, true)]).toEqual([0n, 5n])
    const there = new DataView(b.memory.octets.buffer, b.memory.octets.byteOffset)
    expect(there.getBigUint64(60_000, true)).toBe(0x1122334455667788n)
    destroy(a)
    destroy(b)
    expect(network.kernel.pool.alive).toBe(0)
    expect(network.kernel.pool.payloads.alive).toBe(0)
  })
})

describe("what the verbs promise, on eRDMA", () => {
  it("a SEND that finds no receive waits for one, and those behind it", () => {
    const network = networkOf()
    const [a, b] = pairOf(network)
    a.memory.octets.set(pattern(100, 2))
    a.qp.postSend({ id: 1, opcode: WrOpcode.Send, sges: [sge(a, 0, 100)], signaled: true })
    a.qp.postSend({
      id: 2,
      opcode: WrOpcode.RdmaWrite,
      sges: [sge(a, 0, 100)],
      signaled: true,
      remoteAddress: b.mr.address + 500,
      remoteKey: b.mr.rkey,
    })
    network.run(20_000 * US)
    expect([polled(a).length, b.memory.octets[500]]).toEqual([0, 0])
    b.qp.postRecv({ id: 9, sges: [sge(b, 0, 100)] })
    const posted = network.now
    network.run()
    expect(polled(a).map(({ id, status }) => [id, status])).toEqual([
      [1, 0],
      [2, 0],
    ])
    expect(polled(b).map(({ id }) => id)).toEqual([9])
    expect(b.memory.octets.subarray(500, 600)).toEqual(pattern(100, 2))
    expect(network.now - posted).toBeLessThan(600_000 * US)
  })

  it("a peer that is gone: RETRY_EXC_ERR after some seconds, and the rest flushed", () => {
    const network = networkOf()
    const [a, b] = pairOf(network)
    b.qp.destroy()
    a.qp.postSend({ id: 1, opcode: WrOpcode.Send, sges: [], signaled: true })
    a.qp.postSend({ id: 2, opcode: WrOpcode.Send, sges: [], signaled: true })
    network.run()
    expect(polled(a).map(({ id, status }) => [id, status])).toEqual([
      [1, WcStatus.RetryExcErr],
      [2, WcStatus.WrFlushErr],
    ])
    expect(a.qp.state).toBe(QpState.Err)
    expect(network.now / US).toBeCloseTo(2_255_000, -4)
  })

  it.each([
    ["a wrong key", { remoteKey: 0x1234 }],
    ["out of bounds", { remoteOffset: (1 << 16) - 10 }],
  ])("%s at the peer: REM_ACCESS_ERR, what was before it succeeds, both ends are in ERR", (_name, wrong) => {
    const network = networkOf()
    const [a, b] = pairOf(network)
    b.qp.postRecv({ id: 5, sges: [sge(b, 0, 100)] })
    const write = (id: number, remoteOffset: number, remoteKey: number) =>
      a.qp.postSend({
        id,
        opcode: WrOpcode.RdmaWrite,
        sges: [sge(a, 0, 5000)],
        signaled: true,
        remoteAddress: b.mr.address + remoteOffset,
        remoteKey,
      })
    const { remoteKey = b.mr.rkey, remoteOffset = 0 } = wrong as { remoteKey?: number; remoteOffset?: number }
    write(1, 0, b.mr.rkey)
    write(2, remoteOffset, remoteKey)
    write(3, 0, b.mr.rkey)
    network.run()
    expect(polled(a).map(({ id, status }) => [id, status])).toEqual([
      [1, WcStatus.Success],
      [2, WcStatus.RemAccessErr],
      [3, WcStatus.WrFlushErr],
    ])
    expect(polled(b).map(({ id, status }) => [id, status])).toEqual([[5, WcStatus.WrFlushErr]])
    expect([a.qp.state, b.qp.state]).toEqual([QpState.Err, QpState.Err])
    expect(network.kernel.pool.alive).toBe(0)
    expect(network.kernel.pool.payloads.alive).toBe(0)
  })

  it("its own memory: LOC_ACCESS_ERR, with the driver's vendor error", () => {
    const network = networkOf()
    const [a] = pairOf(network)
    a.qp.postSend({ id: 1, opcode: WrOpcode.Send, sges: [{ ...sge(a, 0, 10), lkey: 0x99 }], signaled: true })
    network.run()
    expect(polled(a).map(({ id, status, vendorError }) => [id, status, vendorError])).toEqual([
      [1, WcStatus.LocAccessErr, 0x30],
    ])
  })
})
