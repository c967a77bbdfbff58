import { type Completion, QpState, WcStatus } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import type { AsyncEvent } from "../src/index.ts"
import { capabilities, complete, completionOf, engineOf, lab, refusal } from "./fakes.ts"

describe("completion queues", () => {
  it("are polled in order, into an array or one at a time", () => {
    const at = lab()
    const qp = at.qp()
    const out: Array<Completion> = []
    for (let round = 0; round < 5; round += 1) {
      for (let i = 0; i < 7; i += 1) complete(at, qp, round * 7 + i)
      expect(at.cq.length).toBe(7)
      expect(at.cq.poll(out, 3)).toBe(3)
      expect(out.map((each) => each.id)).toEqual([0, 1, 2].map((i) => round * 7 + i))
      expect(at.cq.pollOne()?.id).toBe(round * 7 + 3)
      expect(at.cq.poll(out)).toBe(3)
      expect(out.map((each) => each.id)).toEqual([4, 5, 6].map((i) => round * 7 + i))
      expect(at.cq.poll(out)).toBe(0)
      expect(at.cq.pollOne()).toBeUndefined()
    }
  })

  it("tell once of the next completion, or of the next solicited one", () => {
    const at = lab()
    const qp = at.qp()
    const calls: Array<string> = []
    const call = (name: string) => () => calls.push(name)
    complete(at, qp, 1)
    at.cq.arm("next", call("next"))
    expect(calls).toEqual([])
    complete(at, qp, 2)
    complete(at, qp, 3)
    expect(calls).toEqual(["next"])
    at.cq.arm("solicited", call("solicited"))
    complete(at, qp, 4)
    expect(calls).toEqual(["next"])
    complete(at, qp, 5, true, "receive")
    complete(at, qp, 6, true)
    expect(calls).toEqual(["next", "solicited"])
    at.cq.arm("next", call("both"))
    at.cq.arm("solicited", call("both"))
    complete(at, qp, 7)
    expect(calls).toEqual(["next", "solicited", "both"])
    at.cq.arm("next", call("never"))
    at.cq.disarm()
    complete(at, qp, 8)
    // Armed again by what it told, it tells of the one after.
    at.cq.arm("next", () => at.cq.arm("next", call("after")))
    complete(at, qp, 9)
    complete(at, qp, 10)
    expect(calls).toEqual(["next", "solicited", "both", "after"])
  })

  it("overrun: CQ_ERR once, and every queue pair that completes there goes to ERR", () => {
    const at = lab()
    const small = at.device.createCq(2)
    const hurt = at.qp({ recvCq: small })
    const also = at.qp({ sendCq: small })
    const spared = at.qp()
    for (const qp of [hurt, also, spared]) engineOf(qp).state = QpState.Rts
    const events: Array<AsyncEvent> = []
    at.device.onAsyncEvent((event) => events.push(event))
    complete(at, also, 1)
    complete(at, also, 2)
    expect(events).toEqual([])
    complete(at, also, 3)
    complete(at, hurt, 4, false, "receive")
    expect(events.map((event) => event.type)).toEqual(["CQ_ERR", "QP_FATAL", "QP_FATAL"])
    expect(events[0]).toEqual({ type: "CQ_ERR", cq: small })
    expect([hurt.state, also.state, spared.state]).toEqual([QpState.Err, QpState.Err, QpState.Rts])
    expect(at.world.kicked).toEqual([hurt.engine, also.engine])
    // What was there can be polled; nothing comes after it.
    expect([small.pollOne()?.id, small.pollOne()?.id]).toEqual([1, 2])
    complete(at, also, 5)
    expect([small.length, small.lost, small.overrun]).toEqual([0, 3, true])
    complete(at, hurt, 6)
    expect(at.cq.pollOne()?.id).toBe(6)
  })

  it("are resized with what waits in them, and not below it", () => {
    const at = lab()
    const qp = at.qp()
    for (let i = 0; i < 20; i += 1) {
      complete(at, qp, i)
      if (i < 14) at.cq.pollOne()
    }
    expect(refusal(() => at.cq.resize(5))).toEqual({ errno: "EINVAL", attribute: "capacity" })
    expect(refusal(() => at.cq.resize(0))).toEqual({ errno: "EINVAL", attribute: "capacity" })
    expect(refusal(() => at.cq.resize(1 << 15))).toEqual({ errno: "EINVAL", attribute: "capacity" })
    at.cq.resize(6)
    expect([at.cq.capacity, at.cq.length]).toEqual([6, 6])
    at.cq.resize(8)
    complete(at, qp, 20)
    expect(Array.from({ length: 7 }, () => at.cq.pollOne()?.id)).toEqual([14, 15, 16, 17, 18, 19, 20])
  })

  it("go when nobody completes there, and are refused out of range", () => {
    const at = lab()
    const other = at.device.createCq(1)
    const qp = at.qp({ recvCq: other })
    expect(refusal(() => at.cq.destroy()).errno).toBe("EBUSY")
    expect(refusal(() => other.destroy()).errno).toBe("EBUSY")
    qp.destroy()
    at.cq.destroy()
    other.destroy()
    expect(refusal(() => other.destroy()).errno).toBe("EINVAL")
    for (const capacity of [0, -1, 1.5, 1 << 15, Number.NaN]) {
      expect(refusal(() => at.device.createCq(capacity))).toEqual({ errno: "EINVAL", attribute: "capacity" })
    }
  })

  it("lose the completions of a queue pair that is destroyed, and no others", () => {
    const at = lab()
    const [gone, stays] = [at.qp(), at.qp()]
    for (let i = 0; i < 12; i += 1) complete(at, i % 3 === 0 ? stays : gone, i)
    gone.destroy()
    expect(at.world.detached).toEqual([gone.engine])
    expect(Array.from({ length: at.cq.length }, () => at.cq.pollOne()?.id)).toEqual([0, 3, 6, 9])
    const sends = at.device.createCq(4)
    const split = at.qp({ sendCq: sends })
    complete(at, split, 20)
    complete(at, split, 21, false, "receive")
    expect([sends.length, at.cq.length]).toEqual([1, 1])
    split.destroy()
    expect([sends.length, at.cq.length]).toEqual([0, 0])
    // Nor does anything come of what its engine had still to say.
    complete(at, gone, 99)
    at.device.handleEvent(0, gone.engine, { type: "async", event: "QP_FATAL" })
    expect(at.cq.length).toBe(0)
    expect(at.device.pollAsyncEvent()).toBeUndefined()
  })
})

