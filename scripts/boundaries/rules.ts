import { posix } from "node:path"
import { checkDependencies, checkPeerRanges } from "./dependencies.ts"
import { EFFECT_OPTIONAL, mayDeclare, mayImport, mayTestWith, roomOf, WORLDS } from "./floors.ts"
import { type Import, readSource, type Source } from "./source.ts"

/** One package of the workspace, its files keyed by path relative to its folder (`src/index.ts`). */
export interface Package {
  /** The folder, `packages/units` or `apps/cli`. */
  readonly folder: string
  readonly manifest: Manifest
  readonly files: ReadonlyMap<string, string>
}

export interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export interface Violation {
  /** `packages/units/src/index.ts:3`, or the manifest. */
  readonly where: string
  readonly what: string
}

const SCOPE = "@rdmakit/"
const LAYER = "src/layer.ts"
/** The one source below the worlds that may import Node's modules: files and streams, the subpath `./node`. */
const NODE_FACE = "src/node.ts"

/** The package a bare specifier names, with the subpath behind it: `@a/b/c` is `@a/b` and `./c`. */
const split = (specifier: string): readonly [string, string] => {
  const depth = specifier.startsWith("@") ? 2 : 1
  const parts = specifier.split("/")
  const rest = parts.slice(depth)
  return [parts.slice(0, depth).join("/"), rest.length === 0 ? "." : `./${rest.join("/")}`]
}

const isEffect = (name: string): boolean => name === "effect" || name.startsWith("@effect/")

/** Checks every package against the house; the order of the answer is that of the input. */
export const check = (packages: ReadonlyArray<Package>): ReadonlyArray<Violation> => {
  const byName = new Map(packages.map((each) => [each.manifest.name, each]))
  const violations = packages.flatMap((each) => {
    const sources = new Map([...each.files].map(([path, text]) => [path, readSource(path, text)]))
    return [...checkManifest(each), ...checkFiles(each, sources, byName), ...checkDependencies(each, sources)]
  })
  return [...violations, ...checkPeerRanges(packages)]
}

const isApplication = (each: Package): boolean => each.folder.startsWith("apps/")
const shortName = (name: string): string => name.slice(SCOPE.length)

const checkManifest = (each: Package): ReadonlyArray<Violation> => {
  const where = `${each.folder}/package.json`
  const { name, dependencies, peerDependencies } = each.manifest
  if (!name.startsWith(SCOPE)) return [{ where, what: `the name "${name}" is outside the scope ${SCOPE}` }]
  if (isApplication(each)) return []
  if (roomOf(shortName(name)) === undefined) {
    return [{ where, what: `${name} has no floor: give it a row in scripts/boundaries/floors.ts` }]
  }
  return Object.keys({ ...dependencies, ...peerDependencies })
    .filter((target) => target.startsWith(SCOPE))
    .filter((target) => !mayImport(shortName(name), shortName(target)))
    .filter((target) => !mayDeclare(shortName(name), shortName(target)))
    .map((target) => ({ where, what: `${name} may not depend on ${target}` }))
}

const checkFiles = (
  each: Package,
  sources: ReadonlyMap<string, Source>,
  byName: ReadonlyMap<string, Package>,
): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  for (const [path, file] of sources) {
    const report = (line: number, what: string): void => {
      violations.push({ where: `${each.folder}/${path}:${line}`, what })
    }
    for (const error of file.errors) report(1, `does not parse: ${error}`)
    for (const mention of file.imports) {
      const what = checkImport(each, path, mention, byName)
      if (what !== undefined) report(mention.line, what)
    }
    if (!isPure(each, path)) continue
    for (const { name, line } of file.ambients) report(line, checkAmbient(name))
  }
  return violations
}

/** Sources below the worlds: time and randomness are handed to them, and any platform runs them. */
const isPure = (each: Package, path: string): boolean =>
  !isApplication(each) && path.startsWith("src/") && (roomOf(shortName(each.manifest.name))?.floor ?? WORLDS) < WORLDS

