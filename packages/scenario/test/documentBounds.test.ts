/** Documents that would fill memory before they were read are refused, and say where flows go. */
import { describe, expect, it } from "vitest"
import { faultsIn, loading } from "./loading.ts"

const base = "topology: { builder: star, hosts: 4 }\n"
const flows = (count: number) => `${base}flows:\n${"  - { from: 0, to: 1, size: 1KB }\n".repeat(count)}`
const advice = "; flows by the thousand go into a flow file, flows: { file: NAME }, which has no such bound"

describe("a document", () => {
  it("has at most 4 MiB", async () => {
    const remarks = `${base}flows: [{ from: 0, to: 1, size: 1KB }]\n`
    expect(await faultsIn(`${remarks}#${"x".repeat(4 * 1024 * 1024)}`)).toEqual([
      expect.stringMatching(/^s\.yaml: scenario: found "4\.19\d*MB", expected at most 4MiB; flows by the thousand/),
    ])
    expect(await faultsIn(new Uint8Array(4 * 1024 * 1024 + 1).fill(0x20))).toHaveLength(1)
  })

  it("has at most a hundred thousand values", async () => {
    expect(await faultsIn(flows(40_000))).toEqual([
      `s.yaml: scenario: found "120003 values", expected at most 100000${advice}`,
    ])
    const json = JSON.stringify({
      topology: {},
      flows: Array.from({ length: 40_000 }, () => ({ from: 0, to: 1, size: 1 })),
    })
    expect(await faultsIn(json)).toEqual([expect.stringContaining(`values", expected at most 100000${advice}`)])
  })

  it("with as many loads", async () => {
    const result = await loading(flows(20_000))
    expect(result._tag === "Success" && result.success.flows.length).toBe(20_000)
  }, 30_000)

  it("with many faults has the first hundred told", async () => {
    const faults = await faultsIn(flows(300).replaceAll("1KB", "KB"))
    expect(faults).toHaveLength(100)
    expect(faults[0]).toContain('s.yaml:3:29: flows[0].size: found "KB"')
    expect(faults[99]).toContain("flows[99].size: found")
    expect(faults[99]).toMatch(/; 200 more faults are not told of$/)
  })
})

it("a path deeper than any scenario is refused at once", async () => {
  const document = "topology: { builder: star, hosts: 3 }\nflows: [{ from: 0, to: 1, size: 1000 }]\n"
  expect(await faultsIn(document, [`${"a.".repeat(50_000)}b=1`])).toEqual([
    '--set: override: found "50001 fields", expected a path of at most 32',
  ])
})
