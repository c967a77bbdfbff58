import { srd } from "@rdmakit/cc-srd"
import { Refusal, VerbsCodec } from "@rdmakit/codec"
import { Layout, Packet, PacketPool } from "@rdmakit/packet"
import { type Completion, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { leafSpine, star } from "@rdmakit/topology"
import { srdVerbs } from "@rdmakit/transport-srd"
import { describe, expect, it } from "vitest"
import { frameObserver, sharedBufferSwitches, VerbsNetwork } from "../../src/index.ts"
import { remoteOf, type SrdEnd, sgeOf, srdEnds, toEnd, unmakeEnd } from "./srdEnds.ts"

const MS = 1e9
const controller = srd()
const switches = sharedBufferSwitches({ loadBalancer: "entropy" })
const LINK = { rate: "100Gbps", delay: "1us" } as const

const pattern = (bytes: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, at) => (at * 31 + seed * 17 + (at >> 8)) & 0xff)

const drain = (cq: SrdEnd["cq"]): ReadonlyArray<Completion> => {
  const out: Array<Completion> = []
  for (let one = cq.pollOne(); one !== undefined; one = cq.pollOne()) out.push(one)
  return out
}

const networkOf = (graph: VerbsNetwork["graph"], seed = 1): VerbsNetwork =>
  new VerbsNetwork({ graph, seed, switches, transport: srdVerbs({ controller, seed }) })

/** Four leaves of two hosts, and eight spines. */
const fabric = () => leafSpine({ leaves: 4, spines: 8, hostsPerLeaf: 2 }, { host: LINK, fabric: LINK })

describe.each([0, 0.02, 0.2])("operations of SRD, %d of the packets lost", (loss) => {
  it("SEND, WRITE with immediate, READ, and nothing is left", () => {
    const network = networkOf(star(2, { ...LINK, loss }))
    const ends = srdEnds(network.devices, { bytes: 1 << 18 })
    const [a, b] = ends as [SrdEnd, SrdEnd]
    a.memory.octets.set(pattern(100_000, 1))
    b.qp.postRecv({ id: 1, sges: [sgeOf(b, 200_000, 4096)] })
    b.qp.postRecv({ id: 2, sges: [] })
    const common = { signaled: true, datagram: toEnd(a, ends, 1) }
    a.qp.postSend({ ...common, id: 11, opcode: WrOpcode.Send, sges: [sgeOf(a, 0, 4096)] })
    network.run(1 * MS)
    a.qp.postSend({
      ...common,
      id: 12,
      opcode: WrOpcode.RdmaWriteWithImm,
      sges: [sgeOf(a, 0, 100_000)],
      immediate: 5,
      ...remoteOf(b, 0),
    })
    network.run(30 * MS)
    a.qp.postSend({
      ...common,
      id: 13,
      opcode: WrOpcode.RdmaRead,
      sges: [sgeOf(a, 120_000, 90_000)],
      ...remoteOf(b, 5),
    })
    expect(network.run()).toBe(false)
    expect(drain(a.cq).map(({ id, status, byteLength }) => [id, status, byteLength])).toEqual([
      [11, 0, 4096],
      [12, 0, 100_000],
      [13, 0, 90_000],
    ])
    expect(drain(b.recvCq).map(({ id, status, byteLength, immediate }) => [id, status, byteLength, immediate])).toEqual(
      [
        [1, 0, 4096, undefined],
        [2, 0, 100_000, 5],
      ],
    )
    expect(b.memory.octets.subarray(0, 100_000)).toEqual(pattern(100_000, 1))
    expect(a.memory.octets.subarray(120_000, 210_000)).toEqual(pattern(100_000, 1).subarray(5, 90_005))
    for (const end of ends) unmakeEnd(end)
    expect([network.kernel.pool.alive, network.kernel.pool.payloads.alive]).toEqual([0, 0])
  })
})

