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

/**
 * The source with numbers in the place of such names. In types, where `typeof` or a declaration names one, it stays. The
 * bundler does so itself for plain constants; members of an object it leaves, and then each use on the hot path reads
 * them from memory, checks included.
 */
export const inlined = (source: string): string =>
  source.replace(uses, (use, name: string, member: string) => {
    const value = constants[name]?.[member]
    return typeof value === "number" ? `(${value})` : use
  })
