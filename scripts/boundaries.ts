// The boundary check: `node scripts/boundaries.ts [root]`. It prints each violation and fails when there is one.
import { fileURLToPath } from "node:url"
import { check } from "./boundaries/rules.ts"
import { readWorkspace } from "./boundaries/workspace.ts"

const packages = readWorkspace(process.argv[2] ?? fileURLToPath(new URL("..", import.meta.url)))
const violations = check(packages)

for (const { where, what } of violations) console.error(`${where}  ${what}`)
if (violations.length > 0) {
  console.error(`\nboundaries: ${violations.length} violations. The floors are drawn in ARCHITECTURE.md.`)
  process.exitCode = 1
} else {
  console.log(`boundaries: ${packages.length} packages keep to their floors`)
}
