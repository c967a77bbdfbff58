import { defineConfig } from "vitest/config"

// Packages are tested from their sources: no build comes before a test.
const conditions = ["@rdmakit/source", "module", "node", "import", "default"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["{packages,apps}/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    // Modules hold no state of their own, so files may share a worker: a third less time.
    isolate: false,
    reporters: ["default", "./scripts/counts.ts"],
    passWithNoTests: true,
    // Some tests have to do with the machine's clock, its sockets and its processes: those may try again. `counts.ts`
    // tells which needed to.
    retry: 1,
    // What takes a second on a machine of its own may take many on one that is shared.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
