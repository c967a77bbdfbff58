import type { Reporter, TestModule } from "vitest/node"

/** Ends a test run with a line `failed: FILE > TEST` for each failure, `flaky: …` for what passed at the second try only, and one that machines read: `N passed, N failed`, with `, N skipped` when any was. */
export default class Counts implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    const flaky: Array<string> = []
    const failures: Array<string> = unhandledErrors.map((error) => `an error outside of tests: ${String(error)}`)
    for (const module of modules) {
      const file = module.relativeModuleId
      for (const test of module.children.allTests()) {
        counts[test.result().state] += 1
        if (test.result().state === "failed") failures.push(`${file} > ${test.fullName}`)
        else if (test.diagnostic()?.flaky) flaky.push(`${file} > ${test.fullName}`)
      }
      // A file that throws while it loads, and a hook that throws, fail no test of their own.
      if (module.errors().length > 0) {
        counts.failed += 1
        failures.push(file)
      }
      for (const suite of module.children.allSuites()) {
        if (suite.errors().length === 0) continue
        counts.failed += 1
        failures.push(`${file} > ${suite.fullName}`)
      }
    }
    for (const test of flaky) console.log(`flaky: ${test}`)
    for (const failure of failures) console.log(`failed: ${failure}`)
    const failed = counts.failed + counts.pending
    console.log(`${counts.passed} passed, ${failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ""}`)
  }
}
