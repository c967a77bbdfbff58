import { spawnSync } from "node:child_process"
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, test } from "vitest"

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
}

const root = fileURLToPath(new URL("../..", import.meta.url))
const manifests = globSync("{packages,apps}/*/package.json", { cwd: root }).sort()
const manifest = (folder: string, path: string): Manifest => JSON.parse(readFileSync(join(folder, path), "utf8"))

/** What a file of `.changeset` says wrongly: its head names packages and how far each goes, then come words for their users. */
const faults = (text: string, published: ReadonlySet<string>): ReadonlyArray<string> => {
  const [, head, words] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? []
  if (head === undefined) return ["has no head between lines of ---"]
  return [
    ...(words?.trim() === "" ? ["says nothing"] : []),
    ...head.split("\n").flatMap((line) => {
      const [, name] = /^["'](.+)["']: (?:patch|minor|major)$/.exec(line) ?? []
      if (name === undefined) return [`"${line}" is no package and how far it goes`]
      return published.has(name) ? [] : [`${name} is no published package: name those that its users have`]
    }),
  ]
}

test("each changeset names published packages", () => {
  const published = new Set(
    manifests
      .map((path) => manifest(root, path))
      .filter((each) => each.private !== true)
      .map(({ name }) => name),
  )
  const files = globSync(".changeset/*.md", { cwd: root }).filter((path) => basename(path) !== "README.md")
  expect(
    files.flatMap((path) =>
      faults(readFileSync(join(root, path), "utf8"), published).map((what) => `${path}: ${what}`),
    ),
  ).toEqual([])
})

test("a changeset that names what is not published is found", () => {
  const published = new Set(["@rdmakit/cli"])
  expect(faults('---\n"@rdmakit/cli": minor\n---\n\nMore.\n', published)).toEqual([])
  expect(faults('---\n"@rdmakit/cli": minor\n"@rdmakit/harness": minor\n---\n\nMore.\n', published)).toEqual([
    expect.stringContaining("@rdmakit/harness is no published package"),
  ])
  expect(faults('---\n"@rdmakit/cli": more\n---\n\n', published)).toHaveLength(2)
  expect(faults("More.\n", published)).toHaveLength(1)
})

const copy = mkdtempSync(join(tmpdir(), "changesets-"))
afterAll(() => rmSync(copy, { recursive: true }))

const version = (): ReadonlyMap<string, string> => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, "node_modules", "@changesets", "cli", "bin.js"), "version"],
    { cwd: copy, encoding: "utf8" },
  )
  expect(status, stdout + stderr).toBe(0)
  return new Map(manifests.map((path) => manifest(copy, path)).map((each) => [each.name, each.version]))
}

test("the changesets make versions; a patch concerns its own package alone", () => {
  for (const path of [...manifests, "package.json", "pnpm-workspace.yaml", ".changeset"]) {
    cpSync(join(root, path), join(copy, path), { recursive: true })
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"), "junction")
  const mend = (): void =>
    writeFileSync(join(copy, ".changeset", "mended.md"), '---\n"@rdmakit/units": patch\n---\n\nMended.\n')
  // Whether or not others wait, one does: without any the command refuses.
  mend()
  const before = version()
  mend()
  const moved = [...version()].filter(([name, after]) => before.get(name) !== after)
  expect(moved.map(([name]) => name)).toEqual(["@rdmakit/units"])
})
