import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { folderOf, rdmakit } from "./rdmakit.ts"

const scenario = `topology: { builder: star, hosts: 9 }
flows:
  - { workload: poisson, hosts: 0..7, load: 0.8, sizes: WebSearch, duration: 100us }
controller: { name: hpcc }
`
const line = ["sweep", "net.yaml", "--vary", "stop=1us,20us,100ms", "--seeds", "6", "--jobs", "2", "--out", "out"]

describe("a sweep in which not every flow finishes", () => {
  test("says of how many its figures are", async () => {
    const cwd = folderOf({ "net.yaml": scenario })
    const { code, out } = await rdmakit([...line, "--json"], { cwd })
    expect(code).toBe(1)
    const { aggregate, notes } = JSON.parse(out)
    const [none, few, all] = aggregate
    expect(none).toMatchObject({ runs: 6, runsWithFlows: 0, flowsFinished: 0 })
    expect(none.figures.slowdown_mean).toEqual({ mean: null, ci95: null, n: 0 })
    expect(few.runsWithFlows).toBeGreaterThan(0)
    expect(few.runsWithFlows).toBeLessThan(6)
    expect(few.figures.slowdown_mean.n).toBe(few.runsWithFlows)
    expect(few.figures.fct_p99_us.n).toBe(few.runsWithFlows)
    expect(few.figures.drops.n).toBe(6)
    expect(all).toMatchObject({ runs: 6, runsWithFlows: 6, flowsFinished: all.flowsTotal, flowsTotal: few.flowsTotal })
    const finished = few.flowsFinished + all.flowsFinished
    const without = 6 + 6 - few.runsWithFlows
    expect(notes).toEqual([
      `of ${3 * all.flowsTotal} flows ${finished} finished: slowdowns and completion times are of those`,
      `in ${without} of 18 runs no flow finished: means of slowdowns and completion times leave them out`,
    ])

    const csv = (file: string) =>
      readFileSync(join(cwd, "out", file), "utf8")
        .trimEnd()
        .split("\n")
        .map((row) => row.split(","))
    const [head, ...rows] = csv("aggregate.csv")
    expect(head!.slice(0, 4)).toEqual(["stop", "runs", "slowdown_mean", "slowdown_mean_ci95"])
    expect(head!.slice(-3)).toEqual(["runs_with_flows", "flows_finished", "flows_total"])
    expect(rows.map((row) => row.slice(-3).map(Number))).toEqual(
      [none, few, all].map(({ runsWithFlows, flowsFinished, flowsTotal }) => [
        ...[runsWithFlows, flowsFinished, flowsTotal],
      ]),
    )

    const shown = (await rdmakit([...line, "--resume"], { cwd })).out
    expect(shown).toContain("Slowdown, mean over up to 6 runs ± 95 % confidence\n")
    expect(shown).toMatch(/^stop +runs +flows +p50 /m)
    expect(shown).toMatch(new RegExp(`^20us +6 +${few.flowsFinished} of ${few.flowsTotal} `, "m"))
    for (const note of notes) expect(shown).toContain(`note: ${note}\n`)
  }, 60_000)

  test("says nothing of it where all finish", async () => {
    const cwd = folderOf({ "net.yaml": scenario })
    const { code, out } = await rdmakit(["sweep", "net.yaml", "--seeds", "2", "--jobs", "2"], { cwd })
    expect(code, out).toBe(0)
    expect(out).toContain("Slowdown, mean over 2 runs ±")
    expect(out).toMatch(/^runs +p50 /m)
    expect(out).not.toContain("note:")
  }, 60_000)
})
