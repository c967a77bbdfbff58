import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ExactDelays, type Graph, GraphBuilder, hpccFabric, Ns3Delays, Ports, Routes, star } from "../src/index.ts"

const prepare = (graph: Graph) => {
  const ports = new Ports(graph)
  return { ports, routes: new Routes(graph, ports) }
}

describe("Ns3Delays", () => {
  it("reckons two hosts at one switch: 52,000 bytes", () => {
    const { ports, routes } = prepare(star(2))
    const delays = new Ns3Delays(routes, ports, 1000)
    expect(delays.pair(0, 1)).toEqual({ rttNs: 4160, bdpBytes: 52_000, narrowestBps: 1e11 })
    expect(delays.pair(0, 0)).toEqual({ rttNs: 0, bdpBytes: 0, narrowestBps: 0 })
    expect(delays.maxBdpBytes).toBe(0xcb20)
  })

  it("reckons the fabric of 320 hosts: 12,240 ns and 153,000 bytes", () => {
    const { ports, routes } = prepare(hpccFabric())
    const delays = new Ns3Delays(routes, ports, 1000)
    expect(delays.maxima()).toEqual({ rttNs: 12_240, bdpBytes: 153_000 })
    expect([delays.maxRttNs, delays.maxBdpBytes]).toEqual([12_240, 153_000])
    expect(delays.pair(0, 15).rttNs).toBe(4160)
    expect(delays.pair(0, 16).rttNs).toBe(8200)
  })

  it("rounds down at every link", () => {
    const builder = new GraphBuilder()
    const [a, b, s] = [builder.host(), builder.host(), builder.switch()]
    builder.link(a, s, { rate: 30e9, delay: 1999 })
    builder.link(s, b, { rate: 70e9, delay: 0 })
    const { ports, routes } = prepare(builder.build())
    // 266.67 and 114.29 ns of payload, 1.999 ns of cable; 382 ns at 30 Gb/s are 1432.5 bytes.
    expect(new Ns3Delays(routes, ports, 1000).pair(0, 1)).toEqual({ rttNs: 382, bdpBytes: 1432, narrowestBps: 30e9 })
  })

  it("says when there is no way or no host, and keeps the maxima it found", () => {
    const { ports, routes } = prepare(star(2))
    const delays = new Ns3Delays(routes, ports, 1000)
    expect(delays.maxRttNs).toBe(4160)
    routes.setLink(0, false)
    expect(() => delays.pair(0, 1)).toThrow("no path from host 0 to host 1")
    expect(() => delays.pair(0, 2)).toThrow("node 2 is not a host")
    expect(delays.maxRttNs).toBe(4160)
    expect(new Ns3Delays(routes, ports, 1000).maxima()).toEqual({ rttNs: 0, bdpBytes: 0 })
  })
})

describe("ExactDelays", () => {
  it("adds data there and acknowledgements back", () => {
    const { ports, routes } = prepare(hpccFabric())
    const delays = new ExactDelays(routes, ports, { dataBytes: 1090, ackBytes: 88 })
    const rttPs = 12_000_000 + 2 * (87_200 + 7_040) + 4 * (21_800 + 1_760)
    expect(delays.pair(0, 319)).toEqual({ rttPs, bdpBytes: Math.floor((rttPs * 100) / 8000), narrowestBps: 1e11 })
    expect(delays.maxima()).toEqual({ rttPs, bdpBytes: Math.floor((rttPs * 100) / 8000) })
    routes.setLink(0, false)
    expect(() => delays.pair(319, 0)).toThrow("no path")
  })

  it("adds up along a chain of any links", () => {
    const link = fc.record({ rate: fc.integer({ min: 1e6, max: 8e11 }), delay: fc.nat({ max: 1e9 }) })
    fc.assert(
      fc.property(fc.array(link, { minLength: 1, maxLength: 6 }), (links) => {
        const builder = new GraphBuilder()
        let last = builder.host()
        for (const [index, each] of links.entries()) {
          const next = index === links.length - 1 ? builder.host() : builder.switch()
          builder.link(last, next, each)
          last = next
        }
        const { ports, routes } = prepare(builder.build())
        let rttPs = 0n
        const half = (bytes: bigint, rate: bigint) => (2n * bytes * 8_000_000_000_000n + rate) / (2n * rate)
        for (const { rate, delay } of links) {
          rttPs += 2n * BigInt(delay) + half(1500n, BigInt(rate)) + half(64n, BigInt(rate))
        }
        const narrowest = BigInt(Math.min(...links.map((each) => each.rate)))
        expect(new ExactDelays(routes, ports, { dataBytes: 1500, ackBytes: 64 }).pair(0, last)).toEqual({
          rttPs: Number(rttPs),
          bdpBytes: Number((rttPs * narrowest) / 8_000_000_000_000n),
          narrowestBps: Number(narrowest),
        })
      }),
    )
  })
})
