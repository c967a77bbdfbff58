import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Manifest, Package } from "./rules.ts"

const folders = ["packages", "apps"]
/** `suite`: the tests of an application that `npm test` does not run. */
const parts = ["src", "test", "examples", "suite"]

const listed = (folder: string): ReadonlyArray<string> => (existsSync(folder) ? readdirSync(folder).sort() : [])

/** The packages of the workspace at `root`, with the text of their sources, tests and examples. */
export const readWorkspace = (root: string): ReadonlyArray<Package> =>
  folders
    .flatMap((folder) => listed(join(root, folder)).map((name) => `${folder}/${name}`))
    .filter((folder) => existsSync(join(root, folder, "package.json")))
    .map((folder) => ({
      folder,
      manifest: JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest,
      files: readFiles(join(root, folder)),
    }))

const readFiles = (folder: string): ReadonlyMap<string, string> => {
  const files = new Map<string, string>()
  for (const part of parts.filter((each) => existsSync(join(folder, each)))) {
    for (const name of readdirSync(join(folder, part), { recursive: true, encoding: "utf8" }).sort()) {
      if (!/\.tsx?$/.test(name)) continue
      files.set(`${part}/${name.replaceAll("\\", "/")}`, readFileSync(join(folder, part, name), "utf8"))
    }
  }
  return files
}
