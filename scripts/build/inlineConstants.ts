import { readFileSync } from "node:fs"
// Modules without imports of their own: the configuration that uses this is read before any package is built.
import { Scan } from "../../packages/nic/src/Scan.ts"
import * as Layout from "../../packages/packet/src/Layout.ts"
import { Ecn, Flag, Opcode } from "../../packages/packet/src/Opcode.ts"
import { Drop, Shortcut } from "../../packages/protocol/src/Switch.ts"
import { Busy, Leave } from "../../packages/sim/src/PortTable.ts"

/** Objects of numbers by the names under which sources use them. */
const constants: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Drop,
  Ecn,
  Flag,
  Layout,
  Opcode,
  "P.Busy": Busy,
  "P.Leave": Leave,
  Scan,
  Shortcut,
}

const uses = new RegExp(`(?<![\\w.])(${Object.keys(constants).join("|").replaceAll(".", "\\.")})\\.(\\w+)\\b`, "g")

/** The source with numbers in the place of such names. In types, where `typeof` or a declaration names one, it stays. */
export const inlined = (source: string): string =>
  source.replace(uses, (use, name: string, member: string) => {
    const value = constants[name]?.[member]
    return typeof value === "number" ? `(${value})` : use
  })

/** What tsup hands to a plugin. */
interface Build {
  onLoad(
    options: { readonly filter: RegExp },
    load: (file: { readonly path: string }) => { readonly contents: string; readonly loader: "ts" },
  ): void
}

/**
 * A bundler's plugin that puts the numbers of our constant objects in place. The bundler does so itself for plain
 * constants; members of an object it leaves, and then each use on the hot path reads them from memory, checks included.
 */
export const inlineConstants = {
  name: "inline-constants",
  setup: (build: Build): void =>
    build.onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: inlined(readFileSync(path, "utf8")),
      loader: "ts",
    })),
}
