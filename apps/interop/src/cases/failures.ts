/* What the peer refuses, and what nobody answers: NAKs, RNR, silence, and the flush behind them. */
import { Access, WrOpcode } from "@rdmakit/protocol"
import type { Case, Roles } from "./Case.ts"
import { openDatagrams } from "./operations.ts"
import { connect, initialize, QKEY, readyToReceive, readyToSend, type Side, STATE } from "./Side.ts"

const ALL = Access.LocalWrite | Access.RemoteWrite | Access.RemoteRead | Access.RemoteAtomic
const { RdmaWrite, RdmaRead, AtomicFetchAndAdd, AtomicCmpAndSwp, RdmaWriteWithImm } = WrOpcode

/** What one operation aims at. */
interface Aim {
  readonly op: number
  readonly bytes?: number
  readonly offset?: number
  /** Flips bits of the remote key. */
  readonly spoil?: number
  /** Of the responder's region, and of its queue pair. */
  readonly access?: number
  readonly qpAccess?: number
  readonly resources?: number
}

/** One operation that the responder is to judge; a receive is posted, which nobody should take. */
const aimed =
  (aim: Aim) =>
  async ({ requester, responder }: Roles): Promise<void> => {
    const { op, bytes = 8, offset = 0, spoil = 0, access = ALL, qpAccess = ALL, resources = 8 } = aim
    await requester.open()
    await responder.open({ access })
    await connect(requester, responder, {}, { init: { access: qpAccess }, rtr: { resources } })
    await responder.receive(100, { sge: "m:0:64" })
    await responder.must("fill", { seed: 9 })
    const rkey = (responder.rkey ^ spoil) >>> 0
    const posted = await requester.send(1, {
      op,
      sge: bytes === 0 ? undefined : `m:0:${bytes}`,
      rkey,
      address: String(responder.address + BigInt(offset)),
    })
    if (posted) await requester.wait()
    await responder.wait(1, 150)
    await responder.check("memory is untouched", { seed: 9 })
  }

const kinds = [
  ["WRITE", RdmaWrite],
  ["READ", RdmaRead],
  ["atomic", AtomicFetchAndAdd],
] as const

const remote: ReadonlyArray<Case> = [
  ...kinds.flatMap(
    ([kind, op]): ReadonlyArray<Case> => [
      { name: `${kind} with another key`, run: aimed({ op, spoil: 0x5500 }) },
      { name: `${kind} with another tag of the key`, run: aimed({ op, spoil: 0x55 }) },
      { name: `${kind} past the end`, run: aimed({ op, offset: 65_532 + 4 }) },
      { name: `${kind} to a queue pair that allows none`, run: aimed({ op, qpAccess: 0 }) },
      { name: `${kind} to a region that allows none`, run: aimed({ op, access: Access.LocalWrite }) },
    ],
  ),
  {
    name: "WRITE that begins inside and ends outside",
    run: aimed({ op: RdmaWrite, offset: 65_536 - 2000, bytes: 3000 }),
  },
  {
    name: "READ that begins inside and ends outside",
    run: aimed({ op: RdmaRead, offset: 65_536 - 2000, bytes: 3000 }),
  },
  { name: "WRITE of several packets before the region", run: aimed({ op: RdmaWrite, offset: -1, bytes: 3000 }) },
  { name: "WRITE with immediate and another key", run: aimed({ op: RdmaWriteWithImm, spoil: 0x5500 }) },
  { name: "WRITE of nothing with another key", run: aimed({ op: RdmaWrite, bytes: 0, spoil: 0x5500 }) },
  { name: "READ of nothing with another key", run: aimed({ op: RdmaRead, bytes: 0, spoil: 0x5500 }) },
  { name: "fetch and add, misaligned", run: aimed({ op: AtomicFetchAndAdd, offset: 3 }) },
  { name: "compare and swap, misaligned", run: aimed({ op: AtomicCmpAndSwp, offset: 4 }) },
  { name: "READ where no responder resources are", run: aimed({ op: RdmaRead, resources: 0 }) },
  { name: "atomic where no responder resources are", run: aimed({ op: AtomicFetchAndAdd, resources: 0 }) },
]

const tooLong = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.open()
  await connect(requester, responder)
  await responder.receive(100, { sge: "m:0:64" })
  await responder.receive(101, { sge: "m:0:64" })
  await requester.send(1, { sge: "m:0:2000" })
  await requester.send(2, { sge: "m:0:8" })
  await requester.wait(2)
  await responder.wait(2, 500)
}

/** RNR retries: 7 would be without end. */
const notReady =
  (retries: number, op: number) =>
  async ({ requester, responder }: Roles): Promise<void> => {
    await requester.open()
    await responder.open()
    await connect(requester, responder, { rts: { rnrretry: retries } }, { rtr: { rnrtimer: 14 } })
    const { rkey, address } = responder
    await requester.send(1, { op, sge: "m:0:700", rkey, address: String(address) })
    await requester.wait(1, 3000)
  }