describe("one queue pair", () => {
  it("sends to seven others; each is a context of the device, whose packets take all spines", () => {
    const bySpine = new Map<number, number>()
    const network = new VerbsNetwork({ graph: fabric(), seed: 3, switches, transport: srdVerbs({ controller }) })
    const ends = srdEnds(network.devices, { bytes: 1 << 22 })
    const [first] = ends as [SrdEnd]
    const sent = pattern(1 << 20, 9)
    first.memory.octets.set(sent)
    for (let to = 1; to < 8; to++) {
      const datagram = toEnd(first, ends, to)
      const where = { sges: [sgeOf(first, 0, 1 << 20)], ...remoteOf(ends[to]!, 1 << 20), datagram }
      first.qp.postSend({ id: to, signaled: true, opcode: WrOpcode.RdmaWrite, ...where })
    }
    const isSpine = network.graph.isSwitch
    const firstSpine = isSpine.length - 8
    network.run()
    for (let port = 0; port < 2 * network.graph.links.length; port++) {
      const { a, b } = network.graph.links[port >> 1]!
      const [from, to] = (port & 1) === 0 ? [a, b] : [b, a]
      // What leaves the first leaf for the spines.
      if (from === isSpine.indexOf(1) && to >= firstSpine) bySpine.set(to, network.kernel.sentBytes(port))
    }
    expect(drain(first.cq).map(({ status }) => status)).toEqual(new Array(7).fill(WcStatus.Success))
    for (let to = 1; to < 8; to++) {
      expect(Buffer.compare(ends[to]!.memory.octets.subarray(1 << 20, 1 << 21), sent)).toBe(0)
    }
    const loads = [...bySpine.values()]
    const mean = loads.reduce((sum, each) => sum + each, 0) / loads.length
    expect(loads).toHaveLength(8)
    // Some hundred ways that were drawn, of as many packets each.
    for (const load of loads) expect(load / mean).toBeGreaterThan(0.5)
  })

  it("B53: 8 octets sent after a megabyte, to one peer, complete first under some seed", () => {
    const firstOf = (seed: number): number => {
      const network = networkOf(fabric(), seed)
      const ends = srdEnds(network.devices, { bytes: 1 << 21 })
      const from = ends[0]!
      // Another sender into the same leaf makes the paths differ.
      const other = ends[2]!
      other.qp.postSend({
        id: 1,
        signaled: false,
        opcode: WrOpcode.RdmaWrite,
        sges: [sgeOf(other, 0, 1 << 20)],
        ...remoteOf(ends[6]!, 0),
        datagram: toEnd(other, ends, 6),
      })
      for (let id = 0; id < 257; id++) ends[6]!.qp.postRecv({ id, sges: [sgeOf(ends[6]!, 4096 * (id % 256), 4096)] })
      for (let id = 0; id < 256; id++) {
        const sges = [sgeOf(from, 4096 * id, 4096)]
        from.qp.postSend({ id, signaled: true, opcode: WrOpcode.Send, sges, datagram: toEnd(from, ends, 6) })
      }
      const datagram = toEnd(from, ends, 6)
      from.qp.postSend({ id: 256, signaled: true, opcode: WrOpcode.Send, sges: [sgeOf(from, 0, 8)], datagram })
      network.run()
      const sent = drain(from.cq)
      const received = drain(ends[6]!.recvCq)
      expect(sent.every(({ status }) => status === WcStatus.Success)).toBe(true)
      expect(received).toHaveLength(257)
      // Packets of the megabyte that had not come when the eight octets did.
      return 256 - received.findIndex(({ byteLength }) => byteLength === 8)
    }
    const overtaken = Array.from({ length: 3 }, (_, seed) => firstOf(seed))
    expect(Math.max(...overtaken)).toBeGreaterThan(0)
  })
})

describe("a peer that is cut off", () => {
  it("fails its work within the second, with an event of its address; others are served meanwhile", () => {
    const network = networkOf(fabric())
    const ends = srdEnds(network.devices)
    const [a, b, c] = ends as [SrdEnd, SrdEnd, SrdEnd]
    const work = (id: number, to: number) => ({
      id,
      signaled: true,
      opcode: WrOpcode.RdmaWrite,
      sges: [sgeOf(a, 0, 10_000)],
      ...remoteOf(ends[to]!, 0),
      datagram: toEnd(a, ends, to),
    })
    a.qp.postSend(work(1, 1))
    network.run(1 * MS)
    network.links.set(network.links.ofHost(1), false)
    a.qp.postSend(work(2, 1))
    a.qp.postSend(work(3, 2))
    network.run(2 * MS)
    expect(drain(a.cq).map(({ id }) => id)).toEqual([1, 3])
    expect(network.outstanding()).toEqual(["node 0, queue pair 0x0 (srd): 1 sends, 0 receives"])
    network.run()
    expect(drain(a.cq)).toMatchObject([{ id: 2, status: WcStatus.RespTimeoutErr, vendorError: 13 }])
    expect(network.now / MS).toBeGreaterThan(1000)
    expect(network.now / MS).toBeLessThan(1010)
    expect(a.device.pollAsyncEvent()).toEqual({ type: "REMOTE_UNRESPONSIVE", gid: b.device.gids[1]!.gid })
    expect(a.device.counters).toMatchObject({ unresponsive_remote_events: 1, rdma_write_wr_err: 1 })
    network.links.set(network.links.ofHost(1), true)
    a.qp.postSend(work(4, 1))
    network.run()
    expect(drain(a.cq)).toMatchObject([{ id: 4, status: WcStatus.Success }])
    expect(c.device.counters.rx_pkts).toBeGreaterThan(0)
  })

  it("a link between switches that fails is left at once: no message takes a millisecond more", () => {
    const network = networkOf(fabric())
    const ends = srdEnds(network.devices, { bytes: 1 << 22 })
    const [a] = ends as [SrdEnd]
    const uplink = network.graph.links.findIndex(({ a: left, b: right }) => left === 8 && right >= 12)
    for (let id = 0; id < 200; id++) {
      if (id === 100) network.links.impair(uplink, { loss: 1 })
      const datagram = toEnd(a, ends, 6)
      const work = { sges: [sgeOf(a, 0, 65_536)], ...remoteOf(ends[6]!, 0), datagram }
      a.qp.postSend({ id, signaled: true, opcode: WrOpcode.RdmaWrite, ...work })
      const before = network.now
      while (a.cq.length === 0)
        if (!network.step(Infinity)) break
        else network.settle()
      expect(drain(a.cq)).toMatchObject([{ id, status: WcStatus.Success }])
      expect(network.now - before).toBeLessThan(1 * MS)
    }
    expect(a.device.counters.retrans_pkts).toBeGreaterThan(0)
  })
})

