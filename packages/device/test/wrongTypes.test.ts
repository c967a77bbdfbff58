import { Access, QpState, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { DeviceError } from "../src/index.ts"
import { capabilities, completionOf, engineOf, type Lab, lab, vector } from "./fakes.ts"
import { ALL, region } from "./regions.ts"

/** What programs that no compiler has checked hand in. */
const WRONG: ReadonlyArray<unknown> = [
  ...[null, "nonsense", "", Number.NaN, 0.5, true, 5n, Symbol("s"), {}, Object.create(null), [], [null], () => 0],
]

const named = (value: unknown): string => (typeof value === "string" ? `"${value}"` : typeof value)

/** What became of wrong values in the place of a field, where they were not refused with EINVAL and that field's name. */
const taken = (field: string, attempt: (value: never) => unknown, isRight: (value: unknown) => boolean = () => false) =>
  WRONG.filter((value) => !isRight(value)).flatMap((value) => {
    try {
      attempt(value as never)
      return [`${field} ${named(value)}: taken`]
    } catch (error) {
      const isRefused = error instanceof DeviceError && error.errno === "EINVAL"
      return isRefused && error.attribute === field ? [] : [`${field} ${named(value)}: ${String(error)}`]
    }
  })

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)
const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/** A queue pair that sends and receives. */
const ready = (at: Lab, type: "rc" | "ud" = "rc") => {
  const qp = at.qp({ type })
  engineOf(qp).state = QpState.Rts
  return qp
}

const sge = { address: 0x7f0000000000, length: 8, lkey: 0x1234 }
const send = { id: 1, opcode: WrOpcode.Send, sges: [sge], signaled: true }

