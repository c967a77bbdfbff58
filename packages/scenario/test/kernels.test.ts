import { srd } from "@rdmakit/cc-srd"
import { FusedKernel } from "@rdmakit/sim"
import { srdConfig, srdFlows } from "@rdmakit/transport-srd"
import { describe, expect, it } from "vitest"
import { carriedBy, carriers } from "./carried.ts"
import { kernelDifference, played } from "./kernelDifference.ts"
import { type RandomCase, randomCase, startedRun, takingTurns } from "./randomNetwork.ts"

/** The same network and flows under SRD, with ports that change all the time. */
const underSrd = (random: RandomCase): RandomCase => ({
  ...random,
  options: {
    ...random.options,
    controller: srd(),
    makeTransport: (controller) => srdFlows(srdConfig({ controller, mtuBytes: 1000, renewAfterPackets: 4 })),
  },
  switchSettings: { ...random.switchSettings, loadBalancer: "entropy" },
})

describe("exact and fused kernel", () => {
  it.each(Array.from({ length: 10 }, (_, tens) => tens))(
    "give the same on random networks %i0 to %i9",
    (tens) => {
      const differences = Array.from({ length: 10 }, (_, i) => kernelDifference(10 * tens + i))
      expect(differences.filter((text) => text !== undefined)).toEqual([])
    },
    60_000,
  )

  it.each(Array.from({ length: 10 }, (_, tens) => tens))(
    "give the same on random networks whose nodes take turns, %i0 to %i9",
    (tens) => {
      const seeds = Array.from({ length: 10 }, (_, i) => 10 * tens + i)
      const kernels = seeds.map((seed) => startedRun(takingTurns(randomCase(seed)), "fused").world.kernel)
      expect(kernels.map((kernel) => kernel instanceof FusedKernel && kernel.takesTurns)).toEqual(seeds.map(() => true))
      const differences = seeds.map((seed) => kernelDifference(seed, takingTurns))
      expect(differences.filter((text) => text !== undefined)).toEqual([])
    },
    60_000,
  )

  it("give the same under SRD, which takes other ways all the time", () => {
    const differences = Array.from({ length: 40 }, (_, seed) => kernelDifference(seed, underSrd))
    expect(differences.filter((text) => text !== undefined)).toEqual([])
    const outcomes = Array.from({ length: 40 }, (_, seed) => played(seed, "fused", underSrd).outcome)
    expect(outcomes.filter(({ retransmissions }) => retransmissions > 0).length).toBeGreaterThan(5)
    expect(outcomes.filter(({ flowsFinished, flowsTotal }) => flowsFinished === flowsTotal).length).toBeGreaterThan(20)
  }, 60_000)

  it.each(carriers)(
    "give the same under %s, in the order of time and in turns",
    (name) => {
      const seeds = Array.from({ length: 25 }, (_, seed) => seed)
      const inTurns = (random: RandomCase): RandomCase => carriedBy(name)(takingTurns(random))
      const differences = seeds.flatMap((seed) => [
        kernelDifference(seed, carriedBy(name)) ?? [],
        kernelDifference(seed, inTurns) ?? [],
      ])
      expect(differences.flat()).toEqual([])
      const outcomes = seeds.map((seed) => played(seed, "fused", inTurns).outcome)
      expect(new Set(outcomes.map(({ transport }) => transport.split("/")[0]))).toEqual(new Set([name]))
      expect(outcomes.filter(({ retransmissions }) => retransmissions > 0).length).toBeGreaterThan(5)
      expect(outcomes.filter(({ flowsFinished, flowsTotal }) => flowsFinished === flowsTotal).length).toBeGreaterThan(
        10,
      )
    },
    60_000,
  )

  it("end alike where all that is left waits for a resume that nobody will send", () => {
    const seed = 60_273
    const { outcome } = played(seed, "fused")
    expect(outcome.deadlock?.text).toContain("node 6 (port 2) -> node 7 (port 3)")
    expect(outcome.simulatedPs).toBeLessThan(randomCase(seed).until)
    expect(kernelDifference(seed)).toBeUndefined()
  })

  it("is asked of networks that pause, drop, mark, lose and fail", () => {
    const outcomes = Array.from({ length: 40 }, (_, seed) => played(seed, "fused").outcome)
    const reasons = new Set(outcomes.flatMap(({ dropsByReason }) => Object.keys(dropsByReason)))
    expect([...reasons].sort()).toEqual(
      expect.arrayContaining(["egress-full", "ingress-full", "link-down", "link-loss"]),
    )
    expect(outcomes.filter(({ pfcPauses }) => pfcPauses > 0).length).toBeGreaterThan(5)
    expect(outcomes.filter(({ pfcPauses }) => pfcPauses === 0).length).toBeGreaterThan(5)
    expect(outcomes.filter(({ retransmissions }) => retransmissions > 0).length).toBeGreaterThan(5)
    expect(new Set(outcomes.map(({ controller }) => controller)).size).toBeGreaterThan(5)
  })
})
