import { Layout, Packet } from "@rdmakit/packet"
import { Access, QpState, type Sge, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type DeviceQpType, GSI_QUEUE_KEY, type QueuePair, type SendWork } from "../src/index.ts"
import { capabilities, completionOf, engineOf, gidOf, lab, refusal, vector } from "./fakes.ts"

const sge = (length: number): Sge => ({ address: 0x7f0000000000, length, lkey: 0x1234 })
const send = (some: Partial<SendWork> = {}): SendWork => ({
  id: 1,
  opcode: WrOpcode.Send,
  sges: [sge(8)],
  signaled: true,
  ...some,
})

const inState = (qp: QueuePair, state: QpState): QueuePair => {
  engineOf(qp).state = state
  return qp
}

describe("posting sends", () => {
  it("waits for RTS; from there on everything goes to the engine, flushed or not", () => {
    const at = lab()
    const qp = at.qp()
    for (const state of Object.values(QpState)) {
      inState(qp, state)
      engineOf(qp).sendOutstanding = 0
      if (state < QpState.Rts) expect(refusal(() => qp.postSend(send())).errno).toBe("EINVAL")
      else qp.postSend(send())
    }
    expect(engineOf(qp).commands).toEqual(Array(4).fill({ type: "send", request: send() }))
    expect(at.world.kicked).toHaveLength(4)
  })

  it("has room for as many as it was made for", () => {
    const qp = inState(lab().qp(), QpState.Rts)
    for (let i = 0; i < capabilities.maxSendWr; i += 1) qp.postSend(send())
    expect(refusal(() => qp.postSend(send()))).toEqual({ errno: "ENOMEM", attribute: undefined })
    engineOf(qp).sendOutstanding -= 1
    qp.postSend(send())
  })

  it("of several takes all or none", () => {
    const qp = inState(lab().qp(), QpState.Rts)
    const bad = send({ id: 3, opcode: WrOpcode.SendWithImm })
    expect(refusal(() => qp.postSends([send({ id: 1 }), send({ id: 2 }), bad]))).toEqual({
      errno: "EINVAL",
      attribute: "immediate",
    })
    expect(engineOf(qp).commands).toEqual([])
    qp.postSends([1, 2, 3].map((id) => send({ id })))
    expect(refusal(() => qp.postSends([send(), send()])).errno).toBe("ENOMEM")
    expect(engineOf(qp).commands.map((each) => each.type === "send" && each.request.id)).toEqual([1, 2, 3])
  })

  const needs = {
    remoteAddress: 0x1000,
    remoteKey: 1,
    immediate: 0x89abcdef,
    invalidateKey: 1,
    compareAdd: 1n,
    swap: 2n,
    sges: [sge(8)],
  }
  const legal = { gsi: ["Send", "SendWithImm"] as ReadonlyArray<keyof typeof WrOpcode> }
  const types: ReadonlyArray<DeviceQpType> = ["rc", "uc", "ud", "gsi"]
  // What a service has not goes to the engine too, which completes it with LOC_QP_OP_ERR as rxe does.
  const every = types.flatMap((type) =>
    (Object.keys(WrOpcode) as Array<keyof typeof WrOpcode>).map((name) => ({ type, name })),
  )

  it.each(every)("$name on $type", ({ type, name }) => {
    const at = lab()
    const qp = inState(at.qp({ type }), QpState.Rts)
    const { address } = at.device.allocate(64)
    const region = at.pd.regMr({ address, length: 64, access: Access.LocalWrite | Access.MwBind })
    const window = at.pd.allocMw(2)
    const work: SendWork = { ...send(), ...needs, opcode: WrOpcode[name] }
    const local = name === "LocalInv" || name === "BindMw"
    const posted = {
      ...work,
      ...(local ? { sges: [] } : {}),
      ...(name === "BindMw"
        ? { bind: { window, remoteKey: window.rkey ^ 1, region, address, length: 64, access: 0 } }
        : {}),
      ...(type === "ud" || type === "gsi"
        ? { datagram: { address: at.pd.createAh(vector), qpn: 2, queueKey: 3 } }
        : {}),
    }
    if (type === "gsi" && !legal.gsi.includes(name)) {
      expect(refusal(() => qp.postSend(posted))).toEqual({ errno: "EINVAL", attribute: "opcode" })
      return
    }
    qp.postSend(posted)
    const [command] = engineOf(qp).commands
    expect(command).toMatchObject({ type: "send", request: { id: 1, opcode: WrOpcode[name] } })
  })

  it.each([
    [send({ sges: [sge(1), sge(1), sge(1)] }), "sges"],
    [send({ sges: [sge(2 ** 31), sge(1)] }), "sges"],
    [send({ sges: [{ ...sge(1), address: -1 }] }), "sges"],
    [send({ sges: [{ ...sge(1), address: Number.NaN }] }), "sges"],
    [send({ sges: [{ ...sge(1), address: 2 ** 53 }] }), "sges"],
    [send({ sges: [sge(2 ** 32)] }), "sges"],
    [send({ sges: [sge(-1)] }), "sges"],
    [send({ sges: [{ ...sge(1), lkey: 2 ** 32 }] }), "sges"],
    [send({ sges: [], inline: new Uint8Array(65) }), "inline"],
    [send({ inline: new Uint8Array(1) }), "inline"],
    [send({ opcode: WrOpcode.RdmaRead, sges: [], inline: new Uint8Array(8) }), "inline"],
    [send({ opcode: WrOpcode.RdmaWrite }), "remoteAddress"],
    [send({ opcode: WrOpcode.RdmaWrite, remoteAddress: 2 ** 53, remoteKey: 1 }), "remoteAddress"],
    [send({ opcode: WrOpcode.RdmaWrite, remoteAddress: -1, remoteKey: 1 }), "remoteAddress"],
    [send({ opcode: WrOpcode.RdmaWrite, remoteAddress: 1n << 64n, remoteKey: 1 }), "remoteAddress"],
    [send({ opcode: WrOpcode.RdmaWrite, remoteAddress: 8 }), "remoteKey"],
    [send({ opcode: WrOpcode.RdmaWrite, remoteAddress: 8, remoteKey: -1 }), "remoteKey"],
    [send({ opcode: WrOpcode.SendWithImm }), "immediate"],
    [send({ opcode: WrOpcode.SendWithImm, immediate: -1 }), "immediate"],
    [send({ opcode: WrOpcode.SendWithInv }), "invalidateKey"],
    [send({ opcode: WrOpcode.LocalInv, invalidateKey: 1 }), "sges"],
    [send({ opcode: WrOpcode.AtomicFetchAndAdd, ...needs, sges: [sge(4)] }), "sges"],
    [send({ opcode: WrOpcode.AtomicFetchAndAdd, ...needs, remoteAddress: 0x1004 }), "remoteAddress"],
    [send({ opcode: WrOpcode.AtomicFetchAndAdd, remoteAddress: 8, remoteKey: 1 }), "compareAdd"],
    [send({ opcode: WrOpcode.AtomicCmpAndSwp, remoteAddress: 8, remoteKey: 1, compareAdd: 1n }), "swap"],
    // Numbers would be no more than 53 bits, and stop the engine when it sends them.
    [send({ opcode: WrOpcode.AtomicFetchAndAdd, ...needs, compareAdd: 1 as unknown as bigint }), "compareAdd"],
    [send({ opcode: WrOpcode.AtomicCmpAndSwp, ...needs, swap: 1 as unknown as bigint }), "swap"],
    [
      send({ opcode: WrOpcode.AtomicWrite, remoteAddress: 8, remoteKey: 1, sges: [], inline: new Uint8Array(4) }),
      "inline",
    ],
    [
      send({ opcode: WrOpcode.AtomicWrite, remoteAddress: 4, remoteKey: 1, sges: [], inline: new Uint8Array(8) }),
      "remoteAddress",
    ],
    [send({ opcode: WrOpcode.BindMw, sges: [] }), "bind"],
    [send({ opcode: 10 as WrOpcode }), "opcode"],
  ] as ReadonlyArray<[SendWork, string]>)("refuses what is not in order: %#", (work, attribute) => {
    const qp = inState(lab().qp(), QpState.Rts)
    expect(refusal(() => qp.postSend(work))).toEqual({ errno: "EINVAL", attribute })
    expect(engineOf(qp).commands).toEqual([])
  })

  it("takes 64-bit addresses, messages of no bytes and of 2^31, and copies inline octets", () => {
    const qp = inState(lab().qp(), QpState.Rts)
    qp.postSend(send({ opcode: WrOpcode.RdmaWrite, remoteAddress: (1n << 64n) - 1n, remoteKey: 0xffffffff, sges: [] }))
    qp.postSend(send({ sges: [sge(2 ** 31)] }))
    const octets = Uint8Array.of(1, 2, 3)
    qp.postSend(send({ sges: [], inline: octets }))
    octets.fill(9)
    const last = engineOf(qp).commands[2]
    expect(last?.type === "send" && last.request.inline).toEqual(Uint8Array.of(1, 2, 3))
  })

  it("turns windows and regions into keys when they are bound", () => {
    const at = lab()
    const qp = inState(at.qp(), QpState.Rts)
    const { address } = at.device.allocate(64)
    const region = at.pd.regMr({ address, length: 64, access: Access.LocalWrite | Access.MwBind })
    const window = at.pd.allocMw(1)
    const options = { id: 5, signaled: true, region, address, length: 8, access: Access.RemoteRead }
    const old = window.rkey
    const first = qp.bindMw(window, options)
    const second = qp.bindMw(window, options)
    expect([first >>> 8, second >>> 8]).toEqual([old >>> 8, old >>> 8])
    expect([first & 255, second & 255]).toEqual([(old + 1) & 255, (old + 2) & 255])
    expect(engineOf(qp).commands[0]).toEqual({
      type: "send",
      request: {
        id: 5,
        signaled: true,
        opcode: WrOpcode.BindMw,
        sges: [],
        bind: { window: old, remoteKey: first, lkey: region.lkey, address, length: 8, access: Access.RemoteRead },
      },
    })
    expect(refusal(() => qp.bindMw(at.pd.allocMw(2), options))).toEqual({ errno: "EINVAL", attribute: "window" })
    const bind = { window, remoteKey: old + 256, region, address, length: 8, access: 0 }
    expect(refusal(() => qp.postSend(send({ opcode: WrOpcode.BindMw, sges: [], bind }))).attribute).toBe(
      "bind.remoteKey",
    )
  })
})

