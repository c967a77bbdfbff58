import { Access, QpState } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { checkQpTransition, type DeviceQpType, QpAttr, type QpAttributes, qpAttrNames } from "../src/index.ts"
import { engineOf, type Lab, lab, refusal, vector } from "./fakes.ts"
import { ATTRIBUTE_BITS, EFA_REFUSES, kernelTable, STATE_NAMES, stateOf, subsetsOf, TYPES } from "./qpStateTable.ts"

const CURRENT: ReadonlySet<string> = new Set(["RTR", "RTS", "SQD", "SQE"])

/** Attributes with values that are in order, one for each bit of a mask. */
const attributesOf = (mask: number, from: QpState, to: QpState): QpAttributes => {
  const values: Required<QpAttributes> = {
    state: to,
    currentState: from,
    enableSqdNotify: true,
    accessFlags: Access.RemoteRead | Access.RemoteWrite,
    pkeyIndex: 0,
    port: 1,
    queueKey: 0x11111111,
    address: vector,
    pathMtuBytes: 1024,
    timeout: 14,
    retryCount: 7,
    rnrRetry: 7,
    receivePsn: 0xfffffe,
    initiatorDepth: 1,
    alternatePath: vector,
    minRnrTimer: 12,
    sendPsn: 1,
    responderResources: 1,
    pathMigrationState: "migrated",
    capabilities: { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1, maxInlineBytes: 0 },
    destinationQp: 17,
  }
  return Object.fromEntries(qpAttrNames(mask).map((name) => [name, values[name]]))
}

const ways = TYPES.flatMap((type) =>
  STATE_NAMES.flatMap((from) =>
    STATE_NAMES.map((to) => ({ type, from, to, kernel: kernelTable.get(`${type} ${from} ${to}`) })),
  ),
)

describe("the kernel's table of states", () => {
  it("has as many transitions as the kernel's", () => {
    expect(ways).toHaveLength(5 * 49)
    expect(ways.filter((way) => way.kernel !== undefined)).toHaveLength(5 * 22)
  })

  it.each(ways)(
    "$type $from to $to: every mask with one attribute more or less, and every legal one",
    ({ type, from, to, kernel }) => {
      const ask = (mask: number) => checkQpTransition(type, stateOf(from), stateOf(to), mask)
      if (kernel === undefined) {
        expect(ask(QpAttr.State)?.type).toBe("transition")
        expect(ask(QpAttr.State | QpAttr.SqPsn)?.type).toBe("transition")
        return
      }
      const { required, optional } = kernel
      for (const some of subsetsOf(optional)) expect(ask(QpAttr.State | required | some)).toBeUndefined()
      for (const bit of ATTRIBUTE_BITS) {
        if ((required & bit) !== 0) {
          expect(ask(QpAttr.State | (required & ~bit))).toEqual({ type: "missing", mask: bit })
          expect(ask(QpAttr.State | ((required | optional) & ~bit))).toEqual({ type: "missing", mask: bit })
        } else if ((optional & bit) === 0) {
          const refused =
            bit === QpAttr.CurState && !CURRENT.has(from) ? { type: "current" } : { type: "forbidden", mask: bit }
          expect(ask(QpAttr.State | required | bit)).toEqual(refused)
          expect(ask(QpAttr.State | required | optional | bit)).toEqual(refused)
        }
      }
    },
  )
})

