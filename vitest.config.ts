import { defineConfig } from "vitest/config"

// Packages are tested from their sources: no build comes before a test.
const conditions = ["@rdmakit/source", "module", "node", "import", "default"]

const tests = ["{packages,apps}/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"]
/** What these try has to do with the machine's clock, its sockets and its processes. */
const timed = ["packages/{softnic,perftest,verbs}/test/**/*.test.ts", "apps/cli/test/**/*.test.ts"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      { extends: true, test: { name: "pure", include: tests, exclude: timed } },
      // Those may try again: `scripts/counts.ts` tells which needed to.
      { extends: true, test: { name: "timed", include: timed, retry: 1 } },
    ],
    // Modules hold no state of their own, so files may share a worker: a third less time.
    isolate: false,
    reporters: ["default", "./scripts/counts.ts"],
    passWithNoTests: true,
    // What takes a second on a machine of its own may take many on one that is shared.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
