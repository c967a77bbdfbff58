import { existsSync, globSync, readFileSync } from "node:fs"
import { basename, dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { roomOf, WORLDS } from "../boundaries/floors.ts"

interface Manifest {
  readonly private?: boolean
  readonly files?: ReadonlyArray<string>
  readonly engines?: { readonly node?: string }
}

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Where the links of a page lead that are no addresses, without the place inside the page. */
const linksOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target.replace(/#.*$/, ""))
    .filter((target) => target !== "" && !/^[a-z]+:/.test(target))

/** The links of one page that lead nowhere; from a published package's README, those that lead out of the tarball. */
const dead = (page: string): ReadonlyArray<string> => {
  const folder = dirname(page)
  const manifest: Manifest = existsSync(join(root, folder, "package.json"))
    ? JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
    : { private: true }
  return linksOf(readFileSync(join(root, page), "utf8")).filter((target) => {
    const path = normalize(target)
    if (!existsSync(join(root, folder, path))) return true
    return manifest.private !== true && manifest.files?.includes(path.split(/[\\/]/)[0] ?? "") !== true
  })
}

test("links lead somewhere, in a published package to what is in its tarball", () => {
  const pages = globSync(["*.md", "docs/**/*.md", "{packages,apps}/*/README.md", "testdata/**/*.md"], { cwd: root })
  expect(pages.length).toBeGreaterThan(40)
  expect(pages.sort().flatMap((page) => dead(page).map((target) => `${page}: ${target}`))).toEqual([])
})

test("a package that has examples publishes them, and its changes", () => {
  const lacking = globSync("{packages,apps}/*/package.json", { cwd: root }).flatMap((path) => {
    const manifest: Manifest = JSON.parse(readFileSync(join(root, path), "utf8"))
    if (manifest.private === true) return []
    const parts = ["CHANGELOG.md", ...(existsSync(join(root, dirname(path), "examples")) ? ["examples"] : [])]
    return parts.filter((part) => manifest.files?.includes(part) !== true).map((part) => `${path}: ${part}`)
  })
  expect(lacking).toEqual([])
})

test("packages are for the Node that the README says, each by its floor", () => {
  const said = /for Node ([\d.]+) or later, all others for Node ([\d.]+) or later/
  const [, upper, lower] = said.exec(readFileSync(join(root, "README.md"), "utf8")) ?? []
  expect([upper, lower]).toEqual([expect.any(String), expect.any(String)])
  const others = globSync("{packages,apps}/*/package.json", { cwd: root }).flatMap((path) => {
    const { engines }: Manifest = JSON.parse(readFileSync(join(root, path), "utf8"))
    const floor = path.startsWith("apps") ? WORLDS : roomOf(basename(dirname(path)))?.floor
    const expected = `>=${floor === undefined || floor >= WORLDS ? upper : lower}`
    return engines?.node === expected ? [] : [`${path}: found ${engines?.node}, expected ${expected}`]
  })
  expect(others).toEqual([])
})
