import type { Reporter, TestModule } from "vitest/node"

/** Ends a test run with one line that machines read: `N passed, N failed`, with `, N skipped` when any was. */
export default class Counts implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1
      // A file that throws while it loads, and a hook that throws, fail no test of their own.
      if (module.errors().length > 0) counts.failed += 1
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1
    }
    const failed = counts.failed + counts.pending
    console.log(`${counts.passed} passed, ${failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ""}`)
  }
}
