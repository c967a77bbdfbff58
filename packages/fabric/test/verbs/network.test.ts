import { WcStatus, WrOpcode } from "@rdmakit/protocol"
import { star } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { VerbsNetwork } from "../../src/verbs/VerbsNetwork.ts"
import { connect, makeEnd, polled } from "./connected.ts"

describe("a network of devices", () => {
  it("carries a WRITE of real octets between two hosts", () => {
    const network = new VerbsNetwork({ graph: star(2, { rate: "100Gbps", delay: "1us" }) })
    const a = makeEnd(network.devices[0]!, "rc")
    const b = makeEnd(network.devices[1]!, "rc")
    connect(a, b)
    for (let i = 0; i < 5000; i++) a.memory.octets[i] = i * 7
    a.qp.postSend({
      id: 1,
      opcode: WrOpcode.RdmaWrite,
      signaled: true,
      sges: [{ address: a.memory.address, length: 5000, lkey: a.mr.lkey }],
      remoteAddress: b.memory.address,
      remoteKey: b.mr.rkey,
    })
    network.run()
    expect(polled(a).map(({ id, status }) => [id, status])).toEqual([[1, WcStatus.Success]])
    expect(b.memory.octets.subarray(0, 5000)).toEqual(a.memory.octets.subarray(0, 5000))
  })
})
