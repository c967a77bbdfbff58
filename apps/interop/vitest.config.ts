import { defineConfig } from "vitest/config"

const conditions = ["@rdmakit/source", "module", "node", "import", "default"]

/** Files that have part in the short form. */
const SHORT = ["boot", "pingpong", "rping", "cases", "loss"].map((name) => `suite/?-${name}.test.ts`)

/** The suite against Linux: `pnpm interop`, no part of `npm test`. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    root: import.meta.dirname,
    include: process.env.RDMAKIT_INTEROP === "short" ? SHORT : ["suite/*.test.ts"],
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
