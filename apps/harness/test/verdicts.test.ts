import { describe, expect, test } from "vitest"
import type { Claim } from "../src/Claim.ts"
import { evaluate, tallyOf } from "../src/Evaluation.ts"
import { type Measured, noRun } from "../src/Measured.ts"
import { orderOf, verdictOf } from "../src/Verdict.ts"

const base: Claim = {
  id: "x",
  what: "something",
  metric: { kind: "slowdown", at: 0.95 },
  unit: "",
  mark: "read",
  published: {},
}

describe("a verdict", () => {
  test("takes 10 % of a number that was read, both ways and no more", () => {
    const of = (measured: number) => verdictOf({ ...base, mark: "read" }, 100, measured)
    expect([90, 110].map(of)).toEqual(["within", "within"])
    expect([89.9, 110.1].map(of)).toEqual(["outside", "outside"])
  })

  test("takes 25 % of a digitised one", () => {
    const of = (measured: number) => verdictOf({ ...base, mark: "digitised" }, 2, measured)
    expect([1.5, 2.5].map(of)).toEqual(["within", "within"])
    expect([1.49, 2.51].map(of)).toEqual(["outside", "outside"])
  })

  test("widens bounds by the tolerance of their mark", () => {
    const of = (measured: number) => verdictOf({ ...base, mark: "digitised" }, { atLeast: 80, atMost: 100 }, measured)
    expect([60, 90, 125].map(of)).toEqual(["within", "within", "within"])
    expect([59, 126].map(of)).toEqual(["outside", "outside"])
    expect(verdictOf(base, { atLeast: 10 }, 1e9)).toBe("within")
    expect(verdictOf(base, { atMost: 10 }, 11.1)).toBe("outside")
  })

  test("of a bar of ours is met or missed, without tolerance", () => {
    const of = (measured: number) => verdictOf({ ...base, mark: "bar" }, { atLeast: 0.9 }, measured)
    expect([0.9, 1, 0.8999].map(of)).toEqual(["met", "met", "missed"])
  })

  test("takes nothing but 0 for a published 0", () => {
    expect(verdictOf(base, 0, 0)).toBe("within")
    expect(verdictOf(base, 0, 1e-9)).toBe("outside")
  })

  test("counts no number that is remembered, calibrated or not there", () => {
    expect(verdictOf({ ...base, mark: "remembered" }, 1, 1)).toBe("shape only")
    expect(verdictOf({ ...base, calibrated: "set to this" }, 1, 1)).toBe("calibrated")
    expect(verdictOf(base, 1, Number.NaN)).toBe("not measured")
  })
})

describe("an order", () => {
  const claim: Claim = { ...base, mark: "digitised", published: { a: 1, b: 1.2, c: 4 } }

  test("is of systems that lie further apart than the tolerance", () => {
    // 1 and 1.2 are one number to a digitiser; c is above both.
    expect(orderOf(claim, { a: 3, b: 2, c: 5 }, "quick", undefined)).toEqual({
      pairs: 2,
      reversals: [],
      notShown: [],
    })
  })

  test("has a reversal for each pair the wrong way round, ties included", () => {
    const { reversals } = orderOf(claim, { a: 5, b: 6, c: 5 }, "quick", 0.33)
    expect(reversals.map(({ lower, higher }) => [lower, higher])).toEqual([
      ["a", "c"],
      ["b", "c"],
    ])
  })

  test("follows words where there are no numbers", () => {
    const words: Claim = { ...base, order: [["a", "b", "c"]] }
    expect(orderOf(words, { a: 1, b: 2, c: 3 }, "quick", undefined).pairs).toBe(3)
    expect(orderOf(words, { a: 1, b: 3, c: 2 }, "quick", 0.12).reversals).toEqual([
      { lower: "b", higher: "c", reason: undefined },
    ])
  })

  test("is not shown by a difference that is no more than the noise", () => {
    const words: Claim = { ...base, order: [["a", "b"]] }
    const of = (b: number, noise: number | undefined) => orderOf(words, { a: 100, b }, "quick", noise)
    expect(of(112, 0.12)).toEqual({ pairs: 0, reversals: [], notShown: [["a", "b"]] })
    expect(of(113, 0.12)).toEqual({ pairs: 1, reversals: [], notShown: [] })
    expect(of(101, undefined)).toEqual({ pairs: 1, reversals: [], notShown: [] })
    // In the wrong order it is wrong, noise or not.
    expect(of(99, 0.12)).toMatchObject({ pairs: 1, reversals: [{ lower: "a", higher: "b" }], notShown: [] })
  })

  test("knows its exceptions, at the scale that they are of", () => {
    const exceptions = [{ systems: ["a", "c"], scale: "quick", reason: "too short" }] as const
    const reasons = (scale: "quick" | "full") =>
      orderOf({ ...claim, exceptions }, { a: 5, b: 1, c: 4 }, scale, undefined).reversals.map(({ reason }) => reason)
    expect(reasons("quick")).toEqual(["too short"])
    expect(reasons("full")).toEqual([undefined])
  })

  test("leaves out systems that were not run", () => {
    expect(orderOf(claim, { a: 1 }, "quick", undefined).pairs).toBe(0)
  })
})

describe("an evaluation", () => {
  const run = (system: string, value: number): Measured => ({
    figure: "f",
    system,
    values: { x: value, y: value },
    curves: [],
    ...noRun,
    flowsTotal: 1,
    flowsFinished: 1,
  })
  const reduction: Claim = {
    ...base,
    id: "y",
    published: { a: 0.75 },
    against: { system: "b", as: "reduction" },
    reasons: { all: { quick: "too short" } },
  }
  const claims = [{ ...base, published: { a: 1, b: 4 } }, reduction]
  const figure = {
    ...{ id: "f", title: "", source: "", section: "", about: "", scenario: {}, pictures: [], claims },
    extents: { quick: { scenario: {} }, full: { scenario: {} } },
    systems: ["a", "b"].map((name) => ({ name, scenario: {} })),
  }

  test("sets numbers against another system's, and counts", () => {
    const evaluated = evaluate([{ figure, claims }], [run("a", 1), run("b", 4)], "quick")
    expect(evaluated[0]!.claims[1]!.rows).toEqual([
      { system: "a", published: 0.75, measured: 0.75, verdict: "within", reason: undefined },
    ])
    expect(tallyOf(evaluated)).toMatchObject({ numbers: 3, within: 3, outside: 0, pairs: 1, reversed: 0 })
  })

  test("counts an order below the noise of its metric as not shown", () => {
    const words: Claim = { ...base, order: [["a", "b"]] }
    const tally = (b: number) => tallyOf(evaluate([{ figure, claims: [words] }], [run("a", 1), run("b", b)], "quick"))
    // Slowdown, p95: 12 %.
    expect(tally(1.1)).toMatchObject({ pairs: 0, notShown: 1, reversed: 0 })
    expect(tally(1.2)).toMatchObject({ pairs: 1, notShown: 0, reversed: 0 })
  })

  test("gives the reason of what is outside", () => {
    const evaluated = evaluate([{ figure, claims }], [run("a", 4), run("b", 4)], "quick")
    expect(evaluated[0]!.claims[1]!.rows[0]).toMatchObject({ measured: 0, verdict: "outside", reason: "too short" })
    expect(tallyOf(evaluated)).toMatchObject({ within: 1, outside: 2, reversed: 1 })
  })
})
