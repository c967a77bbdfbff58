import { accessSync, constants, realpathSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

/** Where `npm start` puts Node 24, on platforms that have it as a package. */
const IN_CLONE = join("node_modules", ".bin", "node")

/**
 * What to do where the running Node is too old: the newer one that a clone of rdmakit has is named, where there is one.
 *
 * @param version the first that will do, as 22.18
 * @param below a folder in the clone, or none of it
 */
export const newerNode = (
  version: string,
  below: string = dirname(fileURLToPath(import.meta.url)),
  cwd: string = process.cwd(),
): string => {
  const wanted = `run the command with Node ${version} or later`
  for (let folder = below; ; folder = dirname(folder)) {
    const node = join(folder, IN_CLONE)
    if (isOther(node)) return `${wanted}, as is ${shorter(relative(cwd, node), node)}`
    if (folder === dirname(folder)) return wanted
  }
}

/** Whether a file can be run and is not the Node that runs. */
const isOther = (node: string): boolean => {
  try {
    accessSync(node, constants.X_OK)
    return realpathSync(node) !== realpathSync(process.execPath)
  } catch {
    return false
  }
}

const shorter = (a: string, b: string): string => (a.length < b.length ? a : b)
