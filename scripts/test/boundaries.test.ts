import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, test } from "vitest"
import { mayImport, roomOf } from "../boundaries/floors.ts"
import { check, type Manifest, type Package } from "../boundaries/rules.ts"

/** A package whose every import is declared, so that a test sees one rule at a time. */
const pkg = (folder: string, files: Record<string, string>, more: Partial<Manifest> = {}): Package => ({
  folder,
  manifest: {
    name: `@rdmakit/${folder.split("/")[1]}`,
    exports: { ".": {}, "./layer": {}, "./node": {} },
    ...more,
  },
  files: new Map(Object.entries(files)),
})

const floor0 = ["units", "packet", "wire", "pcap"].map((name) => pkg(`packages/${name}`, {}))
const others = ["protocol", "sim", "switch", "fabric", "conformance"].map((name) => pkg(`packages/${name}`, {}))

/** What the check says of one package that stands among the others. */
const saidOf = (each: Package): ReadonlyArray<string> =>
  check([...[...floor0, ...others].filter((other) => other.folder !== each.folder), each]).map(
    ({ where, what }) => `${where} ${what}`,
  )

const depends = (...names: ReadonlyArray<string>): Partial<Manifest> => ({
  dependencies: Object.fromEntries(names.map((name) => [name, "workspace:^"])),
})

const development = (...names: ReadonlyArray<string>): Partial<Manifest> => ({
  devDependencies: Object.fromEntries(names.map((name) => [name, "workspace:^"])),
})

/** Declares what a file of this path imports where it belongs. */
const declaring = (folder: string, path: string, names: ReadonlyArray<string>): Partial<Manifest> => {
  const ours = depends(...names.filter((name) => name.startsWith("@rdmakit/"))).dependencies ?? {}
  if (!path.startsWith("src/")) return { devDependencies: ours }
  if (!names.includes("effect")) return { dependencies: ours }
  const optional = folder === "packages/sim"
  const peers = { peerDependencies: { effect: "^4.1.0" }, peerDependenciesMeta: { effect: { optional } } }
  return { dependencies: ours, ...peers }
}

describe("the floors", () => {
  test("imports go downward", () => {
    expect(mayImport("packet", "units")).toBe(true)
    expect(mayImport("units", "packet")).toBe(false)
    expect(mayImport("protocol", "packet")).toBe(true)
    expect(mayImport("packet", "protocol")).toBe(false)
    expect(mayImport("fabric", "cc-anything")).toBe(true)
    expect(mayImport("cc-anything", "fabric")).toBe(false)
  })

  test("rooms on one floor never import each other, except where a row says so", () => {
    expect(mayImport("sim", "switch")).toBe(false)
    expect(mayImport("wire", "units")).toBe(false)
    expect(mayImport("scenario", "ulp")).toBe(false)
    expect(mayImport("transport-erdma", "transport-tcp")).toBe(true)
    expect(mayImport("transport-tcp", "transport-erdma")).toBe(false)
  })

  test("a controller needs no row; any other new package does", () => {
    expect(roomOf("cc-new")?.floor).toBe(2)
    expect(roomOf("helpers")).toBeUndefined()
    expect(saidOf(pkg("packages/helpers", {}))).toEqual([expect.stringContaining("has no floor")])
  })
})

