/* What the own side refuses: at once, with an errno, or when the request is carried out. */
import { Access, WrOpcode } from "@rdmakit/protocol"
import type { Fields } from "../VerbsPeer.ts"
import type { Case, Roles } from "./Case.ts"
import { openDatagrams } from "./operations.ts"
import { connect, initialize, QKEY, STATE } from "./Side.ts"

/** One request with a key or a place of its own that is wrong. */
const wrongElement =
  (fields: Record<string, string | number>) =>
  async ({ requester, responder }: Roles): Promise<void> => {
    await requester.open()
    await requester.region("readonly", { bytes: 4096, access: 0 })
    await responder.open()
    await connect(requester, responder)
    await responder.receive(100, { sge: "m:0:64" })
    const { rkey, address } = responder
    await requester.send(1, { rkey, address: String(address), ...fields })
    await requester.send(2, { sge: "m:0:8" })
    await requester.wait(2, 1000)
    await responder.wait(1, 200)
  }

/** The same of the receive. */
const wrongReceive =
  (sge: string) =>
  async ({ requester, responder }: Roles): Promise<void> => {
    await requester.open()
    await responder.open()
    await responder.region("readonly", { bytes: 4096, access: 0 })
    await connect(requester, responder)
    await responder.receive(100, { sge })
    await requester.send(1, { sge: "m:0:32" })
    await requester.wait(1, 2000)
    await responder.wait(1, 500)
  }

/** Posting where it is not allowed, or more than was asked for. */
const posting = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open({ qp: { sends: 4, receives: 4, sges: 1, rsges: 1, inline: 16 } })
  await responder.open()
  await requester.receive(1, { sge: "m:0:8" })
  await requester.send(2, { sge: "m:0:8" })
  await initialize(requester)
  await requester.receive(3, { sge: "m:0:8" })
  await requester.send(4, { sge: "m:0:8" })
  await requester.must("modify", { state: STATE.Reset })
  await connect(requester, responder, { rtr: { rnrtimer: 1 } })
}

const opcodeOf =
  (type: "uc" | "ud", op: number) =>
  async (roles: Roles): Promise<void> => {
    const { requester, responder } = roles
    if (type === "ud") {
      await openDatagrams(roles)
    } else {
      await requester.open({ type })
      await responder.open({ type })
      await connect(requester, responder)
    }
    const { rkey, address, qpn } = responder
    const aim = type === "ud" ? { peer: qpn, qkey: QKEY } : { rkey, address: String(address) }
    await requester.send(1, { op, sge: "m:0:8", inv: op === WrOpcode.SendWithInv ? rkey : undefined, ...aim })
    await requester.wait(1, 500)
  }

/** What is in use cannot be destroyed. */
const inUse = async ({ requester, responder }: Roles): Promise<void> => {
  await responder.open()
  await requester.must("open")
  await requester.must("srq")
  await requester.open({ qp: { srq: "srq" } })
  await requester.try("destroy cq", "destroy", { cq: "cq" })
  await requester.try("destroy srq", "destroy", { srq: "srq" })
  await requester.try("destroy pd", "destroy", { pd: "pd" })
  await requester.must("destroy", { mr: "m" })
  await requester.must("destroy", { qp: "qp" })
  await requester.must("destroy", { cq: "cq" })
  await requester.must("destroy", { srq: "srq" })
  await requester.must("destroy", { pd: "pd" })
  await requester.must("cq")
  await requester.must("qp")
}

/** Access that a region may not have. */
const registering = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.open()
  for (const [name, access] of [
    ["remote write without local write", Access.RemoteWrite],
    ["remote atomic without local write", Access.RemoteAtomic],
    ["remote read alone", Access.RemoteRead],
    ["window bind alone", Access.MwBind],
  ] as const) {
    await requester.try(name, "mr", { name: "other", bytes: 4096, access })
  }
  await requester.try("region of nothing", "mr", { name: "empty", bytes: 0 })
}

/** Attributes that are refused, each tried on a queue pair that has just come to the state; a table of them all is another matter. */
const modifying = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open()
  await responder.open()
  const { qpn: peer, psn: rpsn, gid } = responder
  const sgid = requester.gidIndex
  const init = { state: STATE.Init, pkey: 0, access: 15, port: 1 }
  const rtr = { state: STATE.Rtr, mtu: 3, peer, rpsn, gid, sgid, resources: 8, rnrtimer: 12 }
  const rts = { state: STATE.Rts, spsn: 0, timeout: 14, retry: 7, rnrretry: 7, depth: 8 }
  const steps: ReadonlyArray<Fields> = [init, rtr, rts]
  const attempt = async (from: number, what: string, fields: Fields) => {
    await requester.must("modify", { state: STATE.Reset })
    for (const step of steps.slice(0, from)) await requester.must("modify", step)
    await requester.try(what, "modify", fields)
  }
  await attempt(0, "RESET to RTR", rtr)
  await attempt(0, "INIT without port", { ...init, port: undefined })
  await attempt(0, "INIT with port 2", { ...init, port: 2 })
  await attempt(0, "INIT with partition 5", { ...init, pkey: 5 })
  await attempt(1, "RTR without its timer", { ...rtr, rnrtimer: undefined })
  await attempt(1, "RTR with MTU 4096", { ...rtr, mtu: 5 })
  await attempt(1, "RTR with MTU 6", { ...rtr, mtu: 6 })
  await attempt(1, "RTR with address 9", { ...rtr, sgid: 9 })
  await attempt(1, "RTR with too many resources", { ...rtr, resources: 255 })
  await attempt(1, "RTR with a timeout", { ...rtr, timeout: 14 })
  await attempt(1, "RTR with timer 32", { ...rtr, rnrtimer: 32 })
  await attempt(2, "RTS with too great a depth", { ...rts, depth: 255 })
  await attempt(2, "RTS with timeout 32", { ...rts, timeout: 32 })
  await attempt(2, "RTS with 8 retries", { ...rts, retry: 8 })
  await attempt(2, "RTS with 8 RNR retries", { ...rts, rnrretry: 8 })
  await attempt(3, "timeout in RTS", { timeout: 15 })
  await attempt(3, "RNR timer in RTS", { rnrtimer: 15 })
  await attempt(3, "access in RTS", { access: 1 })
  await attempt(3, "current state, wrong", { current: STATE.Init, access: 1 })
}

