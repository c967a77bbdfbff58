import { type HpccPintOptions, hpcc, hpccPint, hpccPintPresets, hpccPresets } from "@rdmakit/cc-hpcc"
import type { ControllerFactory } from "@rdmakit/protocol"
import { SharedBufferSwitch } from "@rdmakit/switch"
import { star } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { nativeParts } from "../src/index.ts"
import { incast, lineRate, runFlows, start } from "./runs.ts"

/** HPCC's Figure 13: 16 senders, one receiver, 100 Gb/s, 1 µs a link. */
const figure13 = (controller: ControllerFactory) => {
  const run = start({ graph: star(17), controller, seed: 3 }, incast(16, "4MB"), 500e6)
  const toReceiver = 2 * 16 + 1
  const queueBytes: Array<number> = []
  const sentBytes: Array<number> = []
  const sample = (): void => {
    queueBytes.push(run.world.kernel.queueBytes(toReceiver))
    sentBytes.push(run.world.kernel.sentBytes(toReceiver))
  }
  run.world.addSampler({ first: 0, every: 1e6, last: 400e6, sample })
  while (run.step(1 << 20)) {}
  const peakUs = queueBytes.indexOf(Math.max(...queueBytes))
  return {
    drainedUs: queueBytes.findIndex((bytes, us) => us > peakUs && bytes < 10e3) - peakUs,
    laterBytes: Math.max(...queueBytes.slice(250)),
    laterGbps: ((sentBytes[400]! - sentBytes[250]!) * 8) / 150 / 1e3,
  }
}

describe("HPCC-PINT in a network", () => {
  it.each<readonly [string, HpccPintOptions]>([
    ["every acknowledgement", hpccPintPresets.paper],
    ["one in sixteen", hpccPintPresets["one-in-16"]],
    ["the rate form", { ...hpccPintPresets["ns3-config"] }],
  ])("drains an incast and keeps the link busy, as HPCC does: %s", (_name, options) => {
    const withRecords = figure13(hpcc(hpccPresets.simulation))
    const withDigests = figure13(hpccPint(options))
    // HPCC: about 75 µs. A digest is right within 5 %, a sample may be late.
    expect(withDigests.drainedUs).toBeGreaterThan(0)
    expect(withDigests.drainedUs).toBeLessThan(2 * withRecords.drainedUs)
    expect(withDigests.laterBytes).toBeLessThan(60e3)
    expect(withDigests.laterGbps).toBeGreaterThan(85)
  })

  it("is switched on by what the controller needs, with nothing to note", () => {
    const { notes } = nativeParts({ graph: star(2), controller: hpccPint({ variant: "paper" }) })
    expect(notes).toEqual([])
    const { run } = runFlows({ graph: star(2), controller: lineRate }, incast(1, "1KB"))
    expect(run.world.kernel.switches.filter((each) => each !== undefined)[0]).toBeInstanceOf(SharedBufferSwitch)
  })

  it("every acknowledgement brings a digest back, and the same seed the same result", () => {
    const digests: Array<number> = []
    const listening: ControllerFactory = {
      ...lineRate,
      name: "listening",
      needs: ["pint"],
      pintBase: 2,
      make: (now, path) => ({
        ...lineRate.make(now, path),
        onAck: (_now, { hops, pint }) => {
          expect(hops).toBe(0)
          digests.push(pint)
          return false
        },
      }),
    }
    const run = () => runFlows({ graph: star(3), controller: listening, seed: 7 }, incast(2, "100KB")).outcome.digest
    const first = run()
    // Two flows at line rate into one link: U rises past 1, digest 9 to base 2, and no digest is missing.
    expect(digests).toHaveLength(200)
    expect(Math.min(...digests)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...digests)).toBeGreaterThanOrEqual(9)
    expect(run()).toBe(first)
    expect(digests.slice(200)).toEqual(digests.slice(0, 200))
  })

  it("a digest costs two bytes a packet", () => {
    const { framing } = nativeParts({ graph: star(2), controller: hpccPint({ variant: "paper" }) }).parts.transport
    expect(framing).toMatchObject({ telemetryBytes: 2, ackBytes: 60 })
  })
})
