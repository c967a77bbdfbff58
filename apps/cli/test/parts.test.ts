import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { filesIn, folderOf, rdmakit } from "./rdmakit.ts"

const head = "topology: { builder: star, hosts: 9 }\n"
const incast = "{ workload: incast, senders: 0..3, receiver: 8, size: 100KB }"
const ring = "{ workload: ring, hosts: 4..6, size: 2KB }"

const ran = async (flows: string, args: ReadonlyArray<string> = []) => {
  const cwd = folderOf({ "s.yaml": `${head}flows: [${flows}]\n` })
  const { code, out } = await rdmakit(["run", "s.yaml", ...args], { cwd })
  expect(code).toBe(0)
  const textOf = (name: string): string => readFileSync(join(cwd, "s.results", name), "utf8")
  return { out, cwd, textOf, summary: () => JSON.parse(textOf("summary.json")) }
}

describe("workloads", () => {
  test("each by itself where there are several, on the terminal and in the summary", async () => {
    const { out, textOf, summary } = await ran(`${incast}, ${ring}`)
    expect(out).toMatch(/\nSlowdown by workload\n +workload +flows .*\nflows\[0\] incast +4 .*\n +flows\[1\] ring +3 /)
    const parts = summary().slowdownByWorkload
    expect(parts).toMatchObject([
      { workload: "flows[0] incast", flows: 4, slowdown: [{ count: 4 }, { upToBytes: "all", count: 4 }] },
      { workload: "flows[1] ring", flows: 3, slowdown: [{ count: 3 }, { upToBytes: "all", count: 3 }] },
    ])
    expect(parts[0].slowdown.at(-1).mean).toBeGreaterThan(2 * parts[1].slowdown.at(-1).mean)
    expect(textOf("flows.csv").match(/,"flows\[1\] ring"$/gm)).toHaveLength(3)
  })

  test("of many, the first", async () => {
    const many = Array.from({ length: 30 }, (_, i) => `{ workload: ring, hosts: [${i % 8}, 8], size: 2KB }`)
    const { out, textOf, summary } = await ran(many.join(", "))
    expect(out.match(/^ *flows\[\d+\] ring /gm)).toHaveLength(12)
    expect(out).toContain("  and 18 more: summary.json has them all\n")
    expect(summary().slowdownByWorkload).toHaveLength(30)
    const [, section] = /<section id="workloads">(.*?)<\/section>/s.exec(textOf("report.html"))!
    expect(section!.match(/flows\[\d+\] ring<[^>]*><[^>]*>all</g)).toHaveLength(20)
    expect(section).toContain("And of 10 more, in summary.json.")
  })

  test("one has no table of its own", async () => {
    const { out, summary } = await ran(incast)
    expect(out).not.toContain("by workload")
    expect(summary().slowdownByWorkload).toEqual([])
  })

  test("a table of before, without the column, is compared as one that has it", async () => {
    const { cwd, textOf } = await ran(`${incast}, ${ring}`)
    const before = textOf("flows.csv").replace(/,(workload|"flows\[\d\] \w+")?$/gm, "")
    expect(before.split("\n")[0]!.endsWith(",reason")).toBe(true)
    const folder = folderOf({ "before.csv": before })
    const { code, out } = await rdmakit(["compare", join(cwd, "s.results/flows.csv"), join(folder, "before.csv")])
    expect(out).toContain("7 identical (100 %)")
    expect(code).toBe(0)
  })
})

describe("fairness", () => {
  test("of the flows to one host, on the terminal, as --json, and as a series", async () => {
    const { out, cwd, textOf, summary } = await ran(incast, ["--series", "fairness", "--no-report"])
    expect(out).toMatch(/\nFairness among flows to one host\nto host +flows +Jain's index .*\n +8 +4 +0\.\d{3} /)
    expect(filesIn(join(cwd, "s.results"))).toContain("fairness.csv")
    const [told, ...others] = summary().fairness
    expect(others).toEqual([])
    expect(told).toMatchObject({ host: 8, interface: null, priority: 3, flows: 4 })
    const [header, ...lines] = textOf("fairness.csv").trimEnd().split("\n")
    expect(header).toBe("time_ps,host,interface,priority,flows,jain_index")
    expect(lines).toHaveLength(told.samples)
    expect(lines[0]).toMatch(/^\d+,8,,3,4,[01]\.\d{6}$/)
    const json = JSON.parse((await ran(incast, ["--json"])).out)
    expect(json.fairness).toEqual([told])
  })

  test("none of what was not sampled, or never met", async () => {
    expect((await ran(incast, ["--no-report"])).summary().fairness).toEqual([])
    expect((await ran(ring)).summary().fairness).toEqual([])
  })
})
