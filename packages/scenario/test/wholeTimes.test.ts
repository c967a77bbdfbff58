import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { loadScenario, ScenarioSimulation } from "../src/index.ts"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

/** Losses, jitter and a slow host: timeouts happen, which are reckoned from means of round trips. */
const lossy = (transport: string) => ({
  seed: 9,
  topology: { builder: "fat-tree", k: 4, link: { rate: "100Gbps", delay: "0s" }, fabric: { rate: "40Gbps" } },
  flows: [{ workload: "permutation", size: 100_000 }],
  transport: { name: transport },
  switch: { lossless: false },
  faults: [
    { at: "0us", host: 6, receive: "1Gbps" },
    { at: "5us", for: "100us", links: "all", jitter: "2us", loss: 0.02 },
  ],
})

describe("completion times", () => {
  it.each(["rc", "tcp", "iwarp", "erdma", "srd"])("are whole picoseconds where %s has timeouts", async (name) => {
    const files = memoryFiles({ "/s.json": JSON.stringify(lossy(name)) })
    const loaded = loadScenario("s.json", { workingDirectory: "/" }).pipe(Effect.provide(files))
    const { flows, flowsFinished, retransmissions } = runToEnd(new ScenarioSimulation(await Effect.runPromise(loaded)))
    expect(flowsFinished).toBe(flows.count)
    expect(retransmissions).toBeGreaterThan(0)
    expect([...flows.finished].filter((time) => !Number.isInteger(time))).toEqual([])
  })
})