describe("a violation is found", () => {
  test.each([
    ['import { x } from "@rdmakit/switch"', "may not import @rdmakit/switch"],
    ['import type { X } from "@rdmakit/switch"', "may not import @rdmakit/switch"],
    ['export * from "@rdmakit/switch"', "may not import @rdmakit/switch"],
    ['export const x = () => import("@rdmakit/switch")', "may not import @rdmakit/switch"],
    ['export type X = import("@rdmakit/switch").X', "may not import @rdmakit/switch"],
    ['import "@rdmakit/units/src/index.ts"', "does not export ./src/index.ts"],
    ['import "../../units/src/index.ts"', "leaves the package"],
    ['import "@rdmakit/nowhere"', "is no package of this workspace"],
    ['import "@rdmakit/conformance"', "may not import @rdmakit/conformance"],
    ['import { Effect } from "effect"', "only src/layer.ts imports it"],
    ['import "effect/cli"', "only src/layer.ts imports it"],
    ['import "@rdmakit/protocol/layer"', "only src/layer.ts imports it"],
    ['import "./layer.ts"', "nothing else in src imports it"],
    ['import "node:fs"', "any platform"],
    ['import "./node.ts"', "node.ts is for Node alone"],
    ['import "@rdmakit/units/node"', "@rdmakit/units/node is for Node alone"],
    ["export const x = (name: string) => import(name)", "cannot be checked"],
    ["export const x = Math.random()", "Math.random"],
    ['export const x = Math["random"]()', "Math.random"],
    ["const { random } = Math\nexport { random }", "Math.random"],
    ["export const x = Date.now()", "Date.now"],
    ["export const x = globalThis.Date.now()", "Date.now"],
    ["export const x = new Date()", "new Date"],
    ["export const x = performance.now()", "performance.now"],
    ["export const x = crypto.randomUUID()", "crypto.randomUUID"],
    ["setTimeout(() => {}, 1)", "setTimeout"],
    ["export const x = Math.log2(8)", "differs between engines"],
    ["export const = 1", "does not parse"],
  ])("%s", (text, message) => {
    const names = [...text.matchAll(/"(@rdmakit\/[a-z]+|effect)/g)].map((match) => match[1] ?? "")
    const sim = pkg("packages/sim", { "src/index.ts": `\n${text}\n` })
    const manifest = { ...sim.manifest, peerDependencies: depends(...names).dependencies ?? {} }
    const said = saidOf({ ...sim, manifest }).filter((line) => line.startsWith("packages/sim/src/index.ts:"))
    expect(said).toEqual([expect.stringContaining(message)])
    expect(said[0]).toMatch(/index\.ts:[12]/)
  })

  test("an import that package.json does not declare", () => {
    expect(saidOf(pkg("packages/sim", { "src/a.ts": 'import "@rdmakit/units"' }))).toEqual([
      "packages/sim/src/a.ts:1 @rdmakit/units is not among the dependencies of @rdmakit/sim",
    ])
  })

  test("a dependency that no file imports yet", () => {
    expect(saidOf(pkg("packages/sim", {}, depends("@rdmakit/fabric")))).toEqual([
      "packages/sim/package.json @rdmakit/sim may not depend on @rdmakit/fabric",
      "packages/sim/package.json @rdmakit/fabric is among the dependencies, but nothing imports it",
    ])
  })

  test("a test that reaches for another room", () => {
    expect(saidOf(pkg("packages/sim", { "test/a.test.ts": 'import "@rdmakit/switch"' }))).toEqual([
      expect.stringContaining("may not import @rdmakit/switch"),
      "packages/sim/test/a.test.ts:1 @rdmakit/switch is not among what @rdmakit/sim declares",
    ])
  })
})

describe("what package.json says that no file bears out is found", () => {
  const units = 'import "@rdmakit/units"'
  const layer = { "src/layer.ts": 'import "effect"' }
  const peer = { peerDependencies: { effect: "^4.1.0" } }
  test.each<[string, Package, string]>([
    ["unused", pkg("packages/sim", {}, depends("@rdmakit/units")), "nothing imports it"],
    [
      "used by tests alone",
      pkg("packages/sim", { "test/a.test.ts": units }, depends("@rdmakit/units")),
      "only tests and examples import it",
    ],
    [
      "used by examples alone",
      pkg("packages/sim", { "examples/a.ts": units }, depends("@rdmakit/units")),
      "only tests and examples import it",
    ],
    ["an unused peer", pkg("packages/fabric", {}, peer), "effect is among the dependencies, but nothing imports it"],
    [
      "used by a test, not declared",
      pkg("packages/sim", { "test/a.ts": units }),
      "not among what @rdmakit/sim declares",
    ],
    [
      "for development, unused",
      pkg("packages/sim", {}, { devDependencies: { "@rdmakit/units": "workspace:^", fast: "1.0.0" } }),
      "nothing imports it",
    ],
    [
      "an exact version",
      pkg("packages/sim", { "src/a.ts": units }, { dependencies: { "@rdmakit/units": "workspace:*" } }),
      'write "workspace:^"',
    ],
    [
      "an exact version of a peer",
      pkg("packages/sim", { "src/a.ts": units }, { peerDependencies: { "@rdmakit/units": "workspace:*" } }),
      'write "workspace:^"',
    ],
    [
      "an exact version of a peer that is one for development too",
      pkg(
        "packages/sim",
        { "src/a.ts": units },
        { peerDependencies: { "@rdmakit/units": "1.0.0" }, ...development("@rdmakit/units") },
      ),
      'write "workspace:^"',
    ],
    [
      "types of what nothing imports",
      pkg("packages/sim", { "src/a.ts": "" }, development("@types/node", "@types/a", "@types/a__b")),
      "nothing imports it",
    ],
    [
      "types of another scope",
      pkg("packages/sim", { "test/a.ts": 'import "@a/c"\nimport "b"' }, development("@types/a__b")),
      "nothing imports it",
    ],
    ["an Effect of its own", pkg("packages/fabric", layer, { dependencies: { effect: "catalog:" } }), "make it a peer"],
    [
      "an Effect that may be missing",
      pkg("packages/fabric", layer, { ...peer, peerDependenciesMeta: { effect: { optional: true } } }),
      "a required peer",
    ],
    ["an Effect that layer.ts alone needs", pkg("packages/sim", layer, peer), "an optional peer"],
  ])("%s", (_, each, message) => {
    const said = saidOf(each)
    expect(said).not.toEqual([])
    for (const line of said) expect(line).toContain(message)
  })

  test("peers of two ranges", () => {
    const of = (name: string, range: string): Package =>
      pkg(`packages/${name}`, layer, { peerDependencies: { effect: range } })
    expect(check([of("fabric", "^4.1.0"), of("softnic", "^4.2.0")])).toEqual([
      { where: "packages/softnic/package.json", what: "the peer effect is ^4.2.0, elsewhere ^4.1.0" },
    ])
  })

  test("what declarations alone name is no import", () => {
    const perftest = pkg("packages/perftest", {}, depends("@rdmakit/device"))
    expect(saidOf(perftest)).toEqual([])
    const importing = { ...perftest, files: new Map([["src/a.ts", 'import "@rdmakit/device"']]) }
    expect(check([...floor0, pkg("packages/device", {}), importing]).map(({ what }) => what)).toEqual([
      "@rdmakit/perftest may not import @rdmakit/device: imports go downward only",
    ])
  })
})

describe("what is allowed passes", () => {
  test.each([
    ["packages/sim", "src/index.ts", 'import type { Time } from "@rdmakit/units"'],
    ["packages/sim", "src/layer.ts", 'import { Layer } from "effect"\nimport "@rdmakit/protocol/layer"'],
    ["packages/sim", "src/index.ts", "export const x = Math.floor(Math.sqrt(2)) // Math.random, Date.now()"],
    ["packages/sim", "src/index.ts", 'export const x = "import \\"@rdmakit/switch\\""'],
    ["packages/sim", "test/a.test.ts", 'import "@rdmakit/conformance"\nimport "node:fs"\nimport "fast-check"'],
    ["packages/wire", "test/a.test.ts", 'import "@rdmakit/pcap"'],
    ["packages/pcap", "src/node.ts", 'import "node:fs"\nimport "./index.ts"'],
    ["packages/analysis", "src/node.ts", 'import "@rdmakit/pcap/node"'],
    ["packages/fabric", "src/index.ts", 'import { Effect } from "effect"\nimport "@rdmakit/sim"\nDate.now()'],
    ["apps/tool", "src/main.ts", 'import "@rdmakit/fabric"\nimport "@rdmakit/units"\nimport "node:fs"'],
  ])("%s %s %s", (folder, path, text) => {
    const names = [...text.matchAll(/import[^"\\\n]*"((?:@rdmakit\/)?[a-z]+)/g)].map((match) => match[1] ?? "")
    expect(saidOf(pkg(folder, { [path]: text }, declaring(folder, path, names)))).toEqual([])
  })
})

describe("types are used where that is imported which they are of", () => {
  test.each([
    ["@types/node", "src/node.ts", 'import "node:fs"'],
    ["@types/node", "test/a.ts", 'import { readFileSync } from "node:fs"'],
    ["@types/a", "test/a.ts", 'import "a/b"'],
    ["@types/a__b", "test/a.ts", 'import "@a/b/c"'],
    ["@types/a__b_c", "test/a.ts", 'import "@a/b_c"'],
  ])("%s %s %s", (types, path, text) => {
    expect(saidOf(pkg("packages/pcap", { [path]: text }, development(types)))).toEqual([])
  })
})

describe("the command", () => {
  const root = mkdtempSync(join(tmpdir(), "boundaries-"))
  afterAll(() => rmSync(root, { recursive: true }))
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const run = () =>
    spawnSync(process.execPath, [fileURLToPath(new URL("../boundaries.ts", import.meta.url)), root], {
      encoding: "utf8",
    })

  test("fails on a violation and passes once it is gone", () => {
    write("packages/units/package.json", '{"name": "@rdmakit/units"}')
    write("packages/units/src/deep/Clock.ts", "export const now = () => Date.now()\n")
    const failed = run()
    expect(failed.stderr).toContain("packages/units/src/deep/Clock.ts:1  Date.now")
    expect(failed.status).toBe(1)
    write("packages/units/src/deep/Clock.ts", "export const now = 0\n")
    const passed = run()
    expect(passed.status).toBe(0)
    expect(passed.stdout).toContain("1 packages keep to their floors")
  })
})
