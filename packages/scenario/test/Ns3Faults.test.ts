import { readTr, trEvents } from "@rdmakit/ns3"
import { Mrg32k3a } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { ns3Losses, ns3LossVariables } from "../src/Ns3Losses.ts"
import { referenceInputs, runReference } from "./reference.ts"

describe("ERROR_RATE_PER_LINK", () => {
  it("draws from stream 50 of those that are asked for by number, frame by frame", () => {
    const draws = Mrg32k3a.assigned(1, 50, 1)
    const isLost = ns3Losses({ errorRatePerLink: 0.25 }, [0, 0], 0)!
    const lost = Array.from({ length: 40 }, (_, frame) => isLost(frame % 4))
    expect(lost).toEqual(lost.map(() => draws.uniform() < 0.25))
    expect(new Set(lost).size).toBe(2)
    const third = Mrg32k3a.assigned(1, 50, 3)
    const isLostThere = ns3Losses({ errorRatePerLink: 0.25 }, [0, 0], 2)!
    expect(lost.map((_, frame) => isLostThere(frame % 4))).toEqual(lost.map(() => third.uniform() < 0.25))
  })

  it("a link with a rate of its own has a model of its own, which draws the same numbers", () => {
    const draws = Mrg32k3a.assigned(1, 50, 1)
    const isLost = ns3Losses({ errorRatePerLink: 0 }, [0.5, 0.5, 0], 0)!
    for (let frame = 0; frame < 20; frame++) {
      const lost = draws.uniform() < 0.5
      // Link 0, whichever way; link 1 is as far in its own draws; link 2 loses nothing.
      expect([isLost(frame & 1), isLost(2), isLost(4)]).toEqual([lost, lost, false])
    }
    expect(ns3LossVariables([0.5, 0.5, 0])).toBe(4)
    expect(ns3Losses({ errorRatePerLink: 0 }, [0, 0], 0)).toBeUndefined()
  })

  it.each(["hpcc", "timely", "dcqcn"])("%s recovers from what is lost", (mode) => {
    const inputs = referenceInputs(`incast16/${mode}.config.txt`, { overrides: ["ERROR_RATE_PER_LINK=0.001"] })
    const { outcome, simulation } = runReference(inputs)
    expect(outcome).toMatchObject({ flowsFinished: 16, unfinished: [] })
    // 16 flows of 500 packets or more, over two links each way.
    expect(outcome.dropsByReason["link-loss"]).toBeGreaterThan(20)
    expect(outcome.retransmissions).toBeGreaterThan(20)
    expect(simulation.world.kernel.pool.alive).toBe(0)
  })
})

it("L2_BACK_TO_ZERO with losses: flows of whole chunks end, others do not", () => {
  const sizes = [400_000, 400_000, 399_000]
  const lines = sizes.map((size, from) => `${from} 16 3 100 ${size} 2.0`)
  const inputs = referenceInputs("incast16/hpcc.config.txt", {
    overrides: ["ERROR_RATE_PER_LINK=0.001", "L2_BACK_TO_ZERO=1"],
    files: { "incast16/flow.txt": `3\n${lines.join("\n")}\n` },
  })
  expect(inputs.notes.map(({ text }) => text).join()).toContain("never ends, as in the simulator: 1 flow")
  const { outcome } = runReference(inputs)
  expect(outcome.flowsFinished).toBe(2)
  expect(outcome.unfinished.map(({ reason }) => reason)).toEqual([
    "waiting for PSN 396 (396000 of 399000 B acknowledged)",
  ])
  expect(outcome.dropsByReason["link-loss"]).toBeGreaterThan(0)
})

describe("LINK_DOWN", () => {
  // Hosts 0 to 3 at switch 4, host 8 at switch 7; between them switches 5 and 6.
  const topology = `9 4 9
4 5 6 7
0 4 100Gbps 1000ns 0
1 4 100Gbps 1000ns 0
2 4 100Gbps 1000ns 0
3 4 100Gbps 1000ns 0
4 5 100Gbps 1000ns 0
5 7 100Gbps 1000ns 0
4 6 100Gbps 1000ns 0
6 7 100Gbps 1000ns 0
7 8 100Gbps 1000ns 0
`
  const flows = Array.from({ length: 4 }, (_, from) => `${from} 8 3 100 400000 2.0`)
  const run = (overrides: ReadonlyArray<string>) =>
    runReference(
      referenceInputs("incast16/timely.config.txt", {
        overrides: ["LINK_DOWN=10 5 7", ...overrides],
        files: {
          "incast16/topology.txt": topology,
          "incast16/flow.txt": `4\n${flows.join("\n")}\n`,
          "incast16/trace.txt": "1\n5\n",
        },
      }),
    )

  it("cuts off what is on the link or waits there; flows take the other way", () => {
    const { outcome, simulation, trace } = run(["ENABLE_TRACE=1"])
    expect(outcome).toMatchObject({ flowsFinished: 4, unfinished: [] })
    expect(outcome.dropsByReason["link-down"]).toBeGreaterThan(0)
    const { world } = simulation
    const downAt = 2_000_010_000
    const records: Array<{ readonly event: string; readonly timeNs: number; readonly intf: number }> = []
    readTr(trace, "a.tr", ({ event, time, intf }) => void records.push({ event: trEvents[event]!, timeNs: time, intf }))
    const drops = records.filter(({ event }) => event === "Drop")
    expect(drops.length).toBeGreaterThan(0)
    for (const { timeNs } of drops) {
      expect(timeNs).toBeGreaterThanOrEqual(downAt)
      // What was on the link, at most a frame and a microsecond long.
      expect(timeNs).toBeLessThan(downAt + 1100)
    }
    // Nothing leaves switch 5 by that port any more.
    const later = records.filter(({ event, timeNs, intf }) => event === "Dequ" && timeNs > downAt && intf === 2)
    expect(later).toEqual([])
    expect(world.faults?.untoldBytes.every((bytes) => bytes >= 0)).toBe(true)
  })

  it("of a host's only link leaves its flows without a way", () => {
    const { outcome } = run(["LINK_DOWN=10 7 8"])
    expect(outcome.flowsFinished).toBe(0)
    for (const { source, reason } of outcome.unfinished) {
      expect(reason).toMatch(new RegExp(`^no route from node ${source} to node 8`))
    }
  })

  it("changes nothing before it happens", () => {
    const plain = run(["LINK_DOWN=0 0 0"])
    const late = run(["LINK_DOWN=150000 5 7"])
    expect(late.outcome.digest).toBe(plain.outcome.digest)
    expect(late.simulation.files()).toEqual(plain.simulation.files())
  })
})
