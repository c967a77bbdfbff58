import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { timely, timelyPresets } from "@rdmakit/cc-timely"
import { dumbbell, fatTree, GraphBuilder, leafSpine, star } from "@rdmakit/topology"
import { Random } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { ecnRule, headroomBytes, type NativeOptions, nativeParts, sharedBufferSwitches } from "../src/index.ts"
import { nativeTransport, patient, type TransportSettings } from "../src/NativeTransport.ts"
import { incast, lineRate, runFlows } from "./runs.ts"

const controller = hpcc(hpccPresets.simulation)

it("headroom: twice the delay, and a frame at either end", () => {
  expect(headroomBytes(100e9, 1e6, 1048)).toBe(27_096)
  expect(headroomBytes(10e9, 1e6, 1048)).toBe(2500 + 2096)
  expect(headroomBytes(100e9, 1, 1048)).toBe(2096)
})

it("marking thresholds are in proportion to the rate", () => {
  expect(ecnRule(25e9)).toEqual({ kminBytes: 100e3, kmaxBytes: 400e3, pmax: 0.2 })
  expect(ecnRule(100e9)).toEqual({ kminBytes: 400e3, kmaxBytes: 1600e3, pmax: 0.2 })
})

it("one base RTT and the window that goes with it, for all flows or for each pair", () => {
  const graph = dumbbell(2, 1)
  const fabric = nativeParts({ graph, controller }).parts
  // 3 links there and back: 6 µs, three times 1,090 B and three times 88 B at 100 Gb/s.
  const rttPs = 6e6 + 3 * 87_200 + 3 * 7040
  expect(fabric.path(0, 0, 1, 100e9)).toMatchObject({ baseRttPs: rttPs, windowBytes: 78_534, mtuBytes: 1000 })
  const pair = nativeParts({ graph, controller, transport: { baseRtt: "pair" } }).parts
  expect(pair.path(0, 0, 1, 100e9).baseRttPs).toBe(4e6 + 2 * 87_200 + 2 * 7040)
  expect(pair.path(0, 0, 2, 100e9).baseRttPs).toBe(rttPs)
})

it("feedback that cannot be had is noted", () => {
  const needy = { ...lineRate, name: "needy", needs: ["cnp", "rtt"] as const }
  const { notes } = nativeParts({ graph: star(2), controller: needy })
  expect(notes).toEqual(["controller needy needs cnp, which this network does not supply: it goes without"])
})

it("a run that leaves the exact range of times is noted", () => {
  const flow = { source: 0, destination: 1, size: 1000 }
  const notesFrom = (start: number) =>
    runFlows({ graph: star(2), controller: lineRate }, [{ ...flow, start }]).outcome.notes
  expect(notesFrom(2 ** 53 - 1e9).join()).not.toContain("2^53 ps")
  expect(notesFrom(2 ** 53 - 1000).join()).toContain("the run went past 2^53 ps")
})

it("a run ends where times can no longer be put in order, and says so", () => {
  const graph = new GraphBuilder()
  const [a, b] = graph.hosts(2)
  graph.link(a!, b!, { rate: "100Gbps", delay: "1us", loss: 1 })
  const { outcome } = runFlows(
    { graph: graph.build(), controller: lineRate, transport: { ackTimeoutPs: 1e16, retryCount: 1e12 } },
    [{ source: 0, destination: 1, size: 1000, start: 0 }],
  )
  expect(outcome.unfinished).toHaveLength(1)
  expect(outcome.simulatedPs).toBe(2 ** 60)
  expect(outcome.notes.join()).toContain("ended at 2^60 ps")
  expect(outcome.unfinished[0]?.reason).toMatch(
    /^the run was ended at 2\^60 ps, thirteen days, before it was done; waiting/,
  )
})

it("a stop time says how many it cut off, and how many more did not finish", () => {
  const flow = { source: 0, destination: 1, size: 1e6 }
  const late = { ...flow, start: 2e6 }
  const { outcome } = runFlows({ graph: star(2), controller: lineRate }, [flow, late, late], 1e6)
  expect(outcome.unfinished).toHaveLength(3)
  expect(outcome.notes).toContain(
    "the stop time, 1us, cut off a flow that was under way: a later one lets them go on, and 2 more did not finish: each says why",
  )
})

