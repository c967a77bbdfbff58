// Checks what would be published: each built package is packed, and the tarball, not the folder, is examined.
// Run it after `pnpm build`, as `pnpm check:packages`. It ends with the line `N passed, N failed`, one check a package, and
// one for the declarations of all of them together.
import { spawn } from "node:child_process"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { packageOf } from "./boundaries/dependencies.ts"
import { mayDeclare } from "./boundaries/floors.ts"
import { readSource } from "./boundaries/source.ts"

/** The oldest compiler that the README promises, from the registry: beside ours in the workspace, each would be `tsc`. */
const LEAST_TYPESCRIPT = "5.7.3"

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports?: Readonly<Record<string, { readonly default: string; readonly types?: string }>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

interface Package {
  readonly folder: string
  readonly manifest: Manifest
}

interface Outcome {
  readonly ok: boolean
  readonly output: string
}

const root = fileURLToPath(new URL("..", import.meta.url))

const packages: Array<Package> = []
for (const group of ["packages", "apps"]) {
  for (const name of (await readdir(join(root, group))).sort()) {
    const folder = join(root, group, name)
    const text = await readFile(join(folder, "package.json"), "utf8").catch(() => undefined)
    const manifest = text === undefined ? undefined : (JSON.parse(text) as Manifest)
    if (manifest !== undefined && manifest.private !== true) packages.push({ folder, manifest })
  }
}

const run = (program: string, args: ReadonlyArray<string>): Promise<Outcome> =>
  new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    const append = (chunk: Buffer): void => {
      output += chunk.toString()
    }
    child.stdout.on("data", append)
    child.stderr.on("data", append)
    child.on("error", (error) => resolve({ ok: false, output: `${program}: ${error.message}` }))
    child.on("close", (code) => resolve({ ok: code === 0, output }))
  })

/** Loads each entry as a user's Node would: built files, no source condition. */
const load = async ({ folder, manifest }: Package): Promise<Outcome> => {
  // The suites register tests as they load, which only a test runner allows.
  if (manifest.peerDependencies?.vitest !== undefined) return { ok: true, output: "" }
  const urls = Object.values(manifest.exports ?? {}).map((entry) => pathToFileURL(join(folder, entry.default)).href)
  const script = urls.map((url) => `await import(${JSON.stringify(url)})`).join("\n")
  return run(process.execPath, ["--input-type=module", "--eval", script])
}

/**
 * What is built names nothing that its user would not have: emitted declarations name packages that no source imports, which
 * the boundary check cannot see. A bundled program names none at all.
 */
const named = async ({ folder, manifest }: Package): Promise<Outcome> => {
  const said = new Map<string, string>()
  for (const path of await readdir(join(folder, "dist"), { recursive: true })) {
    if (!/\.(?:js|d\.ts)$/.test(path)) continue
    for (const { specifier } of readSource(path, await readFile(join(folder, "dist", path), "utf8")).imports) {
      const name = packageOf(specifier)
      if (name !== undefined && name !== manifest.name) said.set(name, path)
    }
  }
  const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  const short = (name: string): string => name.replace("@rdmakit/", "")
  const wrong = [
    ...[...said].filter(([name]) => !declared.includes(name)).map(([name, path]) => `dist/${path} names ${name}`),
    ...declared
      .filter((name) => mayDeclare(short(manifest.name), short(name)) && !said.has(name))
      .map((name) => `no declaration names ${name}: take it from package.json and from scripts/boundaries/floors.ts`),
  ]
  return { ok: wrong.length === 0, output: wrong.join("\n") }
}

const examine = async (each: Package, tarballs: string): Promise<Outcome> => {
  const { name, version, exports } = each.manifest
  const tarball = join(tarballs, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`)
  const checks = [() => named(each), () => run("publint", ["run", "--strict", tarball])]
  // A program without exports has no types to resolve and nothing to import.
  if (exports !== undefined) {
    checks.push(
      () => run("attw", ["--profile", "esm-only", "--no-emoji", tarball]),
      () => load(each),
    )
  }
  for (const check of checks) {
    const outcome = await check()
    if (!outcome.ok) return outcome
  }
  return { ok: true, output: "" }
}

/** The declarations as the oldest compiler reads them, those that they name checked as well. */
const readByLeast = async (scratch: string): Promise<Outcome> => {
  const files = packages.flatMap(({ folder, manifest }) =>
    Object.values(manifest.exports ?? {}).flatMap(({ types }) => (types === undefined ? [] : [join(folder, types)])),
  )
  const compilerOptions = {
    module: "nodenext",
    lib: ["es2023", "dom"],
    types: ["node"],
    typeRoots: [join(root, "node_modules", "@types")],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
  }
  const config = join(scratch, "tsconfig.json")
  await writeFile(config, JSON.stringify({ compilerOptions, files }))
  return run("npx", ["-y", "-p", `typescript@${LEAST_TYPESCRIPT}`, "tsc", "-p", config])
}

const tarballs = await mkdtemp(join(tmpdir(), "rdmakit-packages-"))
let passed = 0
try {
  const filters = packages.flatMap(({ manifest }) => ["--filter", manifest.name])
  const packed = await run("pnpm", [...filters, "pack", "--pack-destination", tarballs])
  if (!packed.ok) console.error(packed.output)
  const queue = packed.ok ? [...packages] : []
  const worker = async (): Promise<void> => {
    for (let each = queue.shift(); each !== undefined; each = queue.shift()) {
      const { ok, output } = await examine(each, tarballs)
      if (ok) passed += 1
      else console.error(`\n${each.manifest.name}\n${output}`)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  const declarations = await readByLeast(tarballs)
  if (declarations.ok) passed += 1
  else console.error(`\nTypeScript ${LEAST_TYPESCRIPT}\n${declarations.output}`)
} finally {
  await rm(tarballs, { recursive: true })
}

const checks = packages.length + 1
console.log(`${passed} passed, ${checks - passed} failed`)
process.exitCode = passed === checks ? 0 : 1