describe("values of a wrong type", () => {
  it("are refused by postSend and postSends, and the field is named", () => {
    const at = lab()
    const [rc, ud] = [ready(at), ready(at, "ud")]
    const { mr } = region(at)
    const window = at.pd.allocMw(2)
    const write = { ...send, opcode: WrOpcode.RdmaWriteWithImm, remoteAddress: 0, remoteKey: 1, immediate: 1 }
    const atomic = { ...write, opcode: WrOpcode.AtomicCmpAndSwp, compareAdd: 1n, swap: 1n }
    const bind = { window, remoteKey: window.rkey, region: mr, address: 0, length: 0, access: 0 }
    const datagram = { address: at.pd.createAh(vector), qpn: 5, queueKey: 5 }
    const isBigInt = (value: unknown) => typeof value === "bigint"
    expect([
      ...taken("request", (work) => rc.postSend(work), isObject),
      ...taken("works", (works) => rc.postSends(works), Array.isArray),
      ...taken("request", (work) => rc.postSends([work]), isObject),
      ...taken("id", (id) => rc.postSend({ ...send, id })),
      ...taken("opcode", (opcode) => rc.postSend({ ...send, opcode })),
      ...taken("sges", (sges) => rc.postSend({ ...send, sges }), isEmpty),
      ...taken("sges", (value) => rc.postSend({ ...send, sges: [value] })),
      ...taken("inline", (inline) => rc.postSend({ ...send, sges: [], inline })),
      ...taken("immediate", (immediate) => rc.postSend({ ...write, immediate })),
      ...taken("remoteKey", (remoteKey) => rc.postSend({ ...write, remoteKey })),
      ...taken("remoteAddress", (remoteAddress) => rc.postSend({ ...write, remoteAddress }), isBigInt),
      ...taken("compareAdd", (compareAdd) => rc.postSend({ ...atomic, compareAdd }), isBigInt),
      ...taken("swap", (swap) => rc.postSend({ ...atomic, swap }), isBigInt),
      ...taken("invalidateKey", (invalidateKey) =>
        rc.postSend({ ...send, opcode: WrOpcode.LocalInv, sges: [], invalidateKey }),
      ),
      ...taken("datagram", (value) => ud.postSend({ ...send, datagram: value }), isObject),
      ...taken("datagram.address", (address) => ud.postSend({ ...send, datagram: { ...datagram, address } })),
      ...taken("datagram.qpn", (qpn) => ud.postSend({ ...send, datagram: { ...datagram, qpn } })),
      ...taken("datagram.queueKey", (queueKey) => ud.postSend({ ...send, datagram: { ...datagram, queueKey } })),
      ...Object.keys(bind)
        .filter((field) => field !== "length" && field !== "access")
        .flatMap((field) =>
          taken(`bind.${field}`, (value) =>
            rc.postSend({ ...send, opcode: WrOpcode.BindMw, sges: [], bind: { ...bind, [field]: value } }),
          ),
        ),
      ...taken("bind", (value) => rc.postSend({ ...send, opcode: WrOpcode.BindMw, sges: [], bind: value }), isObject),
      ...taken("window", (value) => rc.bindMw(value, { ...bind, id: 1, signaled: true })),
      ...taken("bind", (value) => rc.bindMw(at.pd.allocMw(1), value), isObject),
    ]).toEqual([])
    expect([engineOf(rc).commands, engineOf(ud).commands]).toEqual([[], []])
  })

  it("are refused where receives are posted", () => {
    const at = lab()
    const [qp, srq] = [ready(at), at.pd.createSrq({ maxWr: 4, maxSge: 1 })]
    for (const post of [(request: never) => qp.postRecv(request), (request: never) => srq.post(request)])
      expect([
        ...taken("request", (value) => post(value), isObject),
        ...taken("id", (id) => post({ id, sges: [] } as never)),
        ...taken("sges", (sges) => post({ id: 1, sges } as never), isEmpty),
        ...taken("sges", (value) => post({ id: 1, sges: [value] } as never)),
      ]).toEqual([])
    expect(() => qp.postRecv(undefined as never)).toThrow(
      "post_recv: EINVAL: request: found nothing; give an object, with an id and sges",
    )
    expect([engineOf(qp).commands, srq.length]).toEqual([[], 0])
  })

  it("are refused by modify, and nothing has changed", () => {
    const at = lab()
    const qp = at.qp()
    const init = { state: QpState.Init, port: 1, pkeyIndex: 0, accessFlags: Access.RemoteWrite }
    const responder = { destinationQp: 5, receivePsn: 5, responderResources: 1, minRnrTimer: 1 }
    const rtr = { state: QpState.Rtr, address: vector, pathMtuBytes: 1024, ...responder }
    const rts = { state: QpState.Rts, sendPsn: 0, timeout: 14, retryCount: 7, rnrRetry: 7, initiatorDepth: 1 }
    const found = taken("attributes", (value) => qp.modify(value), isObject)
    for (const attributes of [init, rtr, rts]) {
      for (const field of Object.keys(attributes).filter((each) => each !== "address"))
        found.push(...taken(field, (value) => qp.modify({ ...attributes, [field]: value })))
      found.push(...taken("currentState", (currentState) => qp.modify({ ...attributes, currentState })))
      if (attributes === rtr) {
        found.push(...taken("address", (address) => qp.modify({ ...rtr, address }), isObject))
        for (const field of Object.keys(vector))
          found.push(
            ...taken(`address.${field}`, (value) => qp.modify({ ...rtr, address: { ...vector, [field]: value } })),
          )
      }
      const before = qp.state
      expect(found).toEqual([])
      qp.modify(attributes)
      expect([before + 1, attributes.state]).toEqual([qp.state, qp.state])
    }
    expect(() => qp.modify(null as never)).toThrow(
      "modify_qp: EINVAL: attributes: found null; give an object of what is to be set",
    )
  })

  it("are refused where things are made and changed", () => {
    const at = lab()
    const { mr } = region(at)
    const srq = at.pd.createSrq({ maxWr: 4, maxSge: 1 })
    const qp = at.qp({ type: "ud" })
    const place = { address: mr.address, length: 8, access: ALL }
    expect([
      ...taken("options", (value) => lab(value), isObject),
      ...taken("bytes", (bytes) => at.device.allocate(bytes)),
      ...taken("options", (value) => at.device.allocate(8, value), isObject),
      ...taken("allocation", (value) => at.device.release(value), isObject),
      ...taken("capacity", (capacity) => at.device.createCq(capacity)),
      ...taken("capacity", (capacity) => at.cq.resize(capacity)),
      ...taken("port", (port) => at.device.queryPort(port)),
      ...taken("index", (index) => at.device.queryGid(1, index)),
      ...taken("options", (value) => at.pd.regMr(value), isObject),
      ...["address", "length", "access"].flatMap((field) =>
        taken(field, (value) => at.pd.regMr({ ...place, [field]: value })),
      ),
      ...taken("changes", (value) => mr.rereg(value), isObject),
      ...taken("translation", (translation) => mr.rereg({ translation }), isObject),
      ...taken("pd", (pd) => mr.rereg({ pd })),
      ...taken("access", (access) => mr.rereg({ access })),
      ...taken("type", (type) => at.pd.allocMw(type)),
      ...taken("options", (value) => at.pd.createSrq(value), isObject),
      ...taken("maxWr", (maxWr) => at.pd.createSrq({ maxWr, maxSge: 1 })),
      ...taken("changes", (value) => srq.modify(value), isObject),
      ...taken("limit", (limit) => srq.modify({ limit })),
      ...taken("options", (value) => at.pd.createQp(value), isObject),
      ...taken("sendCq", (sendCq) => at.qp({ sendCq })),
      ...taken("recvCq", (recvCq) => at.qp({ recvCq })),
      ...taken("srq", (value) => at.qp({ srq: value })),
      ...taken("capabilities", (value) => at.qp({ capabilities: value }), isObject),
      ...Object.keys(capabilities).flatMap((field) =>
        taken(`capabilities.${field}`, (value) => at.qp({ capabilities: { ...capabilities, [field]: value } })),
      ),
      ...taken("vector", (value) => at.pd.createAh(value), isObject),
      ...taken("threadDomain", (value) => at.pd.allocParentDomain(value)),
      ...taken("gid", (gid) => qp.attachMulticast(gid)),
      ...taken("gid", (gid) => qp.detachMulticast(gid)),
    ]).toEqual([])
  })

  it("are refused where the way back to a sender is asked for", () => {
    const at = lab()
    const completion = completionOf(at.qp({ type: "ud" }), 1, { grh: true })
    const octets = new Uint8Array(40)
    expect([
      ...taken("completion", (value) => at.pd.createAhFromCompletion(value, octets), isObject),
      ...taken("grh", (grh) => at.pd.createAhFromCompletion(completion, grh)),
      ...taken("completion.sourceGid", (sourceGid) =>
        at.pd.createAhFromCompletion({ ...completion, sourceGid }, octets),
      ),
    ]).toEqual([])
  })
})