it("a request that asks for a receive without end, and nobody left to post one, is no reason to go on", () => {
  const network = networkOf(star(2, LINK))
  const ends = srdEnds(network.devices, { rnrRetry: 7 })
  const [a, b] = ends as [SrdEnd, SrdEnd]
  a.qp.postSend({ id: 1, signaled: true, opcode: WrOpcode.Send, sges: [sgeOf(a, 0, 8)], datagram: toEnd(a, ends, 1) })
  network.run()
  expect(network.now).toBeLessThan(100 * MS)
  expect(network.outstanding()).toHaveLength(1)
  b.qp.postRecv({ id: 2, sges: [sgeOf(b, 0, 8)] })
  network.run()
  expect(drain(a.cq)).toMatchObject([{ id: 1, status: WcStatus.Success }])
})

it("every packet has as many octets as it takes on the wire, and is read back from them", () => {
  let wireBytes = 0
  const kinds = new Set<number>()
  const back = new Packet(new PacketPool())
  const codec = new VerbsCodec()
  const onFrame = frameObserver((_now, _node, octets, start, end) => {
    // Without FCS, preamble and gap.
    expect(end - start).toBe(wireBytes - 24)
    back.at(back.pool.alloc())
    expect(codec.decodeFrame(octets, start, end, back)).toBe(Refusal.None)
    kinds.add(back.pool.extension[back.extend() + Layout.EXT.segment]! & 31)
    back.pool.release(back.handle)
  })
  const network = new VerbsNetwork({
    graph: star(2, { ...LINK, loss: 0.05 }),
    switches,
    transport: srdVerbs({ controller }),
    onPacket: (now, node, packet, outward) => {
      wireBytes = packet.wireBytes
      onFrame(now, node, packet, outward)
    },
  })
  const ends = srdEnds(network.devices)
  const [a, b] = ends as [SrdEnd, SrdEnd]
  const common = { signaled: true, immediate: 7, datagram: toEnd(a, ends, 1), ...remoteOf(b, 0) }
  for (let id = 0; id < 20; id++) b.qp.postRecv({ id, sges: [sgeOf(b, 0, 4096)] })
  for (const [id, bytes] of [0, 1, 2, 3, 4096].entries()) {
    for (const opcode of [WrOpcode.Send, WrOpcode.SendWithImm, WrOpcode.RdmaWrite, WrOpcode.RdmaWriteWithImm])
      a.qp.postSend({ ...common, id, opcode, sges: [sgeOf(a, 0, bytes)] })
    a.qp.postSend({ ...common, id, opcode: WrOpcode.RdmaRead, sges: [sgeOf(a, 0, 3 * bytes)] })
  }
  network.run()
  expect(drain(a.cq).map(({ status }) => status)).toEqual(new Array(25).fill(WcStatus.Success))
  expect([...kinds].sort((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 17, 18])
})

it("the same seed is the same run, packet for packet", () => {
  const digestOf = (seed: number): string => {
    const network = networkOf(fabric(), seed)
    const ends = srdEnds(network.devices)
    for (const [from, end] of ends.entries()) {
      for (const to of ends.keys()) {
        if (from === to) continue
        const work = { sges: [sgeOf(end, 0, 20_000)], ...remoteOf(ends[to]!, 30_000), datagram: toEnd(end, ends, to) }
        end.qp.postSend({ id: to, signaled: true, opcode: WrOpcode.RdmaWrite, ...work })
      }
    }
    network.run()
    return network.digest
  }
  expect(digestOf(1)).toBe(digestOf(1))
  expect(digestOf(1)).not.toBe(digestOf(2))
})
