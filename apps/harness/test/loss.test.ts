import { describe, expect, test } from "vitest"
import { loss12, loss100 } from "../claims/loss.ts"
import type { Figure } from "../src/Claim.ts"
import { evaluate, tallyOf } from "../src/Evaluation.ts"
import { runFigures } from "../src/Jobs.ts"
import { claimsPage } from "../src/Page.ts"
import { claimsJson } from "../src/tables.ts"

/** A figure with some of its systems, at some of its points. */
const partOf = (figure: Figure, points: ReadonlyArray<string>, isWanted: (system: string) => boolean): Figure => ({
  ...figure,
  systems: figure.systems.filter(({ name }) => isWanted(name)),
  sweep: { ...figure.sweep!, points: figure.sweep!.points.filter(({ name }) => points.includes(name)) },
})
const run = (figure: Figure) => runFigures([figure], { scale: "quick", workers: 0, worker: new URL("file:///none") })

describe.each([
  ["12 µs", loss12],
  ["100 µs", loss100],
])("at a round trip of %s", (_, figure) => {
  test("SRD, and eRDMA by HPCC, carry 90 % of line rate where 1 % is lost, and half where 10 % is", async () => {
    const measured = await run(partOf(figure, ["1 %", "10 %"], (name) => name === "SRD" || name.includes("HPCC")))
    expect(measured).toHaveLength(4)
    for (const { system, values, flowsFinished } of measured) {
      expect(flowsFinished, system).toBe(2)
      expect(values["after-the-fall"], system).toBeGreaterThan(0.9)
      expect(values["one-in-ten"], system).toBeGreaterThan(0.5)
    }
  })

  test("go-back-N with one NAK a gap falls where RDMA is said to fall", async () => {
    const [goBackN] = await run(partOf(figure, ["0.01 %", "1 %"], (name) => name === "go-back-N, one NAK, 67 ms"))
    const [before, after] = goBackN!.curves[0]!.map(([, share]) => share)
    expect(before).toBeGreaterThan(0.5)
    expect(after).toBeLessThan(0.05)
  })
})

test("values by point are in the page and in its data", async () => {
  const figure = partOf(loss12, ["0", "10 %"], (name) => name === "SRD" || name === "IRN")
  const evaluated = evaluate([{ figure, claims: [] }], await run(figure), "quick")
  const tally = tallyOf(evaluated)
  expect(claimsPage(evaluated, tally, "quick")).toContain('aria-label="RoCE by its recovery"')
  const { sweep } = claimsJson(evaluated, tally, "quick").figures[0] as unknown as {
    readonly sweep: { readonly points: unknown; readonly pictures: ReadonlyArray<{ readonly systems: unknown }> }
  }
  expect(sweep.points).toEqual(["0", "10 %"])
  const values = [expect.closeTo(0.92, 2), expect.closeTo(0.05, 2)]
  expect(sweep.pictures[0]!.systems).toContainEqual({ system: "IRN", values })
})
