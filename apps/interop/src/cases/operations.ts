/* What works: every operation of RC, UC and UD, with data that is checked on both sides. */
import { Access, WrOpcode } from "@rdmakit/protocol"
import type { Case, Roles } from "./Case.ts"
import { connect, initialize, QKEY, readyToReceive, readyToSend, STATE } from "./Side.ts"

const SIGNALED = 2
const SOLICITED = 4
const INLINE = 8
const FENCE = 1
/** IBV_QP_EX_WITH_ATOMIC_WRITE. */
const ATOMIC_WRITE = 1 << 12

/** What is checked against data is written from the lower half of `m` to the upper half. */
const UPPER = 32_768

const operations = async ({ requester, responder }: Roles): Promise<void> => {
  const { rkey, address } = responder
  await requester.must("fill", { bytes: UPPER, seed: 1 })
  await responder.must("fill", { bytes: UPPER, seed: 2 })
  for (let id = 100; id < 108; id++) await responder.receive(id, { sge: `m:${UPPER}:${8192}` })
  const at = (offset: number) => String(address + BigInt(UPPER + offset))
  const one = async (id: number, fields: Record<string, string | number>, received: boolean) => {
    await requester.send(id, fields)
    await requester.wait()
    if (received) await responder.wait()
  }
  await one(1, { op: WrOpcode.SendWithImm, sge: "m:0:100", imm: 0x89abcdef }, true)
  await responder.check("send 100", { offset: UPPER, bytes: 100, seed: 1 })
  await one(2, { op: WrOpcode.SendWithImm, sge: "m:7:3001", imm: 1, flags: SIGNALED | SOLICITED }, true)
  await responder.check("send 3001", { offset: UPPER, bytes: 3001, seed: 1, origin: 7 })
  await one(3, { op: WrOpcode.RdmaWriteWithImm, sge: "m:0:100", rkey, address: at(0), imm: 0xa1b2c3d4 }, true)
  await one(4, { op: WrOpcode.RdmaWriteWithImm, sge: "m:3:3002", rkey, address: at(9001), imm: 0xffffffff }, true)
  await responder.check("write 3002", { offset: UPPER + 9001, bytes: 3002, seed: 1, origin: 3 })
  await one(5, { op: WrOpcode.Send }, true)
  await one(6, { op: WrOpcode.RdmaWrite, rkey, address: at(0) }, false)
  await one(7, { op: WrOpcode.RdmaRead, rkey, address: at(0) }, false)
  await one(8, { op: WrOpcode.RdmaRead, sge: `m:${UPPER}:3003`, rkey, address: String(address + 5n) }, false)
  await requester.check("read 3003", { offset: UPPER, bytes: 3003, seed: 2, origin: 5 })
  await responder.must("poke", { offset: UPPER + 16_384, octets: "0100000000000000" })
  const word = at(16_384)
  await one(
    9,
    { op: WrOpcode.AtomicFetchAndAdd, sge: "m:40000:8", rkey, address: word, add: "0xfffffffffffffffe" },
    false,
  )
  requester.fact("fetched", String(await requester.word(40_000)))
  await one(
    10,
    { op: WrOpcode.AtomicCmpAndSwp, sge: "m:40000:8", rkey, address: word, add: "0xffffffffffffffff", swap: 77 },
    false,
  )
  requester.fact("compared", String(await requester.word(40_000)))
  await one(11, { op: WrOpcode.AtomicCmpAndSwp, sge: "m:40000:8", rkey, address: word, add: 1, swap: 5 }, false)
  responder.fact("word", String(await responder.word(UPPER + 16_384)))
  await one(12, { op: WrOpcode.Send, sge: "m:0:60", flags: SIGNALED | INLINE | FENCE }, true)
  // Two gather elements there, three scatter elements here.
  await responder.must("clear", { offset: UPPER, bytes: 8192 })
  await responder.receive(120, { sge: `m:${UPPER}:1000,m:${UPPER + 2000}:1,m:${UPPER + 4000}:4000` })
  await one(13, { op: WrOpcode.Send, sge: "m:0:1500,m:1500:1000" }, true)
  // Receives are taken in order, so the message lies in an earlier one.
  await responder.check("gathered", { offset: UPPER, bytes: 2500, seed: 1 })
}

/** Several under way at once, reads and atomics more than may be outstanding; completions come in order. */
const manyAtOnce = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open({ qp: { sends: 64 } })
  await responder.open()
  await connect(requester, responder, { rts: { depth: 2 } }, { rtr: { resources: 2 } })
  const { rkey, address } = responder
  await responder.must("fill", { seed: 3 })
  for (let i = 0; i < 20; i++) {
    const read = { op: WrOpcode.RdmaRead, sge: `m:${i * 2500}:2500`, rkey, address: String(address + BigInt(i * 2500)) }
    await requester.send(i, { ...read, flags: i % 4 === 3 ? SIGNALED : 0 })
  }
  await requester.wait(5)
  await requester.check("read", { bytes: 50_000, seed: 3 })
}