/** The peer's queue pair is in a state, or gone. */
const silentPeer =
  (prepare: (responder: Side) => Promise<unknown>) =>
  async ({ requester, responder }: Roles): Promise<void> => {
    await requester.open()
    await responder.open()
    await connect(requester, responder, { rts: { timeout: 10, retry: 2 } })
    const name = "qp"
    await prepare(responder)
    await requester.receive(200, { sge: "m:0:64" })
    await requester.send(1, {
      qp: name,
      op: RdmaWrite,
      sge: "m:0:64",
      rkey: responder.rkey,
      address: String(responder.address),
    })
    await requester.send(2, { sge: "m:0:64" })
    await requester.wait(3, 4000)
  }

const destroyed = silentPeer(async (responder) => {
  // Another takes its name, so that there is a state to ask for.
  await responder.must("destroy", { qp: "qp" })
  await responder.must("qp", {})
})

/** What was posted after the failure, and before it was known, is flushed in order; so are the receives. */
const flushed = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.open()
  await connect(requester, responder)
  for (let id = 200; id < 203; id++) await requester.receive(id, { sge: "m:0:64" })
  for (let id = 100; id < 103; id++) await responder.receive(id, { sge: "m:0:64" })
  const { rkey, address } = responder
  await requester.send(1, { sge: "m:0:64" })
  await requester.send(2, { op: RdmaWrite, sge: "m:0:64", rkey: (rkey ^ 0x5500) >>> 0, address: String(address) })
  await requester.send(3, { op: RdmaRead, sge: "m:0:64", rkey, address: String(address) })
  await requester.send(4, { sge: "m:0:64", flags: 0 })
  await requester.send(5, { sge: "m:0:64" })
  // The sides of the connection end at different times, so each queue's order is looked at alone.
  const sends = await requester.wait(8, 2000)
  requester.fact(
    "sends",
    sends
      .filter(({ id }) => id < 100)
      .map(({ id }) => id)
      .join(),
  )
  requester.fact(
    "receives",
    sends
      .filter(({ id }) => id >= 200)
      .map(({ id }) => id)
      .join(),
  )
  requester.record.completions.sort((a, b) => a.id - b.id)
  await responder.wait(3, 500)
  await requester.send(6, { sge: "m:0:64" })
  await requester.receive(203, { sge: "m:0:64" })
  await requester.wait(2, 500)
}

/** A program moves its queue pair to ERR. */
const movedToError = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.open()
  await connect(requester, responder)
  for (let id = 200; id < 203; id++) await requester.receive(id, { sge: "m:0:64" })
  await requester.must("modify", { state: STATE.Err })
  await requester.wait(3, 1000)
  await requester.send(1, { sge: "m:0:64" })
  await requester.wait(1, 500)
  await requester.try("ERR to RTS", "modify", { state: STATE.Rts })
  await requester.try("ERR to RESET", "modify", { state: STATE.Reset })
}

/** Writes through a window that does not cover, or belongs to another queue pair. */
const windowMisused =
  (misuse: "outside" | "other queue pair" | "access") =>
  async ({ requester, responder }: Roles): Promise<void> => {
    await requester.open()
    await responder.open({ access: ALL | Access.MwBind })
    await connect(requester, responder)
    const before = Number((await responder.must("mw")).rkey)
    const key = ((before & 0xffffff00) | ((before + 1) & 0xff)) >>> 0
    const bind = { op: WrOpcode.BindMw, mw: "mw", mr: "m", key, offset: 4096, bytes: 4096 }
    const access = misuse === "access" ? Access.RemoteRead : Access.RemoteWrite
    if (misuse === "other queue pair") {
      // Bound on a second queue pair, connected to itself.
      await responder.must("qp", { name: "second" })
      await responder.must("modify", { qp: "second", state: 1, pkey: 0, port: 1, access: 15 })
      const itself = {
        mtu: 3,
        peer: 0,
        rpsn: 0,
        gid: responder.gid,
        sgid: responder.gidIndex,
        resources: 1,
        rnrtimer: 12,
      }
      await responder.must("modify", { qp: "second", state: 2, ...itself })
      await responder.must("modify", { qp: "second", state: 3, spsn: 0, timeout: 14, retry: 7, rnrretry: 7, depth: 1 })
      await responder.send(50, { ...bind, access, qp: "second" })
    } else {
      await responder.send(50, { ...bind, access })
    }
    await responder.wait()
    const offset = misuse === "outside" ? 8000n : 4096n
    await requester.send(1, { op: RdmaWrite, sge: "m:0:500", rkey: key, address: String(responder.address + offset) })
    await requester.wait()
    // A window that is bound keeps its queue pair from being destroyed.
    await responder.must("destroy", { mw: "mw" })
  }