describe("datagrams", () => {
  it("go where the handle says; QP1 has a queue key of its own", () => {
    const at = lab()
    const address = at.pd.createAh(vector)
    const [ud, gsi] = [inState(at.qp({ type: "ud" }), QpState.Rts), inState(at.qp({ type: "gsi" }), QpState.Rts)]
    const datagram = { address, qpn: 0xffffff, queueKey: 0x11 }
    for (const qp of [ud, ud, gsi]) qp.postSend(send({ datagram }))
    const [first] = engineOf(ud).commands
    expect(first).toMatchObject({
      request: { datagram: { qpn: 0xffffff, queueKey: 0x11, path: { udpSourcePort: 0xc000 + ud.qpn } } },
    })
    expect(engineOf(gsi).commands[0]).toMatchObject({ request: { datagram: { queueKey: GSI_QUEUE_KEY } } })
    expect([gsi.qpn, gsi.engine.type, gsi.type]).toEqual([1, "ud", "gsi"])
    // One path each is resolved, and kept.
    expect(at.world.resolved).toBe(3)
    expect(refusal(() => at.qp({ type: "gsi" }))).toEqual({ errno: "EINVAL", attribute: "type" })
    inState(gsi, QpState.Reset)
    gsi.modify({ state: QpState.Init, pkeyIndex: 0, queueKey: 5 })
    expect(engineOf(gsi).commands.at(-1)).toMatchObject({ settings: { queueKey: GSI_QUEUE_KEY, partition: 0xffff } })
  })

  it("let their peer go with the handle, and a connection with RESET, the next path or its end", () => {
    const at = lab({ limits: { maxAh: 1 } })
    const { world } = at
    const held = () => world.resolved - world.released
    const ud = inState(at.qp({ type: "ud" }), QpState.Rts)
    const address = at.pd.createAh(vector)
    ud.postSend(send({ datagram: { address, qpn: 1, queueKey: 1 } }))
    expect(held()).toBe(1)
    expect(refusal(() => at.pd.createAh(vector)).errno).toBe("ENOMEM")
    expect(held()).toBe(1)
    address.destroy()
    expect(held()).toBe(0)
    const toInit = { state: QpState.Init, pkeyIndex: 0, port: 1, accessFlags: 0 }
    const asked = { destinationQp: 5, receivePsn: 0, responderResources: 1, minRnrTimer: 12 }
    const toRtr = { state: QpState.Rtr, address: vector, pathMtuBytes: 1024, ...asked }
    const rc = at.qp()
    for (let round = 1; round <= 2; round++) {
      rc.modify(toInit)
      engineOf(rc).state = QpState.Init
      rc.modify(toRtr)
      engineOf(rc).state = QpState.Rtr
      expect(held()).toBe(1)
      if (round === 2) break
      rc.modify({ state: QpState.Reset })
      engineOf(rc).state = QpState.Reset
      expect(held()).toBe(0)
    }
    rc.destroy()
    expect(held()).toBe(0)
    expect(refusal(() => at.pd.createAh({ ...vector, destinationGid: new Uint8Array(16) })).errno).toBe("EHOSTUNREACH")
    expect(at.pd.createAh(vector).sharedPath.peer).toBe(2)
  })

  it("are refused without a way to go", () => {
    const at = lab()
    const qp = inState(at.qp({ type: "ud" }), QpState.Rts)
    const address = at.pd.createAh(vector)
    const post = (datagram?: SendWork["datagram"]) => refusal(() => qp.postSend(send({ datagram })))
    expect(post()).toEqual({ errno: "EINVAL", attribute: "datagram" })
    expect(post({ address, qpn: 1 << 24, queueKey: 0 })).toEqual({ errno: "EINVAL", attribute: "datagram.qpn" })
    expect(post({ address, qpn: 2, queueKey: -1 })).toEqual({ errno: "EINVAL", attribute: "datagram.queueKey" })
    const foreign = at.device.allocPd().createAh(vector)
    expect(post({ address: foreign, qpn: 2, queueKey: 0 })).toEqual({ errno: "EINVAL", attribute: "datagram.address" })
    address.destroy()
    expect(post({ address, qpn: 2, queueKey: 0 })).toEqual({ errno: "EINVAL", attribute: "datagram.address" })
    expect(refusal(() => address.destroy()).errno).toBe("EINVAL")
    const nobody = { ...vector, destinationGid: new Uint8Array(16) }
    expect(refusal(() => at.pd.createAh(nobody))).toEqual({ errno: "EHOSTUNREACH", attribute: "vector" })
    expect(refusal(() => at.pd.createAh({ ...vector, sourceGidIndex: 7 }))).toEqual({
      errno: "EINVAL",
      attribute: "vector.sourceGidIndex",
    })
    const rc = inState(at.qp(), QpState.Rts)
    expect(refusal(() => rc.postSend(send({ datagram: { address: foreign, qpn: 1, queueKey: 1 } })))).toEqual({
      errno: "EINVAL",
      attribute: "datagram",
    })
  })

  it("are answered by the header of the receive, over IPv4 and IPv6", () => {
    const at = lab()
    const qp = at.qp({ type: "ud" })
    const completion = completionOf(qp, 1, { grh: true, sourceQp: 5 })
    const ipv4 = new Uint8Array(40)
    ipv4.set([0x45, 106, 0, 60, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 7, 10, 0, 0, 9], 20)
    expect(at.pd.createAhFromCompletion(completion, ipv4).vector).toEqual({
      port: 1,
      sourceGidIndex: 1,
      destinationGid: gidOf(7),
      trafficClass: 106,
      hopLimit: 255,
      flowLabel: 0,
      serviceLevel: 0,
    })
    const own = Uint8Array.of(0xfd, ...Array(14).fill(0), 9)
    at.world.gids = [...at.world.gids, { index: 3, gid: own, type: "rocev2" }]
    const peer = Uint8Array.of(0xfd, ...Array(14).fill(0), 7)
    const ipv6 = Uint8Array.of(0x66, 0xa1, 0x23, 0x45, 0, 32, 17, 64, ...peer, ...own)
    expect(at.pd.createAhFromCompletion(completion, ipv6).vector).toEqual({
      port: 1,
      sourceGidIndex: 3,
      destinationGid: peer,
      trafficClass: 0x6a,
      hopLimit: 255,
      flowLabel: 0x12345,
      serviceLevel: 0,
    })
    expect(refusal(() => at.pd.createAhFromCompletion({ ...completion, grh: false }, ipv4)).attribute).toBe("grh")
    expect(refusal(() => at.pd.createAhFromCompletion(completion, ipv4.subarray(1))).attribute).toBe("grh")
  })

  it("to a group reach the queue pairs that listen", () => {
    const at = lab()
    const [a, b] = [at.qp({ type: "ud" }), at.qp({ type: "ud" })]
    const group = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 224, 1, 2, 3)
    const other = Uint8Array.of(0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 224, 1, 2, 3)
    const packet = new Packet(at.pool).at(at.pool.alloc())
    const arrives = (gid: Uint8Array, qpn = 0xffffff) => {
      const at64 = packet.extend()
      const view = new DataView(gid.buffer)
      for (let i = 0; i < 4; i += 1) at.pool.extension[at64 + Layout.EXT.ipv6Destination + i] = view.getUint32(4 * i)
      at.pool.extension[at64 + Layout.EXT.destinationQp] = qpn
      return at.device.groupFor(packet)
    }
    expect(at.device.groupFor(packet)).toEqual([])
    expect(at.device.engineFor(packet)).toBeUndefined()
    a.attachMulticast(group)
    a.attachMulticast(group)
    b.attachMulticast(group)
    b.attachMulticast(other)
    expect(at.device.resources.multicastAttachments).toBe(3)
    expect(arrives(group)).toEqual([a.engine, b.engine])
    expect(arrives(other)).toEqual([b.engine])
    expect(arrives(group, a.qpn)).toEqual([])
    expect(at.device.engineFor(packet)).toBe(a.engine)
    expect(refusal(() => a.destroy()).errno).toBe("EBUSY")
    a.detachMulticast(group)
    expect(refusal(() => a.detachMulticast(group))).toEqual({ errno: "EINVAL", attribute: "gid" })
    expect(arrives(group)).toEqual([b.engine])
    b.detachMulticast(group)
    b.detachMulticast(other)
    expect(arrives(group)).toEqual([])
    expect(at.world.groups.map((each) => each[0]).join("")).toBe("++--")
    expect(refusal(() => a.attachMulticast(gidOf(7)))).toEqual({ errno: "EINVAL", attribute: "gid" })
    expect(refusal(() => at.qp().attachMulticast(group)).errno).toBe("EINVAL")
    for (const qp of [a, b]) qp.destroy()
    expect(at.device.engineFor(packet)).toBeUndefined()
  })
})

describe("posting receives", () => {
  it("from INIT on, as many and as long as the queue was made for", () => {
    const qp = lab().qp()
    const receive = { id: 1, sges: [sge(8)] }
    expect(refusal(() => qp.postRecv(receive)).errno).toBe("EINVAL")
    inState(qp, QpState.Init)
    expect(refusal(() => qp.postRecv({ id: 1, sges: [sge(1), sge(1), sge(1)] }))).toEqual({
      errno: "EINVAL",
      attribute: "sges",
    })
    expect(refusal(() => qp.postRecv({ id: 1, sges: [sge(2 ** 31), sge(1)] }))).toEqual({
      errno: "EINVAL",
      attribute: "sges",
    })
    for (let i = 0; i < capabilities.maxRecvWr; i += 1) qp.postRecv(receive)
    expect(refusal(() => qp.postRecv(receive)).errno).toBe("ENOMEM")
    inState(qp, QpState.Err)
    engineOf(qp).receiveOutstanding = 0
    qp.postRecv(receive)
    expect(engineOf(qp).commands).toEqual(Array(5).fill({ type: "receive", request: receive }))
  })
})
