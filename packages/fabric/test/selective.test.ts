import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { timely, timelyPresets } from "@rdmakit/cc-timely"
import { leafSpine, star } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { sharedBufferSwitches } from "../src/index.ts"
import { incast, lineRate, runFlows } from "./runs.ts"

const lossy = sharedBufferSwitches({ lossless: false, threshold: { bytes: 100_000 } })

describe("selective repeat without PFC", () => {
  it("sends less again than go-back-N where switches drop, and ends sooner", () => {
    const runWith = (recovery: "go-back-n" | "selective-repeat") => {
      // Both wait equally long for what is lost at the end, or twice.
      const transport = { recovery, ackTimeoutPs: 100e6, ackTimeoutHighPs: 100e6, retryCount: 50 }
      return runFlows({ graph: star(9), controller: lineRate, switches: lossy, transport }, incast(8, 1_000_000))
    }
    const all = runWith("go-back-n")
    const selective = runWith("selective-repeat")
    for (const { outcome, run } of [all, selective]) {
      expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [], pfcPauses: 0 })
      expect(outcome.dropsByReason["egress-full"]).toBeGreaterThan(0)
      expect(run.world.kernel.pool.alive).toBe(0)
    }
    expect(selective.outcome.retransmissions).toBeLessThan(all.outcome.retransmissions / 4)
    expect(selective.outcome.simulatedPs).toBeLessThan(all.outcome.simulatedPs)
  })

  it.each([
    ["HPCC", hpcc(hpccPresets.simulation)],
    ["TIMELY", timely(timelyPresets["simulation+w"])],
  ])("carries %s", (_name, controller) => {
    const transport = { recovery: "selective-repeat" as const }
    const { outcome } = runFlows({ graph: star(17), controller, switches: lossy, transport }, incast(16, 200_000))
    expect(outcome).toMatchObject({ flowsFinished: 16, unfinished: [], pfcPauses: 0 })
  })

  it("keeps no more than the bandwidth-delay product in flight", () => {
    const transport = { recovery: "selective-repeat" as const, bdpPackets: 10 }
    const { outcome, run } = runFlows({ graph: star(3), controller: lineRate, transport }, incast(2, 1_000_000))
    expect(outcome.flowsFinished).toBe(2)
    // Ten packets of each, data and acknowledgements, and no more.
    expect(run.world.kernel.pool.alivePeak).toBeLessThanOrEqual(20)
  })

  it("bears packets that overtake each other", () => {
    const graph = leafSpine({ leaves: 2, spines: 4, hostsPerLeaf: 4 })
    const flows = Array.from({ length: 4 }, (_, source) => ({
      source,
      destination: 4 + ((source + 1) % 4),
      size: 500_000,
    }))
    const switches = sharedBufferSwitches({ loadBalancer: "spray" })
    const again = (recovery: "go-back-n" | "selective-repeat") =>
      runFlows({ graph, controller: lineRate, switches, transport: { recovery } }, flows).outcome
    const [all, selective] = [again("go-back-n"), again("selective-repeat")]
    expect(selective.flowsFinished).toBe(4)
    expect(selective.retransmissions).toBeLessThanOrEqual(all.retransmissions)
  })
})
