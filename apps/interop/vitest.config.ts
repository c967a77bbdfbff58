import { defineConfig } from "vitest/config"

const conditions = ["@rdmakit/source", "module", "node", "import", "default"]

/** The suite against Linux: `pnpm interop`, no part of `npm test`. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    root: import.meta.dirname,
    include: ["suite/**/*.test.ts"],
    // One guest serves all files, one after the other.
    pool: "forks",
    maxWorkers: 1,
    fileParallelism: false,
    isolate: false,
    testTimeout: 200_000,
    hookTimeout: 240_000,
    reporters: ["verbose", "../../scripts/counts.ts"],
    sequence: { shuffle: false },
  },
})
