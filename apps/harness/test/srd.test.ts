import { describe, expect, test } from "vitest"
import { srd3, srd4 } from "../claims/srd-incast.ts"
import { srdPaths, srdReroute } from "../claims/srd-paths.ts"
import type { Figure } from "../src/Claim.ts"
import { runSystem } from "../src/Experiment.ts"

/** What a system of a figure gives in the quick set, by claim. */
const valuesOf = async (figure: Figure, name: string): Promise<Readonly<Record<string, number>>> => {
  const system = figure.systems.find((each) => each.name === name)!
  return (await runSystem(figure, system, "quick")).values
}

describe("SRD and TCP, beside what is published of them", () => {
  test("48 flows into a port: TCP's slowest waits for a timeout, SRD's is with the others", async () => {
    const tcp = await valuesOf(srd3, "TCP")
    // Within a factor of two of 256 ms.
    expect(tcp.max).toBeGreaterThan(0.128)
    expect(tcp.max).toBeLessThan(0.512)
    const srd = await valuesOf(srd3, "SRD")
    // 48 times 2 MiB take 8.05 ms at 100 Gb/s; published as 12, with 20 % more at most.
    expect(srd.max).toBeGreaterThan(8.05e-3)
    expect(srd.max).toBeLessThan(14.4e-3)
    expect(tcp.min).toBeLessThan(srd.min!)
  }, 300_000)

  test("48 flows without end: SRD's rates are flat to 5 %, TCP's fall to nothing", async () => {
    const srd = await valuesOf(srd4, "SRD")
    expect(srd.deviation).toBeLessThan(0.05)
    expect(srd.mean).toBeGreaterThan(1.9e9)
    const tcp = await valuesOf(srd4, "TCP")
    expect(tcp.least).toBe(0)
    expect(tcp.most).toBeGreaterThan(3.5e9)
  }, 300_000)

  test("one flow: over 92 % of the line, every link within 10 % of the mean", async () => {
    const srd = await valuesOf(srdPaths, "SRD")
    expect(srd.goodput).toBeGreaterThan(0.92)
    expect(srd["busiest-link"]).toBeLessThan(1.1)
    expect(srd["idlest-link"]).toBeGreaterThan(0.9)
    // One path of eight.
    expect((await valuesOf(srdPaths, "TCP"))["busiest-link"]).toBeCloseTo(8, 6)
  }, 300_000)

  test("a link to a spine dies: nothing of SRD is late by a millisecond, others wait for routing", async () => {
    // A tenth of the claim's time.
    const { scenario } = srdReroute
    const flows = { ...(scenario.flows as object), duration: "11ms" }
    const figure = { ...srdReroute, scenario: { ...scenario, flows, convergence: "10ms" } }
    const srd = await valuesOf(figure, "SRD")
    expect(srd).toMatchObject({ finished: 1 })
    expect(srd.delay).toBeLessThan(1e-3)
    for (const name of ["TCP", "RoCE"]) expect((await valuesOf(figure, name)).delay).toBeGreaterThan(8e-3)
  }, 300_000)
})
