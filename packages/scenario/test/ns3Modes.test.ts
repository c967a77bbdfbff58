import { Ns3Delays } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { ns3Connections, ns3Parts } from "../src/Ns3Mode.ts"
import { referenceInputs, runReference } from "./reference.ts"

/** run.py's `--cc dctcp` and `--cc hpccPint --hpai 50`, on top of the reference's config for HPCC. */
const dctcpKeys = [
  "CC_MODE=8",
  "EWMA_GAIN=0.0625",
  "DCTCP_RATE_AI=615Mb/s",
  "KMIN_MAP=1 100000000000 300",
  "KMAX_MAP=1 100000000000 300",
  "PMAX_MAP=1 100000000000 1.0",
]
const pintKeys = ["CC_MODE=10", "PINT_LOG_BASE=1.01", "PINT_PROB=1"]

/** Completion times of the flows of a reference case, ns, by flow. */
const completionTimes = (config: string, overrides: ReadonlyArray<string>): ReadonlyArray<number> => {
  const { flows } = runReference(referenceInputs(config, { overrides })).outcome
  return Array.from({ length: flows.count }, (_, flow) => flows.completionTime(flow) / 1000)
}

/** A controller of the tiny reference with these keys. */
const flowOf = (overrides: ReadonlyArray<string>) => {
  const { config, graph, ports, routes } = referenceInputs("tiny/hpcc.config.txt", { overrides })
  const delays = new Ns3Delays(routes, ports, config.payloadBytes)
  const { controller, path } = ns3Parts(config, graph, delays)
  return {
    flow: controller.make(0, path(0, 0, 1, 100e9)),
    transport: ns3Connections(config, graph, delays, controller),
  }
}

const acknowledgement = (sequence: number, sent: number, congestion: boolean, pint = -1) => ({
  sequence,
  sent,
  bytes: 1000,
  rttPs: 4e6,
  congestion,
  hops: 0,
  pathId: 0,
  telemetry: new Float64Array(0),
  telemetryAt: 0,
  pint,
})

describe("one flow of five packets through one switch, by hand", () => {
  it("DCTCP: 1,048 bytes a packet, 83 ns; 60 an acknowledgement, 4 ns", () => {
    // Five at the host and the last at the switch, two acknowledgement hops, four links: as the reference has for DCQCN.
    expect(completionTimes("tiny/hpcc.config.txt", dctcpKeys)).toEqual([6 * 83 + 2 * 4 + 4000])
  })

  it("HPCC-PINT: 1,050 bytes a packet, 84 ns that the simulator takes for 83", () => {
    expect(completionTimes("tiny/hpcc.config.txt", pintKeys)).toEqual([6 * 83 + 2 * 4 + 4000])
  })
})

/**
 * There are no outputs of the simulator for these modes. The expected times, ns, are of a separate C++ program for one
 * switch with the code of HandleAckDctcp, HandleAckHpPint, SwitchNotifyDequeue and pint.cc, and the C library's rand();
 * for CC_MODE 3 it gives the simulator's own sixteen times.
 */
describe("sixteen to one", { timeout: 30_000 }, () => {
  it("DCTCP", () => {
    const times = [...completionTimes("incast16/hpcc.config.txt", dctcpKeys)].sort((a, b) => a - b)
    expect(times).toEqual([
      1266936, 1267019, 1274240, 1274489, 1274738, 1275236, 1322048, 1322795, 1324289, 1324704, 1325036, 1331593,
      1331676, 1331759, 1332008, 1332091,
    ])
  })

  it.each<readonly [string, ReadonlyArray<string>, ReadonlyArray<number>]>([
    [
      "base 1.01, every acknowledgement",
      pintKeys,
      [
        1361523, 1392057, 1393864, 1396090, 1402596, 1404558, 1405383, 1405920, 1411733, 1414103, 1415032, 1416592,
        1416675, 1424738, 1431612, 1440231,
      ],
    ],
    [
      "base 1.05, one in sixteen",
      ["CC_MODE=10", "PINT_LOG_BASE=1.05", "PINT_PROB=0.0625"],
      [
        755143, 771231, 905110, 1032549, 1117417, 1122770, 1197911, 1204372, 1207443, 1228060, 1251375, 1302876,
        1344054, 1402244, 1445716, 1487704,
      ],
    ],
    [
      "base 1.05, MI_THRESH 5",
      ["CC_MODE=10", "PINT_LOG_BASE=1.05", "MI_THRESH=5"],
      [
        1299829, 1318521, 1337004, 1392505, 1394141, 1399521, 1399604, 1399770, 1409508, 1426484, 1446534, 1447870,
        1452239, 1464037, 1473565, 1475956,
      ],
    ],
  ])("HPCC-PINT, %s", (_name, keys, expected) => {
    const times = [...completionTimes("incast16/hpcc.config.txt", keys)].sort((a, b) => a - b)
    expect(times).toEqual(expected)
  })
})