describe("default timeouts", () => {
  const settings = (rate: string, transport: TransportSettings = {}) => {
    const graph = star(3, { rate, delay: "1us" })
    const rttPs = nativeParts({ graph, controller: lineRate }).parts.path(0, 0, 1, 1).baseRttPs
    return { rttPs, ...patient(nativeTransport(transport, lineRate, 1), transport, () => rttPs) }
  }

  it("are 4.19 ms, and IRN's 100 and 320 µs, up to a base RTT of which they are 32, and 4", () => {
    expect(settings("100Gbps").ackTimeoutPs).toBe(4096e3 * 2 ** 10)
    expect(settings("1Gbps").ackTimeoutPs).toBe(4096e3 * 2 ** 10)
    const irn = settings("10Gbps", { recovery: "selective-repeat" })
    expect([irn.ackTimeoutPs, irn.ackTimeoutHighPs]).toEqual([100e6, 320e6])
  })

  it("grow with the time that packets take on slow links", () => {
    // 1,048 and 60 bytes over two links, and 4 µs: 17,732 µs at 1 Mb/s. 32 of them are 567 ms: 4.096 µs · 2^18 is the next.
    const slow = settings("1Mbps")
    expect(slow.rttPs).toBe(2 * (1048 + 60) * 8e6 + 4e6)
    expect(slow.ackTimeoutPs).toBe(4096e3 * 2 ** 18)
    const irn = settings("1Mbps", { recovery: "selective-repeat" })
    expect([irn.ackTimeoutPs, irn.ackTimeoutHighPs]).toEqual([4 * slow.rttPs, 4 * slow.rttPs])
    expect(settings("1bps").ackTimeoutPs).toBe(4096e3 * 2 ** 31)
  })

  it("leave alone what is given", () => {
    expect(settings("1Mbps", { ackTimeoutPs: 1e6 }).ackTimeoutPs).toBe(1e6)
    const given = { recovery: "selective-repeat", ackTimeoutHighPs: 200e6 } as const
    const high = settings("1Mbps", given)
    expect([high.ackTimeoutPs, high.ackTimeoutHighPs]).toEqual([200e6, 200e6])
    const low = settings("1Mbps", { recovery: "selective-repeat", ackTimeoutPs: 1e9 })
    expect([low.ackTimeoutPs, low.ackTimeoutHighPs]).toEqual([1e9, 4 * low.rttPs])
  })

  it.each(["100Gbps", "1Gbps", "10Mbps", "1Mbps", "100kbps", "1kbps"])("do not fire needlessly at %s", (rate) => {
    const graph = star(9, { rate, delay: "1us" })
    // IRN's RTO_low is short on purpose: an incast of eight outlasts four base RTTs at 100 Gb/s just as well.
    const incasts = { "go-back-n": 8, timeout: 8, "selective-repeat": 2 } as const
    for (const [recovery, senders] of Object.entries(incasts)) {
      const transport = { recovery: recovery as keyof typeof incasts }
      const { outcome } = runFlows({ graph, controller, transport }, incast(8, "20KB").slice(0, senders))
      expect([outcome.flowsFinished, outcome.retransmissions]).toEqual([senders, 0])
    }
  })
})

describe("sizes", () => {
  it.each([
    ["nothing", 0, 1],
    ["one byte", 1, 1],
    ["a packet", 1000, 1],
    ["a byte more", 1001, 2],
    ["a multiple of it", 8000, 8],
  ])("%s", (_name, size, packets) => {
    const { outcome, run } = runFlows({ graph: star(2), controller }, [{ source: 0, destination: 1, size }])
    expect(outcome).toMatchObject({ flowsFinished: 1, packetHops: 4 * packets })
    // Alone in the network a flow takes what it ideally takes.
    expect(outcome.flows.completionTime(0)).toBe(outcome.idealPs[0])
    expect(run.world.kernel.pool.alive).toBe(0)
  })

  it("more than 4 GiB, to the byte", () => {
    const size = 2 ** 32 + 12_345
    const { outcome, run } = runFlows(
      { graph: star(2, { rate: "800Gbps" }), controller: lineRate, transport: { mtuBytes: 2 ** 20 } },
      [{ source: 0, destination: 1, size }],
    )
    expect(outcome).toMatchObject({ flowsFinished: 1, packetHops: 4 * 4097 })
    expect(run.world.kernel.sentBytes(0)).toBe(size + 4097 * 48)
    expect(outcome.flows.completionTime(0)).toBe(outcome.idealPs[0])
  })
})

/** 10, 25, 40, 100 and 800 Gb/s at one switch. */
const mixed = () => {
  const builder = new GraphBuilder()
  const rates = ["10Gbps", "25Gbps", "40Gbps", "100Gbps", "800Gbps"]
  const hosts = builder.hosts(rates.length)
  const center = builder.switch()
  rates.forEach((rate, i) => void builder.link(hosts[i]!, center, { rate }))
  return builder.build()
}

it("HPCC over any mix of rates", () => {
  const flows = [4, 3, 2, 1].flatMap((source) =>
    [0, 1, 2, 3].filter((d) => d !== source).map((destination) => ({ source, destination, size: "500kB" })),
  )
  const { outcome, run } = runFlows({ graph: mixed(), controller }, flows)
  expect(outcome).toMatchObject({ flowsFinished: flows.length, dropsByReason: {}, retransmissions: 0 })
  expect(outcome.controllerActions).toBeGreaterThan(1000)
  expect(run.world.kernel.pool.alive).toBe(0)
})

it("controllers differ: HPCC and TIMELY give other completion times, and both acted", () => {
  const times = [controller, timely(timelyPresets.simulation)].map((each) => {
    const { outcome } = runFlows({ graph: star(17), controller: each }, incast(16, "1MB"))
    expect(outcome.flowsFinished).toBe(16)
    expect(outcome.controllerActions).toBeGreaterThan(16)
    expect(outcome.notes).toEqual([])
    return [...outcome.flows.finished]
  })
  expect(times[0]).not.toEqual(times[1])
})

