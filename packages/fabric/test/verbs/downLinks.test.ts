import { WcStatus, WrOpcode } from "@rdmakit/protocol"
import { LinkDown } from "@rdmakit/sim"
import { star } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { VerbsNetwork } from "../../src/index.ts"
import { connect, type End, makeEnd, polled, ready, vectorTo } from "./connected.ts"

const us = 1e6

const twoHosts = () => star(2, { rate: "100Gbps", delay: "1us" })

const write = (a: End, b: End, bytes: number) =>
  a.qp.postSend({
    id: 1,
    opcode: WrOpcode.RdmaWrite,
    signaled: true,
    sges: [{ address: a.memory.address, length: bytes, lkey: a.mr.lkey }],
    remoteAddress: b.memory.address,
    remoteKey: b.mr.rkey,
  })

const outcomes = (end: End) => polled(end).map(({ id, status }) => [id, status])

describe("a host whose link is down", () => {
  it.each([false, true])("what its own host sends is lost, and retries end (under way: %s)", (under) => {
    const network = new VerbsNetwork({ graph: twoHosts() })
    const [a, b] = network.devices.map((device) => makeEnd(device, "rc", 1 << 20)) as [End, End]
    connect(a, b, { timeout: 5, retryCount: 3 })
    if (under) {
      write(a, b, 1 << 20)
      network.run(20 * us)
    }
    network.links.set(0, false)
    if (!under) write(a, b, 100)
    const began = network.now
    network.run()
    expect(outcomes(a)).toEqual([[1, WcStatus.RetryExcErr]])
    // Four timeouts of 131.072 us each, the first of them under way already; no longer than twice that.
    expect(network.now - began).toBeGreaterThan(3 * 132 * us)
    expect(network.now - began).toBeLessThan(8 * 132 * us)
    expect(network.kernel.dropCounts[-LinkDown]).toBeGreaterThanOrEqual(4)
  })

  it("datagrams of its own host leave, and are lost", () => {
    const network = new VerbsNetwork({ graph: twoHosts() })
    const [a, b] = network.devices.map((device) => makeEnd(device, "ud")) as [End, End]
    ready(a)
    ready(b)
    network.links.set(0, false)
    a.qp.postSend({
      id: 1,
      opcode: WrOpcode.Send,
      signaled: true,
      sges: [{ address: a.memory.address, length: 64, lkey: a.mr.lkey }],
      datagram: { address: a.pd.createAh(vectorTo(b.device)), qpn: b.qp.qpn, queueKey: 0x1234 },
    })
    network.run()
    expect(outcomes(a)).toEqual([[1, WcStatus.Success]])
    expect(network.kernel.dropCounts[-LinkDown]).toBe(1)
  })
})