describe("shared receive queues", () => {
  const receive = (id: number) => ({ id, sges: [] })

  it("give the oldest first, and tell once when few are left", () => {
    const at = lab()
    const srq = at.pd.createSrq({ maxWr: 4, maxSge: 1, limit: 2 })
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 4; i += 1) srq.post(receive(round * 4 + i))
      expect(refusal(() => srq.post(receive(99))).errno).toBe("ENOMEM")
      expect(srq.take()?.id).toBe(round * 4)
      expect(srq.take()?.id).toBe(round * 4 + 1)
      expect(at.device.pollAsyncEvent()).toBeUndefined()
      expect(srq.query().limit).toBe(2)
      expect(srq.take()?.id).toBe(round * 4 + 2)
      expect(at.device.pollAsyncEvent()).toEqual({ type: "SRQ_LIMIT_REACHED", srq })
      expect(srq.query().limit).toBe(0)
      expect(srq.take()?.id).toBe(round * 4 + 3)
      expect(srq.take()).toBeUndefined()
      expect(at.device.pollAsyncEvent()).toBeUndefined()
      srq.modify({ limit: 2 })
    }
  })

  it("are modified within their bounds", () => {
    const at = lab()
    const srq = at.pd.createSrq({ maxWr: 4, maxSge: 2 })
    for (let i = 0; i < 3; i += 1) srq.post(receive(i))
    srq.take()
    expect(refusal(() => srq.modify({ limit: 5 }))).toEqual({ errno: "EINVAL", attribute: "limit" })
    expect(refusal(() => srq.modify({ maxWr: 1 }))).toEqual({ errno: "EINVAL", attribute: "maxWr" })
    expect(refusal(() => srq.modify({ maxWr: 3, limit: 4 }))).toEqual({ errno: "EINVAL", attribute: "maxWr" })
    srq.modify({ maxWr: 6, limit: 5 })
    expect(srq.query()).toEqual({ maxWr: 6, maxSge: 2, limit: 5 })
    for (let i = 3; i < 7; i += 1) srq.post(receive(i))
    expect(Array.from({ length: 6 }, () => srq.take()?.id)).toEqual([1, 2, 3, 4, 5, 6])
    const sge = { address: 0, length: 8, lkey: 1 }
    expect(refusal(() => srq.post({ id: 1, sges: [sge, sge, sge] }))).toEqual({ errno: "EINVAL", attribute: "sges" })
    for (const options of [
      { maxWr: 0, maxSge: 1 },
      { maxWr: 4, maxSge: 28 },
      { maxWr: 4, maxSge: 1, limit: 5 },
      { maxWr: 2 ** 21, maxSge: 1 },
    ]) {
      expect(refusal(() => at.pd.createSrq(options)).errno).toBe("EINVAL")
    }
  })

  it("serve queue pairs, which then take no receives of their own", () => {
    const at = lab()
    const srq = at.pd.createSrq({ maxWr: 4, maxSge: 1 })
    const qp = at.qp({ srq })
    expect(engineOf(qp).options.sharedReceives).toBe(srq)
    expect(qp.query().capabilities).toEqual({ ...capabilities, maxRecvWr: 0, maxRecvSge: 0 })
    engineOf(qp).state = QpState.Init
    expect(refusal(() => qp.postRecv(receive(1))).errno).toBe("EINVAL")
    expect(refusal(() => srq.destroy()).errno).toBe("EBUSY")
    srq.post(receive(1))
    qp.destroy()
    expect(srq.length).toBe(1)
    srq.destroy()
    expect(refusal(() => srq.post(receive(1))).errno).toBe("EINVAL")
    expect(refusal(() => srq.destroy()).errno).toBe("EINVAL")
  })
})

