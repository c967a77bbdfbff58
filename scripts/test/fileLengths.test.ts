import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
/** Lines that a file has at the most. */
const LINES_MAX = 399
const NOT_OURS: ReadonlySet<string> = new Set(["node_modules", "dist", "coverage"])

test("files of code have fewer than 400 lines", () => {
  const files = globSync("{packages,apps,scripts}/**/*.ts", {
    cwd: root,
    exclude: (entry) => NOT_OURS.has(entry.split(/[\\/]/).at(-1) ?? ""),
  })
  expect(files.length).toBeGreaterThan(1000)
  const lines = (path: string): number => readFileSync(join(root, path), "utf8").trimEnd().split("\n").length
  expect(files.filter((path) => lines(path) > LINES_MAX)).toEqual([])
})
