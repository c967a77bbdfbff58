import { describe, expect, it } from "vitest"
import { type DeviceQpType, type QpCapabilities, rxeLimits } from "../src/index.ts"
import { capabilities, engineOf, lab, refusal } from "./fakes.ts"

describe("making queue pairs", () => {
  it.each([
    ["maxSendWr", rxeLimits.maxQpWr],
    ["maxRecvWr", rxeLimits.maxQpWr],
    ["maxSendSge", rxeLimits.maxSge],
    ["maxRecvSge", rxeLimits.maxSge],
    ["maxInlineBytes", rxeLimits.maxInlineBytes],
  ] as ReadonlyArray<[keyof QpCapabilities, number]>)("%s is %d at most", (name, most) => {
    const at = lab()
    const make = (value: number) => at.qp({ capabilities: { ...capabilities, [name]: value } })
    for (const value of [most + 1, -1, 1.5, Number.NaN]) {
      expect(refusal(() => make(value))).toEqual({ errno: "EINVAL", attribute: `capabilities.${name}` })
    }
    expect(make(most).query().capabilities[name]).toBe(most)
    expect(at.device.resources.queuePairs).toBe(1)
  })

  it("of another device's queues, or of no service, are refused", () => {
    const [at, elsewhere] = [lab(), lab()]
    expect(refusal(() => at.qp({ sendCq: elsewhere.cq }))).toEqual({ errno: "EINVAL", attribute: "sendCq" })
    expect(refusal(() => at.qp({ recvCq: elsewhere.cq }))).toEqual({ errno: "EINVAL", attribute: "recvCq" })
    expect(refusal(() => at.qp({ srq: elsewhere.pd.createSrq({ maxWr: 1, maxSge: 1 }) }))).toEqual({
      errno: "EINVAL",
      attribute: "srq",
    })
    expect(refusal(() => at.qp({ type: "xrc" as DeviceQpType }))).toEqual({ errno: "EOPNOTSUPP", attribute: "type" })
  })

  it("hands the engine what it needs", () => {
    const at = lab()
    const qp = at.qp({ type: "uc", signalAll: true })
    expect(engineOf(qp).options).toEqual({
      type: "uc",
      qpn: qp.qpn,
      user: { domain: at.pd.number, qpn: qp.qpn },
      memory: at.device.memory,
      sharedReceives: undefined,
      sendMax: 4,
      receiveMax: 4,
      signalAll: true,
    })
  })
})