describe("asynchronous events", () => {
  it("wait until they are polled, or go to a listener, those that waited first", () => {
    const at = lab()
    const qp = at.qp()
    const raise = (event: "COMM_EST" | "SQ_DRAINED" | "QP_ACCESS_ERR") =>
      at.device.handleEvent(0, qp.engine, { type: "async", event })
    raise("COMM_EST")
    raise("QP_ACCESS_ERR")
    expect(at.device.pollAsyncEvent()).toEqual({ type: "COMM_EST", qp })
    const heard: Array<string> = []
    at.device.onAsyncEvent((event) => heard.push(event.type))
    expect(heard).toEqual(["QP_ACCESS_ERR"])
    raise("SQ_DRAINED")
    engineOf(qp).state = QpState.Rts
    qp.modify({ state: QpState.Sqd, enableSqdNotify: true })
    raise("SQ_DRAINED")
    at.world.link.up = false
    at.device.handleLinkChange()
    at.device.handleLinkChange()
    at.world.link.up = true
    at.device.handleLinkChange()
    at.device.handleGidChange()
    expect(heard).toEqual(["QP_ACCESS_ERR", "SQ_DRAINED", "PORT_ERR", "PORT_ACTIVE", "GID_CHANGE"])
    at.device.onAsyncEvent(undefined)
    raise("COMM_EST")
    expect(at.device.pollAsyncEvent()?.type).toBe("COMM_EST")
  })

  it("are kept in bounds when nobody asks", () => {
    const at = lab()
    const qp = at.qp()
    for (let i = 0; i < 5000; i += 1) at.device.handleEvent(0, qp.engine, { type: "async", event: "COMM_EST" })
    let count = 0
    while (at.device.pollAsyncEvent() !== undefined) count += 1
    expect(count).toBe(4096)
  })
})

it("a failed completion is handed over as it is", () => {
  const at = lab()
  const qp = at.qp()
  const completion = completionOf(qp, 5, { status: WcStatus.RemAccessErr, vendorError: 7 })
  at.device.handleEvent(0, qp.engine, { type: "completion", queue: "send", solicited: true, completion })
  expect(at.cq.pollOne()).toBe(completion)
})