const checkAmbient = (name: string): string =>
  name.startsWith("Math.") && name !== "Math.random"
    ? `${name} differs between engines in the last bit: use the deterministic one of ${SCOPE}units`
    : `${name}: below the worlds, time and randomness are handed in`

const checkImport = (
  each: Package,
  path: string,
  { specifier }: Import,
  byName: ReadonlyMap<string, Package>,
): string | undefined => {
  if (specifier === "<computed>") {
    return isPure(each, path) ? "an import whose specifier is computed cannot be checked" : undefined
  }
  if (specifier.startsWith(".")) return checkRelative(each, path, specifier)
  if (specifier.startsWith("node:")) {
    return isPure(each, path) && path !== NODE_FACE
      ? `${specifier}: below the worlds, code runs on any platform; only ${NODE_FACE} is Node's`
      : undefined
  }
  const [name, subpath] = split(specifier)
  return (
    checkDeclared(each, path, name) ??
    checkEffect(each, path, name, subpath) ??
    (name.startsWith(SCOPE) ? checkRoom(each, path, name, subpath, byName) : undefined)
  )
}

const checkRelative = (each: Package, path: string, specifier: string): string | undefined => {
  const target = posix.normalize(posix.join(posix.dirname(path), specifier))
  if (target.startsWith("../")) return `${specifier} leaves the package: import the other one by its name`
  const optional = (roomOf(shortName(each.manifest.name))?.floor ?? WORLDS) <= EFFECT_OPTIONAL
  if (!isApplication(each) && optional && path.startsWith("src/") && path !== LAYER && target === LAYER) {
    return "layer.ts needs Effect, which is optional here: nothing else in src imports it"
  }
  if (isPure(each, path) && target === NODE_FACE) return "node.ts is for Node alone: nothing else in src imports it"
  return undefined
}

const checkDeclared = (each: Package, path: string, name: string): string | undefined => {
  const { dependencies, peerDependencies, devDependencies } = each.manifest
  // Tests may use what the root offers (vitest, fast-check); an application is bundled, so it has development dependencies only.
  if (!path.startsWith("src/") || name === each.manifest.name) return undefined
  const declared = { ...dependencies, ...peerDependencies, ...(isApplication(each) ? devDependencies : {}) }
  return Object.hasOwn(declared, name) ? undefined : `${name} is not among the dependencies of ${each.manifest.name}`
}

const checkEffect = (each: Package, path: string, name: string, subpath: string): string | undefined => {
  const floor = roomOf(shortName(each.manifest.name))?.floor ?? WORLDS
  if (isApplication(each) || floor > EFFECT_OPTIONAL || !path.startsWith("src/") || path === LAYER) return undefined
  if (isEffect(name)) return `${name} is optional on floors 0–${EFFECT_OPTIONAL}: only ${LAYER} imports it`
  if (name.startsWith(SCOPE) && subpath === "./layer") return `${name}/layer needs Effect: only ${LAYER} imports it`
  return undefined
}

const checkRoom = (
  each: Package,
  path: string,
  name: string,
  subpath: string,
  byName: ReadonlyMap<string, Package>,
): string | undefined => {
  const target = byName.get(name)
  if (target === undefined) return `${name} is no package of this workspace`
  if (!Object.hasOwn(target.manifest.exports ?? {}, subpath)) return `${name} does not export ${subpath}`
  if (isApplication(each)) return undefined
  if (isApplication(target)) return `${name} is an application: no package imports it`
  if (isPure(each, path) && path !== NODE_FACE && subpath === "./node") {
    return `${name}/node is for Node alone: below the worlds only ${NODE_FACE} imports it`
  }
  const from = shortName(each.manifest.name)
  const allowed = path.startsWith("src/") ? mayImport(from, shortName(name)) : mayTestWith(from, shortName(name))
  return allowed ? undefined : `${each.manifest.name} may not import ${name}: imports go downward only`
}
