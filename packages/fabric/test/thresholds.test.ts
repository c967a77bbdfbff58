import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { fatTree } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { type NativeOptions, type SwitchSettings, sharedBufferSwitches } from "../src/index.ts"
import { lineRate, runFlows } from "./runs.ts"

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
  // A watchdog that finds nothing has the kernel ask about every packet.
  const both = (options: Omit<NativeOptions, "graph">) =>
    [options, { ...options, watchdog: {} }].map((each) => {
      const { outcome } = runFlows({ graph, ...each }, flows)
      const { watchdog: _, notes: __, events: ___, flows: ____, idealPs: _____, ...rest } = outcome
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
