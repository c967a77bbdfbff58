import { afterEach, expect, test, vi } from "vitest"
import type { TestModule } from "vitest/node"
import Counts from "../counts.ts"

afterEach(() => vi.restoreAllMocks())

/** As much of a test module as the reporter reads. */
const moduleOf = (states: ReadonlyArray<string>, errors: { file?: number; hook?: number } = {}): TestModule => {
  const failures =
    (count = 0) =>
    () =>
      Array.from({ length: count }, () => new Error("failed"))
  return {
    children: {
      allTests: () => states.map((state) => ({ result: () => ({ state }) })),
      allSuites: () => [{ errors: failures(errors.hook) }],
    },
    errors: failures(errors.file),
  } as unknown as TestModule
}

const lineOf = (modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<unknown> = []): unknown => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {})
  new Counts().onTestRunEnd(modules, unhandled)
  return log.mock.lastCall?.[0]
}

test("totals every file", () => {
  expect(lineOf([moduleOf(["passed", "passed"]), moduleOf(["passed", "failed"])])).toBe("3 passed, 1 failed")
})

test("skipped tests are named only when there are any", () => {
  expect(lineOf([moduleOf(["passed", "skipped"])])).toBe("1 passed, 0 failed, 1 skipped")
})

test("what fails outside a test is a failure: a file, a hook, a stray rejection, a test that never ended", () => {
  expect(lineOf([moduleOf([], { file: 1 })])).toBe("0 passed, 1 failed")
  expect(lineOf([moduleOf(["passed"], { hook: 2 })])).toBe("1 passed, 1 failed")
  expect(lineOf([moduleOf(["passed"])], [new Error("stray")])).toBe("1 passed, 1 failed")
  expect(lineOf([moduleOf(["pending"])])).toBe("0 passed, 1 failed")
})
