/**
 * Measures every published claim at full scale: `node --conditions=@rdmakit/source scripts/nightly/claims.ts [ID…]`.
 * Hours. It writes `claims.full.results` in the working directory and ends with a line of counts: what passes is an order
 * of two systems, what fails is one that comes out reversed and is not explained. The seeds are those of the scenarios.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const out = join(process.cwd(), "claims.full.results")
const command = ["--conditions=@rdmakit/source", join(root, "apps", "cli", "src", "main.ts")]
const args = ["claims", ...process.argv.slice(2), "--full", "--out", out]
const { status } = spawnSync(process.execPath, [...command, ...args], { stdio: "inherit" })
if (status !== 0 && status !== 1) {
  console.error(`claims: rdmakit claims ended with ${status}`)
  process.exit(1)
}
const { tally } = JSON.parse(readFileSync(join(out, "summary.json"), "utf8")) as {
  readonly tally: { readonly pairs: number; readonly reversed: number; readonly notMeasured: number }
}
const failed = tally.reversed + tally.notMeasured
console.log(`${tally.pairs - tally.reversed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