describe("lossless", () => {
  it("144 hosts at 10 and 40 Gb/s, a thousand flows of eight packets to one: not a drop", () => {
    const graph = leafSpine(
      { leaves: 12, spines: 4, hostsPerLeaf: 12 },
      { host: { rate: 10e9 }, fabric: { rate: 40e9 } },
    )
    const flows = Array.from({ length: 1001 }, (_, i) => ({ source: 1 + (i % 143), destination: 0, size: 8000 }))
    const { outcome, run } = runFlows(
      { graph, controller: lineRate, switches: sharedBufferSwitches({ bufferBytes: 8 * 1024 * 1024 }) },
      flows,
    )
    expect(outcome).toMatchObject({ flowsFinished: 1001, dropsByReason: {}, retransmissions: 0 })
    expect(outcome.pfcPauses).toBeGreaterThan(0)
    expect(run.world.kernel.pool.alive).toBe(0)
  })

  it.each([0, 1, 2])("no drop with hardly any shared buffer, whatever the rates (seed %i)", (seed) => {
    const random = new Random(seed)
    const graph = leafSpine(
      { leaves: 3, spines: 2, hostsPerLeaf: 6 },
      { host: { rate: 25e9, delay: "300ns" }, fabric: { rate: 100e9, delay: 1e6 + random.int(4e6) } },
    )
    const flows = Array.from({ length: 60 }, () => {
      const source = 1 + random.int(17)
      return { source, destination: random.int(2) === 0 ? 0 : (source + 1 + random.int(17)) % 18, size: 200_000 }
    })
    const { outcome, run } = runFlows(
      { graph, seed, controller: lineRate, switches: sharedBufferSwitches({ bufferBytes: 400_000 }) },
      flows.filter(({ source, destination }) => source !== destination),
    )
    expect(outcome.dropsByReason).toEqual({})
    expect(outcome.pfcPauses).toBeGreaterThan(0)
    expect(outcome.unfinished).toEqual([])
    expect(run.world.kernel.pool.alive).toBe(0)
  })
})

it("lossy: no pauses, drops at the egress, and everything arrives all the same", () => {
  const { outcome, run } = runFlows(
    {
      graph: star(17),
      controller: lineRate,
      transport: { ackTimeoutPs: 500e6 },
      switches: sharedBufferSwitches({ lossless: false, bufferBytes: 1024 * 1024 }),
    },
    incast(16, "500kB"),
  )
  expect(outcome).toMatchObject({ flowsFinished: 16, pfcFrames: 0, unfinished: [] })
  expect(outcome.dropsByReason["egress-full"]).toBeGreaterThan(0)
  expect(run.world.kernel.pool.alive).toBe(0)
})

it("a buffer below its headroom is refused", () => {
  const switches = sharedBufferSwitches({ bufferBytes: 100_000 })
  expect(() => runFlows({ graph: star(17), controller, switches }, [])).toThrow(/smaller than its headroom/)
})

const permutation = (hosts: number, size: number) =>
  Array.from({ length: hosts }, (_, source) => ({ source, destination: (source + hosts / 2 + 1) % hosts, size }))

describe("a fat tree", () => {
  const graph = fatTree(4, { host: { rate: "25Gbps" }, fabric: { rate: "40Gbps" } })
  const options: NativeOptions = { graph, controller, seed: 7 }
  const flows = [...permutation(16, 200_000), ...permutation(16, 1), ...permutation(16, 2500)]

  it("no flow is quicker than it would be alone", () => {
    const framings = ["simulator", "rocev2"] as const
    for (const framing of framings) {
      const { outcome } = runFlows({ ...options, transport: { framing } }, flows)
      expect(outcome.flowsFinished).toBe(48)
      for (let flow = 0; flow < 48; flow++) {
        expect(outcome.flows.completionTime(flow)).toBeGreaterThanOrEqual(outcome.idealPs[flow]!)
      }
    }
  })

  it("alone, every flow takes exactly as long as it ideally takes", () => {
    const apart = permutation(16, 12_345).map((flow, i) => ({ ...flow, size: 1 + i * 1234, start: i * 100e6 }))
    const { outcome } = runFlows({ ...options, controller: lineRate }, apart)
    expect(Array.from({ length: 16 }, (_, flow) => outcome.flows.completionTime(flow))).toEqual([...outcome.idealPs])
  })

  it("the same seed gives the same result, another seed other paths", () => {
    const digests = [7, 7, 8].map((seed) => runFlows({ ...options, seed }, flows).outcome.digest)
    expect(digests[0]).toBe(digests[1])
    expect(digests[0]).not.toBe(digests[2])
  })
})

it("says so when there are no flows", () => {
  const { outcome } = runFlows({ graph: star(2), controller: lineRate }, [])
  expect(outcome.notes).toEqual(["there are no flows: nothing was simulated but an idle network"])
})
