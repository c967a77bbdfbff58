import { defineConfig } from "vitest/config"

// Packages are tested from their sources: no build comes before a test.
const conditions = ["@rdmakit/source", "module", "node", "import", "default"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["{packages,apps}/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    reporters: ["default", "./scripts/counts.ts"],
    passWithNoTests: true,
  },
})
