import { QpState, WrOpcode } from "@rdmakit/protocol"
import { expect, it } from "vitest"
import { Device, erdmaLimits } from "../src/index.ts"
import { capabilities, engineOf, FakeWorld, lab, refusal } from "./fakes.ts"

it("an eRDMA device's queues: receives and READs of one element, 96 octets inline, no shared receives", () => {
  const at = lab({ limits: erdmaLimits })
  const wanted = { ...capabilities, maxSendSge: 6, maxRecvSge: 1, maxInlineBytes: 96, maxSendWr: 8192, maxRecvWr: 8192 }
  for (const over of [{ maxSendSge: 7 }, { maxRecvSge: 2 }, { maxInlineBytes: 97 }, { maxSendWr: 8193 }]) {
    const [name] = Object.keys(over)
    expect(refusal(() => at.qp({ capabilities: { ...wanted, ...over } }))).toEqual({
      errno: "EINVAL",
      attribute: `capabilities.${name}`,
    })
  }
  expect(refusal(() => at.pd.createSrq({ maxWr: 1, maxSge: 1 })).errno).toBeDefined()
  const qp = at.qp({ capabilities: wanted })
  engineOf(qp).state = QpState.Rts
  const sge = { address: 0, length: 8, lkey: 0 }
  const read = { id: 1, signaled: true, opcode: WrOpcode.RdmaRead, remoteAddress: 0, remoteKey: 0 }
  qp.postSend({ ...read, sges: [sge] })
  expect(refusal(() => qp.postSend({ ...read, sges: [sge, sge] }))).toEqual({ errno: "EINVAL", attribute: "sges" })
  qp.postSend({ ...read, opcode: WrOpcode.RdmaWrite, sges: [sge, sge] })
})

it("a transport that has one type of queue pairs has no others", () => {
  const types = ["rc"] as const
  const makeEngine = (): never => {
    throw new Error("no engine was to be made")
  }
  const device = new Device(new FakeWorld(), { types, makeEngine })
  const pd = device.allocPd()
  const cq = device.createCq(1)
  for (const type of ["uc", "ud", "gsi"] as const) {
    expect(refusal(() => pd.createQp({ type, sendCq: cq, recvCq: cq, capabilities }))).toEqual({
      errno: "EOPNOTSUPP",
      attribute: "type",
    })
  }
  expect(device.resources.queuePairs).toBe(0)
})
