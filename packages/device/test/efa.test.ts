import { Layout, Packet, PacketPool } from "@rdmakit/packet"
import type { CarrierHost, DeviceTransport, PeerPath, VerbsEngine } from "@rdmakit/protocol"
import { QpState, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { Device, efaLimits } from "../src/index.ts"
import { capabilities, completionOf, engineOf, FakeEngine, FakeWorld, lab, refusal, vector } from "./fakes.ts"

const transport = { types: ["srd"] as const, makeEngine: () => new FakeEngine({} as never) }

describe("an EFA device", () => {
  it("its queues: two elements, READs of one, 32 octets inline, no shared receives", () => {
    const at = lab({ limits: efaLimits })
    const wanted = { ...capabilities, maxInlineBytes: 32, maxSendWr: 4096, maxRecvWr: 4096 }
    for (const over of [{ maxSendSge: 3 }, { maxRecvSge: 3 }, { maxInlineBytes: 33 }, { maxSendWr: 4097 }]) {
      const [name] = Object.keys(over)
      const refused = refusal(() => at.qp({ type: "srd", capabilities: { ...wanted, ...over } }))
      expect(refused).toEqual({ errno: "EINVAL", attribute: `capabilities.${name}` })
    }
    const srq = refusal(() => at.pd.createSrq({ maxWr: 1, maxSge: 1 }))
    expect(srq).toEqual({ errno: "EINVAL", attribute: "maxWr" })
    const qp = at.qp({ type: "srd", capabilities: wanted })
    engineOf(qp).state = QpState.Rts
    const sge = { address: 0, length: 8, lkey: 0 }
    const datagram = { address: at.pd.createAh(vector), qpn: 9, queueKey: 1 }
    const read = { id: 1, signaled: true, opcode: WrOpcode.RdmaRead, remoteAddress: 0, remoteKey: 0, datagram }
    qp.postSend({ ...read, sges: [sge] })
    expect(refusal(() => qp.postSend({ ...read, sges: [sge, sge] }))).toEqual({ errno: "EINVAL", attribute: "sges" })
  })

  it("every request says whom it is for, READs and WRITEs too", () => {
    const at = lab()
    const qp = at.qp({ type: "srd" })
    engineOf(qp).state = QpState.Rts
    const write = { id: 1, signaled: true, opcode: WrOpcode.RdmaWrite, sges: [], remoteAddress: 0, remoteKey: 0 }
    expect(refusal(() => qp.postSend(write))).toEqual({ errno: "EINVAL", attribute: "datagram" })
  })

  it("without the capability rnr_retry is not supported", () => {
    const device = new Device(new FakeWorld(), { ...transport, rnrRetry: false })
    const pd = device.allocPd()
    const cq = device.createCq(4)
    const qp = pd.createQp({ type: "srd", sendCq: cq, recvCq: cq, capabilities })
    engineOf(qp).state = QpState.Rtr
    const refused = refusal(() => qp.modify({ state: QpState.Rts, sendPsn: 0, rnrRetry: 3 }))
    expect(refused).toEqual({ errno: "EOPNOTSUPP", attribute: "rnrRetry" })
  })

  it("SRD is of a transport that says so alone", () => {
    const device = new Device(new FakeWorld(), { makeEngine: transport.makeEngine })
    const cq = device.createCq(4)
    const make = () => device.allocPd().createQp({ type: "srd", sendCq: cq, recvCq: cq, capabilities })
    expect(refusal(make)).toEqual({ errno: "EOPNOTSUPP", attribute: "type" })
  })
})

describe("an engine that queue pairs share", () => {
  const shared = () => {
    const world = new FakeWorld()
    const carrier = new FakeEngine({ type: "srd", qpn: 0 } as never)
    const forgotten: Array<PeerPath> = []
    const gone: Array<number> = []
    let host: CarrierHost | undefined
    const open = (_now: number, lent: CarrierHost): DeviceTransport => {
      host = lent
      return {
        types: ["srd"],
        carrier,
        counters: { tx_pkts: 7 },
        forget: (_time, path) => forgotten.push(path),
        forgetPeer: (_time, peer) => gone.push(peer),
        makeEngine: (_time, options) => Object.assign(new FakeEngine(options), { carrier }),
      }
    }
    const device = new Device(world, { ...transport, open })
    const pd = device.allocPd()
    const cq = device.createCq(4)
    const qp = () => pd.createQp({ type: "srd", sendCq: cq, recvCq: cq, capabilities })
    return { world, carrier, forgotten, gone, host: host!, device, pd, cq, qp }
  }

  it("has their turns, and those of packets that nobody is for; its events name the queue pair", () => {
    const { world, carrier, device, cq, qp } = shared()
    const [one, two] = [qp(), qp()]
    one.modify({ state: QpState.Init, port: 1, pkeyIndex: 0, queueKey: 0 })
    expect(world.kicked as ReadonlyArray<VerbsEngine>).toEqual([carrier])
    const pool = new PacketPool()
    const packet = new Packet(pool).at(pool.alloc())
    const at = packet.extend() + Layout.EXT.destinationQp
    for (const qpn of [one.qpn, 0, 0x999]) {
      pool.extension[at] = qpn
      expect(device.engineFor(packet)).toBe(carrier)
    }
    const completion = completionOf(two, 42)
    device.handleEvent(0, carrier, { type: "completion", queue: "send", solicited: false, completion })
    expect(cq.pollOne()).toMatchObject({ id: 42, qpn: two.qpn })
    device.handleEvent(0, carrier, { type: "async", event: "QP_FATAL", qpn: one.qpn })
    expect(device.pollAsyncEvent()).toEqual({ type: "QP_FATAL", qp: one })
    // A queue pair's own engine says nothing.
    device.handleEvent(0, two.engine, { type: "completion", queue: "send", solicited: false, completion })
    expect(cq.pollOne()).toBeUndefined()
    expect(device.counters).toEqual({ tx_pkts: 7 })
  })

  it("is told when the last address handle of a node is gone, and of each that goes", () => {
    const { forgotten, host, pd } = shared()
    const [first, second] = [pd.createAh(vector), pd.createAh(vector)]
    const { peer } = first.pathFor(1)
    expect([host.knows(peer), host.knows(peer + 1)]).toEqual([true, false])
    first.destroy()
    expect([host.knows(peer), forgotten.length]).toEqual([true, 1])
    second.destroy()
    expect([host.knows(peer), forgotten.length]).toEqual([false, 2])
  })

  it("is told that a number is another's, and holds none of those that only send", () => {
    const { world, device, gone, host } = shared()
    const pool = new PacketPool()
    const packet = new Packet(pool).at(pool.alloc())
    const at = packet.extend()
    const words = new DataView(world.gids[1]!.gid.buffer)
    for (let word = 0; word < 4; word++) {
      pool.extension[at + Layout.EXT.ipv6Source + word] = words.getInt32(4 * word)
      pool.extension[at + Layout.EXT.ipv6Destination + word] = words.getInt32(4 * word)
    }
    expect(host.pathTo(packet)?.peer).toBe(2)
    expect([world.resolved, world.released]).toEqual([1, 1])
    device.forgetPeer(0, 2)
    expect(gone).toEqual([2])
  })

  it("a peer that does not answer is an event of no queue pair", () => {
    const { carrier, device, pd } = shared()
    const path = pd.createAh(vector).pathFor(1)
    device.handleEvent(0, carrier, { type: "unresponsive", path })
    expect(device.pollAsyncEvent()).toEqual({ type: "REMOTE_UNRESPONSIVE", gid: path.destinationGid })
  })
})