/** More than a queue holds. */
const capacity = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open({ qp: { sends: 8, receives: 8, sges: 2, rsges: 2, inline: 16 } })
  await responder.open()
  await connect(requester, responder)
  await responder.must("modify", { state: STATE.Err })
  const fill = async (what: string, word: string, fields: Fields) => {
    let accepted = 0
    for (; accepted < 1000; accepted++) {
      const answer = await requester.peer.do(word, { id: accepted, ...fields })
      if (answer.ok) continue
      requester.record.refused.push({ what, errno: answer.errno ?? 0 })
      break
    }
    requester.fact(`${what}: as many as asked for`, accepted >= 8)
  }
  await fill("receive", "receive", { sge: "m:0:8" })
  await fill("send", "send", { sge: "m:0:8" })
}

const elements = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.open({ qp: { sges: 2, rsges: 2, inline: 16 } })
  await responder.open()
  await connect(requester, responder)
  const many = Array.from({ length: 16 }, (_, i) => `m:${i * 8}:8`).join()
  await requester.receive(200, { sge: many })
  if (await requester.send(1, { sge: many })) await requester.wait(1, 500)
  if (await requester.send(2, { sge: "m:0:1000", flags: 2 | 8 })) await requester.wait(1, 500)
}

/** A completion queue that is full when another completion comes. */
const overrun = async ({ requester, responder }: Roles): Promise<void> => {
  await requester.must("open")
  const small = Number((await requester.must("cq", { name: "small", size: 1 })).size)
  await requester.open({ qp: { cq: "small", rcq: "cq", sends: 128 } })
  await responder.open()
  await connect(requester, responder)
  const { rkey, address } = responder
  for (let id = 0; id < small + 2; id++) {
    await requester.send(id, { op: WrOpcode.RdmaWrite, sge: "m:0:8", rkey, address: String(address) })
  }
  await requester.must("poll", { cq: "cq", ms: 500 })
  const { events } = await requester.must("async", { ms: 200 })
  const names = (events as ReadonlyArray<{ name: string; element: string }>).map((e) => `${e.name} of ${e.element}`)
  requester.fact("events", [...new Set(names)].join())
  const { completions } = await requester.must("poll", { cq: "small", count: small + 2, ms: 200 })
  requester.fact("as many as it holds", (completions as ReadonlyArray<unknown>).length === small)
}

export const localCases: ReadonlyArray<Case> = [
  { name: "SEND under no key", run: wrongElement({ sge: "m:0:8:305419896" }) },
  { name: "SEND past the end of its region", run: wrongElement({ sge: "m:65532:8" }) },
  { name: "SEND of several packets past the end of its region", run: wrongElement({ sge: "m:63536:3000" }) },
  {
    name: "READ into a region that may not be written",
    run: wrongElement({ op: WrOpcode.RdmaRead, sge: "readonly:0:64" }),
  },
  { name: "READ under no key", run: wrongElement({ op: WrOpcode.RdmaRead, sge: "m:0:64:305419896" }) },
  { name: "READ past the end of its region", run: wrongElement({ op: WrOpcode.RdmaRead, sge: "m:65500:64" }) },
  {
    name: "atomic into a region that may not be written",
    run: wrongElement({ op: WrOpcode.AtomicFetchAndAdd, sge: "readonly:0:8" }),
  },
  { name: "receive under no key", run: wrongReceive("m:0:64:305419896") },
  { name: "receive into a region that may not be written", run: wrongReceive("readonly:0:64") },
  { name: "receive past the end of its region", run: wrongReceive("m:65532:64") },
  { name: "posting in the wrong state", run: posting },
  { name: "READ on UC", run: opcodeOf("uc", WrOpcode.RdmaRead) },
  { name: "atomic on UC", run: opcodeOf("uc", WrOpcode.AtomicFetchAndAdd) },
  { name: "SEND with invalidate on UC", run: opcodeOf("uc", WrOpcode.SendWithInv) },
  { name: "WRITE on UD", run: opcodeOf("ud", WrOpcode.RdmaWrite) },
  { name: "READ on UD", run: opcodeOf("ud", WrOpcode.RdmaRead) },
  { name: "destroying what is in use", run: inUse },
  { name: "access of regions", run: registering },
  { name: "attributes of queue pairs", run: modifying },
  { name: "more requests than a queue holds", run: capacity },
  { name: "more elements than a queue pair has", run: elements },
  { name: "completion queue overrun", run: overrun },
]
