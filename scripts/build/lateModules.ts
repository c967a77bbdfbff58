import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Plugin } from "esbuild"

/** Functions that most commands never call, of modules of Node's that take long to load: they load them when called. */
const lateFunctions: Readonly<Record<string, ReadonlyArray<string>>> = {
  "node:child_process": ["spawn", "spawnSync"],
  "node:crypto": ["createHash", "randomBytes"],
}

/** A module that stands for one of Node's: it loads that one when a function of it is called. */
export const lateModule = (name: string): string =>
  lateFunctions[name]!.map(
    (each) => `export const ${each} = (...all) => process.getBuiltinModule("${name}").${each}(...all)\n`,
  ).join("")

const segmenter = fileURLToPath(new URL("LateSegmenter.ts", import.meta.url))

/** The source of a module that makes a segmenter when it is loaded; now it is made when it is used. */
export const withLateSegmenter = (source: string): string => {
  if (!source.includes("new Intl.Segmenter(")) throw new Error("no segmenter is made here any more")
  const made = source.replaceAll("new Intl.Segmenter(", "new LateSegmenter(")
  return `import { LateSegmenter } from ${JSON.stringify(segmenter)}\n${made}`
}

/** A bundler's plugin that leaves for later what every start of the command would else pay for. */
export const lateModules: Plugin = {
  name: "late-modules",
  setup: (build) => {
    build.onResolve({ filter: /^node:/ }, ({ path }) =>
      Object.hasOwn(lateFunctions, path) ? { path, namespace: "late" } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: "late" }, ({ path }) => ({ contents: lateModule(path), loader: "js" }))
    build.onLoad({ filter: /[\\/]effect[\\/]dist[\\/]cli[\\/]CliOutput\.js$/ }, ({ path }) => ({
      contents: withLateSegmenter(readFileSync(path, "utf8")),
      loader: "js",
    }))
  },
}
