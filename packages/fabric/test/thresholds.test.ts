import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { fatTree, star } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { type NativeOptions, type SwitchSettings, sharedBufferSwitches } from "../src/index.ts"
import { incast, lineRate, runFlows } from "./runs.ts"

const graph = fatTree(4)
/** Every host to three others, so that buffers fill at every tier. */
const flows = Array.from({ length: 48 }, (_, i) => ({
  source: i % 16,
  destination: (i * 7 + 3) % 16 === i % 16 ? (i + 1) % 16 : (i * 7 + 3) % 16,
  size: 60_000 + 1000 * i,
  priority: 1 + (i % 3),
}))

const thresholds: ReadonlyArray<SwitchSettings> = [
  {},
  { threshold: { alpha: 1 / 64 } },
  { threshold: { alpha: 8 } },
  { threshold: { bytes: 1 } },
  { threshold: { bytes: 30_000 } },
  { threshold: { bytes: 1 }, reserveBytes: 0 },
  { threshold: { alpha: 1 / 64 }, reserveBytes: 0 },
]

describe("what a switch leaves to the kernel makes no difference", () => {
  // A watchdog that finds nothing has the kernel ask about every packet, and nodes take no turns: packets are counted otherwise.
  const both = (options: Omit<NativeOptions, "graph">) =>
    [options, { ...options, watchdog: {} }].map((each) => {
      const { outcome } = runFlows({ graph, ...each }, flows)
      const { watchdog: _, notes: __, events: ___, packetsPeak: ____, flows: _____, idealPs: ______, ...rest } = outcome
      return rest
    })

  it.each(thresholds)("lossless, %j", (settings) => {
    for (const controller of [lineRate, hpcc(hpccPresets.simulation)]) {
      const switches = sharedBufferSwitches({ bufferBytes: 600_000, ecn: true, ...settings })
      const [left, asked] = both({ controller, switches })
      expect(left).toEqual(asked)
      expect(left?.flowsFinished).toBe(48)
      expect(left?.dropsByReason).toEqual({})
    }
  })

  it.each(thresholds)("lossy, %j", (settings) => {
    const switches = sharedBufferSwitches({ bufferBytes: 300_000, lossless: false, ...settings })
    const [left, asked] = both({ controller: hpcc(hpccPresets.simulation), switches, transport: { ackTimeoutPs: 1e8 } })
    expect(left).toEqual(asked)
    expect(left?.pfcPauses).toBe(0)
  })
})

describe("marks of a queue that always holds more", () => {
  const marksBy = (kminBytes: number, kmaxBytes: number): number => {
    let marks = 0
    const controller = {
      ...lineRate,
      make: (...of: Parameters<typeof lineRate.make>) => ({
        ...lineRate.make(...of),
        onAck: (_now: number, { congestion }: { readonly congestion: boolean }) => {
          if (congestion) marks++
          return false
        },
      }),
    }
    const switches = sharedBufferSwitches({
      ecn: true,
      ecnRules: new Map([[100e9, { kminBytes, kmaxBytes, pmax: 1 }]]),
    })
    runFlows({ graph: star(4), controller, switches }, incast(3, 50_000))
    return marks
  }

  it.each([
    [Infinity, Infinity],
    [0, Infinity],
  ])("kmin %d, kmax %d: there are none", (kmin, kmax) => expect(marksBy(kmin, kmax)).toBe(0))

  it("kmin = kmax = 0: there are", () => expect(marksBy(0, 0)).toBeGreaterThan(50))
})
