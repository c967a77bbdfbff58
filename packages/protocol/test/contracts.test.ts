import { describe, expect, it } from "vitest"
import { Drop, dropNames, NEVER, TELEMETRY_FIELDS } from "../src/index.ts"

describe("drop reasons", () => {
  it("are negative, distinct, and have names", () => {
    const reasons = Object.values(Drop)
    expect(new Set(reasons).size).toBe(reasons.length)
    expect(Math.max(...reasons)).toBeLessThan(0)
    expect(Object.keys(dropNames).map(Number).sort()).toEqual(reasons.map(Number).sort())
    expect(new Set(Object.values(dropNames)).size).toBe(reasons.length)
  })
})

it("NEVER is later than every moment, and telemetry has four numbers a hop", () => {
  expect(NEVER).toBeGreaterThan(Number.MAX_VALUE)
  expect(TELEMETRY_FIELDS).toBe(4)
})