describe("the keys of CC_MODE 8", () => {
  it("gain, steps, least rate and windows", () => {
    const { flow, transport } = flowOf([...dctcpKeys, "EWMA_GAIN=0.5", "DCTCP_RATE_AI=2Gb/s"])
    expect(transport).toMatchObject({ telemetry: false, repace: false, framing: { telemetryBytes: 0, ackBytes: 60 } })
    // HAS_WIN and VAR_WIN are 1: 52,000 bytes, and half of it at half the rate. Then 1 of 11 was marked: α = ½ + ½ · 1/11.
    flow.onAck(0, acknowledgement(1000, 10_000, true))
    expect([flow.rate, flow.window]).toEqual([50e9, 26_000])
    flow.onAck(0, acknowledgement(11_000, 20_000, false))
    expect(flow.rate).toBe(52e9)
    expect(flow.metrics().alpha).toBe(0.5 + 0.5 / 11)
    const { flow: bounded } = flowOf([...dctcpKeys, "MIN_RATE=60Gb/s", "VAR_WIN=0"])
    bounded.onAck(0, acknowledgement(1000, 10_000, true))
    expect([bounded.rate, bounded.window]).toEqual([60e9, 52_000])
    expect(flowOf([...dctcpKeys, "HAS_WIN=0"]).flow.window).toBe(Infinity)
  })

  it("without EWMA_GAIN the simulator's gain is 0: every cut halves", () => {
    const { flow } = flowOf([...dctcpKeys, "EWMA_GAIN=0"])
    flow.onAck(0, acknowledgement(1000, 10_000, true))
    flow.onAck(0, acknowledgement(11_000, 20_000, true))
    expect(flow.rate).toBe(25e9)
  })
})

describe("windows of long, fast paths (rdma-queue-pair.cc, GetWin)", () => {
  it.each([
    ["of window times rate 64 bits are left", 250e6, Number((250_000_000n * 10n ** 11n - 2n ** 64n) / 10n ** 11n)],
    ["all of it below that", 184e6, 184e6],
  ])("%s", (_name, maxBdpBytes, expected) => {
    const { config, graph } = referenceInputs("tiny/hpcc.config.txt", { overrides: dctcpKeys })
    const pair = () => ({ rttNs: 20e6, bdpBytes: maxBdpBytes })
    const make = (each: typeof config) => {
      const { controller, path } = ns3Parts(each, graph, { maxRttNs: 20e6, maxBdpBytes, pair })
      return controller.make(0, path(0, 0, 1, 100e9))
    }
    const flow = make(config)
    expect(flow.window).toBe(expected)
    // At half the rate nothing is lost.
    flow.onAck(0, acknowledgement(1000, 10_000, true))
    expect([flow.rate, flow.window]).toEqual([50e9, maxBdpBytes / 2])
    expect(make({ ...config, varWindow: false }).window).toBe(maxBdpBytes)
  })
})

describe("the keys of CC_MODE 10", () => {
  it("target, stage, steps, base, probability", () => {
    const keys = ["U_TARGET=0.5", "MI_THRESH=1", "RATE_AI=1Gb/s", "PINT_LOG_BASE=2"]
    const { flow, transport } = flowOf([...pintKeys, ...keys])
    expect(transport).toMatchObject({ telemetry: false, repace: true, framing: { telemetryBytes: 2, ackBytes: 60 } })
    flow.onAck(0, acknowledgement(1000, 10_000, false, 9))
    // Digest 9 to base 2 is U = 1: 100 G / 2 + 1 G; the window 52,000 · 0.51.
    flow.onAck(0, acknowledgement(11_000, 20_000, false, 9))
    expect([flow.rate, flow.window]).toEqual([51e9, 26_520])
    // U = 1/4: additive first, for the stage is below MI_THRESH.
    flow.onAck(0, acknowledgement(21_000, 30_000, false, 7))
    expect(flow.rate).toBe(52e9)
    const { flow: never } = flowOf([...pintKeys, "PINT_PROB=0"])
    for (let i = 1; i < 9; i++)
      expect(never.onAck(0, acknowledgement(10_000 * i, 10_000 * i + 9000, false, 0))).toBe(false)
  })

  it("any link rate: a digest names none", () => {
    const topology = "3 1 2\n2\n0 2 40Gbps 1000ns 0\n1 2 10Gbps 1000ns 0\n"
    const inputs = referenceInputs("tiny/hpcc.config.txt", {
      overrides: [...pintKeys, "ENABLE_QCN=0"],
      files: { "tiny/topology.txt": topology },
    })
    expect(runReference(inputs).outcome.flowsFinished).toBe(1)
  })
})
