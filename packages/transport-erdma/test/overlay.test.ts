import { EnginePair, flowAddress, flowEnds } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import { tcpConfig, tcpFlows } from "@rdmakit/transport-tcp"
import { describe, expect, it } from "vitest"
import { ErdmaError, erdmaFlows, throughVxlan, tunnelPort, VXLAN_PORT, vxlanFraming } from "../src/index.ts"
import { connect, fixedWindow, path } from "./connection.ts"

describe("the tunnel's ports", () => {
  it("are a hash of what is inside, from 49,152 on, and 4789", () => {
    const seen: Array<readonly [number, number]> = []
    const { pair } = connect({
      onWay: ({ udpPorts }, { from }) => {
        seen.push([from, udpPorts])
      },
    })
    pair.command(0, { message: 0, writeBytes: 50_000 })
    pair.run()
    for (const [from, ports] of seen) {
      expect(ports >>> 16).toBe(VXLAN_PORT)
      expect(ports & 0xffff).toBe(tunnelPort(flowAddress(from, path)))
    }
    expect(new Set(seen.map(([, ports]) => ports)).size).toBe(2)
  })

  it("spread the flows of a pair of hosts evenly over the dynamic ports", () => {
    const buckets = new Array<number>(16).fill(0)
    for (let udpPort = 0; udpPort < 16_000; udpPort++) {
      const port = tunnelPort({ ...flowAddress(0, path), udpPort })
      expect(port).toBeGreaterThanOrEqual(49_152)
      expect(port).toBeLessThan(65_536)
      buckets[(port - 49_152) >> 10]!++
    }
    for (const count of buckets) expect(Math.abs(count - 1000)).toBeLessThan(150)
  })
})

describe("any transport through the tunnel", () => {
  it("TCP too: 50 bytes more in each frame", () => {
    const framing = vxlanFraming(tcpConfig({ controller: fixedWindow(1) }).framing)
    const transport = throughVxlan(tcpFlows(tcpConfig({ controller: fixedWindow(20_000), framing, mtuBytes: 1398 })))
    expect(transport.name).toBe("tcp/vxlan")
    const pair = new EnginePair({ pool: new PacketPool(), ends: flowEnds(transport, 0, path) })
    pair.command(0, { message: 0, writeBytes: 13_980 })
    pair.run()
    expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
    expect(new Set(pair.sent.map(({ wireBytes }) => wireBytes))).toEqual(new Set([1398 + 140, 140]))
  })

  it("is refused when its frames do not count the tunnel", () => {
    expect(() => throughVxlan(tcpFlows(tcpConfig({ controller: fixedWindow(1) })))).toThrow(ErdmaError)
    expect(erdmaFlows({ controller: fixedWindow(1) }).name).toBe("erdma/vxlan")
  })
})
