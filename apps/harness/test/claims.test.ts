import { describe, expect, test } from "vitest"
import { figures } from "../claims/index.ts"
import type { Scale } from "../src/Claim.ts"
import { inputsOf } from "../src/Experiment.ts"
import { idsOf, selectClaims } from "../src/Selection.ts"
import { verdictOf } from "../src/Verdict.ts"

const scales: ReadonlyArray<Scale> = ["quick", "full"]

/** Formats are compared without a run, and a bench has no scenario. */
const simulated = figures.filter(
  ({ octets, bench, sweep }) => octets === undefined && (bench === undefined || sweep !== undefined),
)

describe("the claims", () => {
  test("have ids of their own", () => {
    const ids = idsOf(figures)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[a-z0-9-]+(\/[a-z0-9-]+)?$/)
  })

  test.each(figures.map((figure) => [figure.id, figure] as const))("%s is well-formed", (_, figure) => {
    const names = figure.systems.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const text of [figure.title, figure.source, figure.section, figure.about]) expect(text).not.toBe("")
    expect(figure.claims.length).toBeGreaterThan(0)
    for (const claim of figure.claims) {
      const { published, order = [], against, reasons = {}, exceptions = [] } = claim
      const said = Object.keys(published).length + order.length
      expect(said, claim.id).toBeGreaterThan(0)
      expect(["read", "digitised", "remembered", "bar"]).toContain(claim.mark)
      const mentioned = [
        ...Object.keys(published),
        ...order.flat(),
        ...(against === undefined ? [] : [against.system]),
        ...Object.keys(reasons).filter((name) => name !== "all"),
        ...exceptions.flatMap(({ systems }) => systems),
      ]
      // Reasons and exceptions are shared by claims of figures that have fewer systems.
      for (const name of mentioned) expect(names, `${claim.id}: ${name}`).toContain(name)
      for (const number of Object.values(published)) {
        const bounds = typeof number === "number" ? [number] : [number.atLeast, number.atMost]
        for (const bound of bounds) if (bound !== undefined) expect(Number.isFinite(bound)).toBe(true)
      }
      if (claim.metric.kind === "paused") for (const scale of scales) expect(figure.extents[scale].window).toBeDefined()
    }
    if (figure.extents.quick.scenario !== figure.extents.full.scenario && figure.extents.quick.window !== undefined) {
      expect(figure.extents.quick.less).toBeDefined()
    }
  })

  test("that were read or digitised all count, if not calibrated", () => {
    const uncounted = figures.flatMap((figure) =>
      figure.claims
        .filter(({ mark, calibrated }) => mark !== "remembered" && calibrated === undefined)
        .filter((claim) => Object.values(claim.published).some((each) => verdictOf(claim, each, 1) === "shape only"))
        .map(({ id }) => `${figure.id}/${id}`),
    )
    expect(uncounted).toEqual([])
  })

  // Reading a scenario makes its flows, and of the full scale there are millions.
  test.each(
    simulated.flatMap((figure) =>
      figure.systems.map((system) => [`${figure.id} ${system.name}`, figure, system] as const),
    ),
  )("%s loads", async (_, figure, system) => {
    const { flows, notes } = await inputsOf(figure, system, "quick")
    expect(flows.length).toBeGreaterThan(0)
    expect(notes.filter(({ kind }) => kind === "warning")).toEqual([])
  })

  test("are told of by figure, by claim, by the number of a figure", () => {
    const ids = (...wanted: ReadonlyArray<string>) => {
      const selected = selectClaims(figures, wanted)
      if (!Array.isArray(selected)) return selected
      return selected.map(({ figure, claims }) => `${figure.id}: ${claims.length}`)
    }
    expect(ids("hpcc-13/peak", "hpcc-13/dip")).toEqual(["hpcc-13: 2"])
    expect(ids("hpcc-9")).toEqual(["hpcc-9a: 2", "hpcc-9c: 2", "hpcc-9e: 2", "hpcc-9g: 2"])
    expect(ids("hpcc-1")).toEqual({ id: "hpcc-1", near: expect.stringMatching(/^hpcc-/) })
    expect(ids("hpcc-13/peek")).toEqual({ id: "hpcc-13/peek", near: "hpcc-13/peak" })
  })
})
