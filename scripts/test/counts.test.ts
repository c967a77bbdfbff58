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
      allTests: () =>
        states.map((state, index) => ({
          fullName: `suite > test ${index}`,
          result: () => ({ state: state === "flaky" ? "passed" : state }),
          diagnostic: () => ({ flaky: state === "flaky" }),
        })),
      allSuites: () => [{ fullName: "suite", errors: failures(errors.hook) }],
    },
    relativeModuleId: "some.test.ts",
    errors: failures(errors.file),
  } as unknown as TestModule
}

const linesOf = (
  modules: ReadonlyArray<TestModule>,
  unhandled: ReadonlyArray<unknown> = [],
): ReadonlyArray<unknown> => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {})
  new Counts().onTestRunEnd(modules, unhandled)
  return log.mock.calls.map(([line]) => line)
}
const lineOf = (...run: Parameters<typeof linesOf>): unknown => linesOf(...run).at(-1)

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

test("what failed, and what passed at the second try, is told by name", () => {
  expect(linesOf([moduleOf(["flaky", "failed", "passed"], { file: 1, hook: 1 })], [new Error("stray")])).toEqual([
    "flaky: some.test.ts > suite > test 0",
    "failed: an error outside of tests: Error: stray",
    "failed: some.test.ts > suite > test 1",
    "failed: some.test.ts",
    "failed: some.test.ts > suite",
    "2 passed, 4 failed",
  ])
})