/** The solicited bit decides whether a queue that is armed for solicited ones gives an event. */
const solicited = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.open()
  await connect(requester, responder)
  for (let id = 100; id < 103; id++) await responder.receive(id, { sge: "m:0:64" })
  await responder.must("notify", { solicited: 1 })
  await requester.send(1, { sge: "m:0:8" })
  await requester.wait()
  await responder.wait()
  responder.fact("event without", (await responder.must("event", { ms: 200 })).event === true)
  await requester.send(2, { sge: "m:0:8", flags: SIGNALED | SOLICITED })
  await requester.wait()
  await responder.wait()
  responder.fact("event with", (await responder.must("event", { ms: 1000 })).event === true)
  await responder.must("notify")
  await requester.send(3, { sge: "m:0:8" })
  await requester.wait()
  await responder.wait()
  responder.fact("event of any", (await responder.must("event", { ms: 1000 })).event === true)
}

/** A receive that comes late: the sender waits and tries again. */
const lateReceive =
  (op: number) =>
  async ({ requester, responder }: Roles): Promise<void> => {
    await requester.open()
    await responder.open()
    await connect(requester, responder, {}, { rtr: { rnrtimer: 14 } })
    await requester.must("fill", { seed: 4 })
    const { rkey, address } = responder
    await requester.send(1, { op, sge: "m:0:2700", rkey, address: String(address + 100n) })
    await requester.wait(1, 100)
    await responder.receive(100, { sge: "m:100:4000" })
    await requester.wait()
    await responder.wait()
    await responder.check("octets", { offset: 100, bytes: 2700, seed: 4 })
  }

const uc = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open({ type: "uc" })
  await responder.open({ type: "uc" })
  await connect(requester, responder)
  await requester.must("fill", { seed: 5 })
  for (let id = 100; id < 104; id++) await responder.receive(id, { sge: "m:0:8192" })
  const { rkey, address } = responder
  const one = async (id: number, fields: Record<string, string | number>, received: boolean) => {
    await requester.send(id, fields)
    await requester.wait()
    if (received) await responder.wait()
  }
  await one(1, { op: WrOpcode.Send, sge: "m:0:3000" }, true)
  await responder.check("send", { bytes: 3000, seed: 5 })
  await one(2, { op: WrOpcode.SendWithImm, sge: "m:0:1", imm: 7 }, true)
  await one(3, { op: WrOpcode.RdmaWrite, sge: "m:0:5000", rkey, address: String(address + 20_000n) }, false)
  await one(
    4,
    { op: WrOpcode.RdmaWriteWithImm, sge: "m:0:5000", rkey, address: String(address + 30_000n), imm: 8 },
    true,
  )
  await responder.check("write", { offset: 20_000, bytes: 5000, seed: 5 })
  await responder.check("write with immediate", { offset: 30_000, bytes: 5000, seed: 5 })
}

/** Both sides of UD are ready, and the requester has an address handle `ah`. */
export const openDatagrams = async ({ requester, responder }: Roles, ip: 4 | 6 = 4): Promise<void> => {
  for (const side of [requester, responder]) {
    await side.open({ type: "ud", ip })
    await initialize(side)
    await readyToReceive(side, side)
    await readyToSend(side)
  }
  await requester.must("ah", { gid: responder.gid, sgid: requester.gidIndex })
}

const ud =
  (ip: 4 | 6) =>
  async (roles: Roles): Promise<void> => {
    const { requester, responder } = roles
    await openDatagrams(roles, ip)
    await requester.must("fill", { seed: 6 })
    for (let id = 100; id < 103; id++) await responder.receive(id, { sge: "m:0:2048" })
    const peer = responder.qpn
    await requester.send(1, { sge: "m:0:1000", peer, qkey: QKEY })
    await requester.wait()
    const [first] = await responder.wait()
    responder.fact("source", first?.source === requester.qpn)
    await responder.check("octets", { offset: 40, bytes: 1000, seed: 6 })
    const octets = String((await responder.must("peek", { bytes: 40 })).octets)
    // An IPv4 header is in the last 20 octets of the 40 (RoCEv2 A17.4.5.2).
    responder.fact("version", octets.slice(ip === 4 ? 40 : 0).slice(0, 1))
    await requester.send(2, { op: WrOpcode.SendWithImm, sge: "m:0:1024", peer, qkey: QKEY, imm: 0x80000001 })
    await requester.wait()
    await responder.wait()
    await requester.send(3, { peer, qkey: QKEY })
    await requester.wait()
    await responder.wait()
  }

