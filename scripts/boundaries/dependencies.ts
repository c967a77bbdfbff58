import { EFFECT_OPTIONAL, mayDeclare, roomOf, WORLDS } from "./floors.ts"
import type { Package, Violation } from "./rules.ts"
import type { Source } from "./source.ts"

const SCOPE = "@rdmakit/"
/** What packages write for each other: a published range, so that an application has one copy of each. */
const WORKSPACE = "workspace:^"

/** The package that a specifier names, without the subpath; undefined for a file and for Node's own. */
export const packageOf = (specifier: string): string | undefined =>
  /^[.<]|^node:/.test(specifier)
    ? undefined
    : specifier
        .split("/")
        .slice(0, specifier.startsWith("@") ? 2 : 1)
        .join("/")

const TYPES = "@types/"

/** Whose types a package has, `@types/a__b` those of `@a/b`; otherwise its own name. */
const typedBy = (target: string): string =>
  target.startsWith(TYPES) ? target.slice(TYPES.length).replace(/^(.+?)__(.+)$/, "@$1/$2") : target

/**
 * What `package.json` declares against what files import: nothing unused, nothing that only tests use among what users
 * install, and nothing missing that the root does not offer.
 */
export const checkDependencies = (each: Package, sources: ReadonlyMap<string, Source>): ReadonlyArray<Violation> => {
  const { name, dependencies = {}, peerDependencies = {}, devDependencies = {} } = each.manifest
  const published = each.folder.startsWith("packages/")
  const where = `${each.folder}/package.json`
  const violations: Array<Violation> = []
  const report = (what: string): void => {
    violations.push({ where, what })
  }
  const inSources = new Set<string>()
  const anywhere = new Set<string>()
  let usesNode = false
  for (const [path, { imports }] of sources) {
    for (const { specifier, line } of imports) {
      const target = packageOf(specifier)
      if (specifier.startsWith("node:")) usesNode = true
      if (target === undefined || target === name) continue
      anywhere.add(target)
      if (path.startsWith("src/")) inSources.add(target)
      // What sources import has a check of its own, and tests may use what the root offers.
      else if (target.startsWith(SCOPE) && !declares(each, target)) {
        violations.push({
          where: `${each.folder}/${path}:${line}`,
          what: `${target} is not among what ${name} declares`,
        })
      }
    }
  }
  for (const target of Object.keys({ ...dependencies, ...peerDependencies })) {
    const used = published
      ? inSources.has(target) || mayDeclare(shortName(name), shortName(target))
      : anywhere.has(target)
    if (used) continue
    const only = anywhere.has(target)
      ? "only tests and examples import it: make it a development dependency"
      : "nothing imports it"
    report(`${target} is among the dependencies, but ${only}`)
  }
  for (const target of Object.keys(devDependencies)) {
    const used = target === `${TYPES}node` ? usesNode : anywhere.has(typedBy(target))
    if (!used) report(`${target} is a development dependency, but nothing imports it`)
  }
  for (const [target, range] of [dependencies, peerDependencies, devDependencies].flatMap(Object.entries<string>)) {
    if (target.startsWith(SCOPE) && range !== WORKSPACE) report(`${target} is "${range}": write "${WORKSPACE}"`)
  }
  return published ? [...violations, ...checkPeer(each, where)] : violations
}

const shortName = (name: string): string => name.slice(SCOPE.length)

const declares = ({ manifest }: Package, name: string): boolean =>
  [manifest.dependencies, manifest.peerDependencies, manifest.devDependencies].some(
    (each) => each !== undefined && Object.hasOwn(each, name),
  )

/** A program has one Effect, its own: each package names it as a peer, which is optional where `layer.ts` alone needs it. */
const checkPeer = ({ manifest }: Package, where: string): ReadonlyArray<Violation> => {
  const { name, dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest
  if (Object.hasOwn(dependencies, "effect")) return [{ where, what: "effect is the user's own: make it a peer" }]
  if (!Object.hasOwn(peerDependencies, "effect")) return []
  const optional = peerDependenciesMeta.effect?.optional === true
  const expected = (roomOf(shortName(name))?.floor ?? WORLDS) <= EFFECT_OPTIONAL
  if (optional === expected) return []
  return [{ where, what: `effect is ${expected ? "an optional" : "a required"} peer on this floor` }]
}

/** The range of a peer is the same in all packages, for one version has to satisfy them together. */
export const checkPeerRanges = (packages: ReadonlyArray<Package>): ReadonlyArray<Violation> => {
  const first = new Map<string, string>()
  const violations: Array<Violation> = []
  for (const { folder, manifest } of packages) {
    for (const [name, range] of Object.entries(manifest.peerDependencies ?? {})) {
      const other = first.get(name) ?? range
      first.set(name, other)
      if (range !== other) {
        violations.push({ where: `${folder}/package.json`, what: `the peer ${name} is ${range}, elsewhere ${other}` })
      }
    }
  }
  return violations
}