const invalidatesNothing = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.open()
  await connect(requester, responder)
  await responder.receive(100, { sge: "m:0:64" })
  await requester.send(1, { op: WrOpcode.SendWithInv, sge: "m:0:8", inv: 0x12345678 })
  await requester.wait()
  await responder.wait(1, 500)
}

const regionGone = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.open()
  const gone = await responder.region("gone", { bytes: 4096, access: ALL })
  await connect(requester, responder)
  await responder.must("destroy", { mr: "gone" })
  await requester.send(1, { op: RdmaWrite, sge: "m:0:8", rkey: gone.rkey, address: String(gone.address) })
  await requester.wait()
}

/** UC answers nothing, and goes on. */
const unreliable =
  (fields: Record<string, number | string>, receive: boolean) =>
  async ({ requester, responder }: Roles): Promise<void> => {
    await requester.open({ type: "uc" })
    await responder.open({ type: "uc" })
    await connect(requester, responder)
    if (receive) await responder.receive(100, { sge: "m:0:64" })
    const rkey = (responder.rkey ^ 0x5500) >>> 0
    await requester.send(1, { sge: "m:0:3000", rkey, address: String(responder.address), ...fields })
    await requester.wait()
    await responder.wait(1, 200)
    await responder.receive(101, { sge: "m:0:64" })
    await requester.send(2, { sge: "m:0:8" })
    await requester.wait()
    await responder.wait(1, 300)
  }

const datagram =
  (fields: Record<string, number | string>, receive: string | undefined) =>
  async (roles: Roles): Promise<void> => {
    const { requester, responder } = roles
    await openDatagrams(roles)
    if (receive !== undefined) await responder.receive(100, { sge: receive })
    await requester.send(1, { peer: responder.qpn, qkey: QKEY, ...fields })
    await requester.wait(1, 500)
    await responder.wait(1, 300)
    // Whether it goes on.
    await responder.receive(101, { sge: "m:0:2048" })
    await requester.send(2, { sge: "m:0:8", peer: responder.qpn, qkey: QKEY })
    await requester.wait(1, 500)
    await responder.wait(1, 300)
  }

/** A connected queue pair takes nothing from another than its peer. */
const stranger = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.open()
  await responder.must("qp", { name: "other" })
  // The requester's packets are for a queue pair that is connected to nobody there.
  await initialize(requester)
  await readyToReceive(requester, responder)
  await readyToSend(requester, { timeout: 10, retry: 1 })
  await initialize(responder)
  await readyToReceive(responder, { qpn: requester.qpn, psn: responder.psn, gid: responder.gid })
  await readyToSend(responder)
  await responder.receive(100, { sge: "m:0:64" })
  await requester.send(1, { sge: "m:0:8" })
  await requester.wait(1, 2000)
  await responder.wait(1, 100)
}

export const failureCases: ReadonlyArray<Case> = [
  ...remote,
  { name: "SEND longer than the receive", run: tooLong },
  { name: "RNR without retries", run: notReady(0, WrOpcode.Send) },
  { name: "RNR, two retries", run: notReady(2, WrOpcode.Send) },
  { name: "RNR of a WRITE with immediate", run: notReady(2, RdmaWriteWithImm) },
  { name: "peer's queue pair destroyed", run: destroyed },
  { name: "peer's queue pair in ERR", run: silentPeer((side) => side.must("modify", { state: STATE.Err })) },
  { name: "peer's queue pair in RESET", run: silentPeer((side) => side.must("modify", { state: STATE.Reset })) },
  {
    name: "peer's queue pair in INIT",
    run: silentPeer(async (side) => {
      await side.must("modify", { state: STATE.Reset })
      await initialize(side)
    }),
  },
  { name: "packets from an address that is not the peer's", run: stranger },
  { name: "flush after a NAK", run: flushed },
  { name: "flush by the program", run: movedToError },
  { name: "memory window, WRITE that ends outside", run: windowMisused("outside") },
  { name: "memory window of another queue pair", run: windowMisused("other queue pair") },
  { name: "memory window without the access", run: windowMisused("access") },
  { name: "SEND that invalidates no key", run: invalidatesNothing },
  { name: "WRITE to a region that is gone", run: regionGone },
  { name: "UC, WRITE with another key", run: unreliable({ op: RdmaWrite }, false) },
  { name: "UC, SEND longer than the receive", run: unreliable({}, true) },
  { name: "UC, SEND without a receive", run: unreliable({}, false) },
  { name: "datagram with another Q_Key", run: datagram({ sge: "m:0:8", qkey: 0x22222222 }, "m:0:2048") },
  { name: "datagram longer than the receive", run: datagram({ sge: "m:0:500" }, "m:0:100") },
  { name: "datagram longer than the MTU", run: datagram({ sge: "m:0:1025" }, "m:0:8192") },
  { name: "datagram without a receive", run: datagram({ sge: "m:0:8" }, undefined) },
  { name: "datagram to no queue pair", run: datagram({ sge: "m:0:8", peer: 0xabcdef }, "m:0:2048") },
]