/** A window of type 2: bound, written through, invalidated by the peer, and no longer there. */
const window = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.open({ access: 15 | Access.MwBind })
  await connect(requester, responder)
  const { address } = responder
  const before = Number((await responder.must("mw")).rkey)
  const key = ((before & 0xffffff00) | ((before + 1) & 0xff)) >>> 0
  const bind = { op: WrOpcode.BindMw, mw: "mw", mr: "m", key, bytes: 8192, access: Access.RemoteWrite }
  await responder.send(50, bind)
  await responder.wait()
  await requester.must("fill", { seed: 7 })
  await requester.send(1, { op: WrOpcode.RdmaWrite, sge: "m:0:500", rkey: key, address: String(address) })
  await requester.wait()
  await responder.check("through the window", { bytes: 500, seed: 7 })
  await responder.receive(100, { sge: "m:16384:256" })
  await requester.send(2, { op: WrOpcode.SendWithInv, sge: "m:0:200", inv: key })
  await requester.wait()
  const [received] = await responder.wait()
  responder.fact("key", received?.invalidated === key)
  await requester.send(3, { op: WrOpcode.RdmaWrite, sge: "m:0:500", rkey: key, address: String(address) })
  await requester.wait()
  await responder.must("destroy", { mw: "mw" })
}

/** The send queue drains before it stops; what is posted then waits. */
const drained = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.open()
  await connect(requester, responder)
  const { rkey, address } = responder
  await requester.send(1, { op: WrOpcode.RdmaWrite, sge: "m:0:9000", rkey, address: String(address) })
  await requester.must("modify", { state: STATE.Sqd, notify: 1 })
  await requester.wait()
  requester.fact("state", await requester.state())
  await requester.must("async", { ms: 300 }).then(({ events }) => {
    requester.fact("events", (events as ReadonlyArray<{ name: string }>).map(({ name }) => name).join())
  })
  await requester.send(2, { op: WrOpcode.RdmaWrite, sge: "m:0:9000", rkey, address: String(address) })
  requester.fact("waits", (await requester.wait(1, 200)).length === 0)
  await requester.try("back to RTS", "modify", { state: STATE.Rts })
  await requester.wait(1, 2000)
}

const connectedOperations =
  (psn: number, fields: Record<string, number> = {}, ip: 4 | 6 = 4) =>
  async (roles: Roles): Promise<void> => {
    const { requester, responder } = roles
    for (const side of [requester, responder]) {
      side.psn = psn
      await side.open({ ip })
    }
    await connect(requester, responder, { rtr: fields })
    await operations(roles)
  }

const sharedReceives = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.must("open")
  await responder.must("srq", { size: 16 })
  await responder.open({ qp: { srq: "srq" } })
  await connect(requester, responder)
  for (let id = 100; id < 104; id++) await responder.receive(id, { srq: "srq", sge: "m:0:64" })
  for (let id = 1; id < 4; id++) {
    await requester.send(id, { sge: "m:0:64" })
    await requester.wait()
    await responder.wait()
  }
  await responder.must("modify", { state: STATE.Err })
  responder.fact("flushed", (await responder.wait(1, 200)).length)
}

/** Eight octets at once (IBTA vol. 1, annex A19); kernels before 6.2 have it not. */
const atomicWrite = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open({ qp: { ops: ATOMIC_WRITE } })
  await responder.open()
  await connect(requester, responder)
  const { rkey, address } = responder
  const fields = { op: WrOpcode.AtomicWrite, rkey, address: String(address + 128n), value: "0x1122334455667788" }
  if (await requester.send(1, fields)) await requester.wait(1, 1000)
  responder.fact("word", String(await responder.word(128)))
}

export const operationCases: ReadonlyArray<Case> = [
  { name: "every operation of RC", run: connectedOperations(0x1234) },
  { name: "every operation of RC over IPv6", run: connectedOperations(0x1234, {}, 6) },
  { name: "every operation of RC, packet sequence numbers that wrap", run: connectedOperations(0xfffffd) },
  { name: "every operation of RC, with a traffic class", run: connectedOperations(0x1234, { tc: 0x6a }) },
  { name: "every operation of RC, path MTU 256", run: connectedOperations(0x1234, { mtu: 1 }) },
  { name: "more reads than may be outstanding", run: manyAtOnce },
  { name: "solicited events", run: solicited },
  { name: "receive that comes late, SEND", run: lateReceive(WrOpcode.Send) },
  { name: "receive that comes late, WRITE with immediate", run: lateReceive(WrOpcode.RdmaWriteWithImm) },
  { name: "operations of UC", run: uc },
  { name: "datagrams over IPv4", run: ud(4) },
  { name: "datagrams over IPv6", run: ud(6) },
  { name: "memory window, invalidated by the peer", run: window },
  { name: "atomic write", run: atomicWrite },
  { name: "send queue drained", run: drained },
  { name: "shared receive queue", run: sharedReceives },
]