describe("modify goes by the table", () => {
  const queuePair = (at: Lab, type: DeviceQpType, from: string) => {
    const qp = at.qp({ type })
    engineOf(qp).state = stateOf(from)
    return qp
  }

  it.each(ways)("$type $from to $to", ({ type, from, to, kernel }) => {
    const at = lab()
    const qp = queuePair(at, type, from)
    const engine = engineOf(qp)
    const [here, there] = [stateOf(from), stateOf(to)]
    const modify = (mask: number) => qp.modify(attributesOf(mask | QpAttr.State, here, there))
    if (kernel === undefined) {
      expect(refusal(() => modify(0))).toEqual({ errno: "EINVAL", attribute: "state" })
      expect(engine.commands).toHaveLength(0)
      return
    }
    const { required } = kernel
    // The table allows an alternate path; the kernel refuses it afterwards, for RoCE has none.
    const optional = kernel.optional & ~QpAttr.AltPath
    for (const bit of ATTRIBUTE_BITS) {
      const [attribute] = qpAttrNames(bit)
      if ((required & bit) !== 0) {
        expect(refusal(() => modify(required & ~bit))).toEqual({ errno: "EINVAL", attribute })
      } else if ((optional & bit) === 0) {
        const errno = type === "srd" && (bit & EFA_REFUSES) !== 0 ? "EOPNOTSUPP" : "EINVAL"
        expect(refusal(() => modify(required | bit))).toEqual({ errno, attribute })
      }
    }
    expect(engine.commands).toHaveLength(0)
    expect(engine.state).toBe(here)
    let count = 0
    for (const some of subsetsOf(optional)) {
      engine.state = here
      modify(required | some)
      count += 1
      expect(engine.state).toBe(there)
    }
    expect(engine.commands).toHaveLength(count)
    expect(at.world.kicked).toHaveLength(count)
  })

  it("says which attribute, which transition, and what to do", () => {
    const qp = queuePair(lab(), "rc", "INIT")
    expect(() =>
      qp.modify({ state: QpState.Rtr, address: vector, pathMtuBytes: 1024, destinationQp: 1, receivePsn: 0 }),
    ).toThrow("modify_qp: EINVAL: minRnrTimer: missing for rc INIT to RTR; give minRnrTimer, responderResources")
    expect(() => qp.modify({ state: QpState.Rts })).toThrow("go to RESET or INIT or RTR or ERR")
    const ready = queuePair(lab(), "rc", "RTS")
    expect(() => ready.modify({ retryCount: 3, timeout: 3 })).toThrow(
      "modify_qp: EINVAL: timeout: not allowed for rc RTS to RTS; leave out timeout, retryCount",
    )
  })

  it("B22: the ACK timeout changes from RTR to RTS alone, the RNR timer in RTS too", () => {
    const at = lab()
    const qp = queuePair(at, "rc", "RTS")
    expect(refusal(() => qp.modify({ timeout: 14 }))).toEqual({ errno: "EINVAL", attribute: "timeout" })
    expect(refusal(() => qp.modify({ state: QpState.Rts, timeout: 14 }))).toEqual({
      errno: "EINVAL",
      attribute: "timeout",
    })
    expect(engineOf(qp).commands).toHaveLength(0)
    qp.modify({ minRnrTimer: 12 })
    expect(engineOf(qp).commands).toEqual([{ type: "modify", state: QpState.Rts, settings: { minRnrTimer: 12 } }])
    expect(qp.query().attributes.minRnrTimer).toBe(12)
  })

  it("believes no state that the queue pair is not in", () => {
    const qp = queuePair(lab(), "rc", "ERR")
    expect(refusal(() => qp.modify({ state: QpState.Rts, currentState: QpState.Rts }))).toEqual({
      errno: "EINVAL",
      attribute: "currentState",
    })
    expect(engineOf(qp).state).toBe(QpState.Err)
  })

  it("waits until the send queue has drained", () => {
    const qp = queuePair(lab(), "rc", "SQD")
    engineOf(qp).draining = true
    expect(refusal(() => qp.modify({ state: QpState.Rts }))).toEqual({ errno: "EINVAL", attribute: "state" })
    expect(qp.query().draining).toBe(true)
    qp.modify({ retryCount: 1 })
    engineOf(qp).draining = false
    qp.modify({ state: QpState.Rts })
    engineOf(qp).state = QpState.Sqd
    engineOf(qp).draining = true
    qp.modify({ state: QpState.Err })
    expect(qp.state).toBe(QpState.Err)
  })

  it.each([
    ["RTS", { alternatePath: vector }, "alternatePath"],
    ["SQD", { port: 2 }, "port"],
    ["SQD", { pkeyIndex: 1 }, "pkeyIndex"],
    ["SQD", { timeout: 32 }, "timeout"],
    ["SQD", { timeout: -1 }, "timeout"],
    ["SQD", { timeout: 1.5 }, "timeout"],
    ["SQD", { retryCount: 8 }, "retryCount"],
    ["SQD", { rnrRetry: 8 }, "rnrRetry"],
    ["SQD", { minRnrTimer: 32 }, "minRnrTimer"],
    ["SQD", { initiatorDepth: 129 }, "initiatorDepth"],
    ["SQD", { responderResources: 129 }, "responderResources"],
    ["SQD", { accessFlags: 1 << 10 }, "accessFlags"],
    ["SQD", { address: { ...vector, port: 2 } }, "address.port"],
    ["SQD", { address: { ...vector, sourceGidIndex: 5 } }, "address.sourceGidIndex"],
    ["SQD", { address: { ...vector, destinationGid: new Uint8Array(4) } }, "address.destinationGid"],
    ["SQD", { address: { ...vector, hopLimit: 256 } }, "address.hopLimit"],
    ["SQD", { address: { ...vector, flowLabel: 1 << 20 } }, "address.flowLabel"],
    ["SQD", { state: 9 as QpState }, "state"],
  ] as ReadonlyArray<[string, QpAttributes, string]>)("%s with %o: %s", (from, attributes, attribute) => {
    const qp = queuePair(lab(), "rc", from)
    expect(refusal(() => qp.modify(attributes))).toEqual({ errno: "EINVAL", attribute })
    expect(engineOf(qp).commands).toHaveLength(0)
  })

  it("takes no path MTU beyond the port's, and no address where nobody can be", () => {
    const qp = queuePair(lab(), "uc", "INIT")
    const to = { state: QpState.Rtr, destinationQp: 2, receivePsn: 0, address: vector, pathMtuBytes: 1024 }
    expect(refusal(() => qp.modify({ ...to, pathMtuBytes: 2048 }))).toEqual({
      errno: "EINVAL",
      attribute: "pathMtuBytes",
    })
    expect(refusal(() => qp.modify({ ...to, pathMtuBytes: 1000 }))).toEqual({
      errno: "EINVAL",
      attribute: "pathMtuBytes",
    })
    expect(refusal(() => qp.modify({ ...to, destinationQp: 1 << 24 }))).toEqual({
      errno: "EINVAL",
      attribute: "destinationQp",
    })
    const nobody = { ...vector, destinationGid: new Uint8Array(16) }
    expect(refusal(() => qp.modify({ ...to, address: nobody }))).toEqual({
      errno: "EHOSTUNREACH",
      attribute: "address",
    })
    expect(engineOf(qp).commands).toHaveLength(0)
    qp.modify(to)
    expect(qp.state).toBe(QpState.Rtr)
  })

  it("gives back what was set, with the state now, and masks PSNs as Linux does", () => {
    const at = lab()
    const qp = at.qp()
    qp.modify({ state: QpState.Init, pkeyIndex: 0, port: 1, accessFlags: Access.RemoteRead })
    qp.modify({
      state: QpState.Rtr,
      address: vector,
      pathMtuBytes: 512,
      destinationQp: 17,
      receivePsn: 0x5fffffe,
      responderResources: 4,
      minRnrTimer: 12,
    })
    const [, rtr] = engineOf(qp).commands
    expect(rtr).toMatchObject({
      type: "modify",
      state: QpState.Rtr,
      settings: { pathMtuBytes: 512, destinationQp: 17, receivePsn: 0xfffffe, responderResources: 4, minRnrTimer: 12 },
    })
    expect(rtr?.type === "modify" && rtr.settings.path?.udpSourcePort).toBe(0xc000 + qp.qpn)
    engineOf(qp).state = QpState.Err
    const { attributes, state } = qp.query()
    expect(state).toBe(QpState.Err)
    expect(attributes).toEqual({
      state: QpState.Err,
      currentState: QpState.Err,
      pkeyIndex: 0,
      port: 1,
      accessFlags: Access.RemoteRead,
      address: vector,
      pathMtuBytes: 512,
      destinationQp: 17,
      receivePsn: 0xfffffe,
      responderResources: 4,
      minRnrTimer: 12,
    })
    qp.modify({ state: QpState.Reset })
    expect(qp.query().attributes).toEqual({ state: QpState.Reset, currentState: QpState.Reset })
  })
})
