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

/** A module's own constants that are numbers: a line each, in capitals, of numbers and of constants before it. */
const declarations = /^(?:export )?const ([A-Z][A-Z0-9_]*) = (.+)$/gm
/** And those that are objects of numbers on one line. */
const objects = /^(?:export )?const (\w+) = \{ ((?:\w+: -?\w+(?:, )?)+) \} as const$/gm
/** Comments and strings. */
const asides = /\/\*[\s\S]*?\*\/|\/\/.*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/g
/** A name, or a member's; not where it is declared, in a type, a member of something else or a key. */
const names = /(?<![\w.$]|const |typeof )(?:[A-Z][A-Z0-9_]*|[A-Z]\w*\.\w+)\b(?!\s*:|\w)/g
const numbers = /\b0x[\da-fA-F_]+|\b\d[\d_]*(?:\.\d+)?(?:e\d+)?\b/g

/** The value of an expression of numbers; undefined of any other. */
const numberOf = (expression: string): number | undefined => {
  if (!/^[\s()+*/<>|&~-]*$/.test(expression.replace(numbers, ""))) return undefined
  return Number(new Function(`return ${expression}`)())
}

/** The source with the values of its own constants where code names them. */
const ownInlined = (source: string): string => {
  const values = new Map<string, number>()
  const replaced = (code: string): string =>
    code.replace(names, (name) => (values.has(name) ? `(${values.get(name)})` : name))
  for (const [, name, expression] of source.matchAll(declarations)) {
    const value = numberOf(replaced(expression!.replace(asides, "")))
    if (value !== undefined && Number.isFinite(value)) values.set(name!, value)
  }
  for (const [, object, members] of source.matchAll(objects)) {
    for (const [, name, text] of members!.matchAll(/(\w+): (-?\w+)/g)) {
      const value = numberOf(text!)
      if (value !== undefined) values.set(`${object}.${name}`, value)
    }
  }
  if (values.size === 0) return source
  let at = 0
  let out = ""
  for (const { 0: aside, index } of source.matchAll(asides)) {
    out += replaced(source.slice(at, index)) + aside
    at = index + aside.length
  }
  return out + replaced(source.slice(at))
}

/**
 * The source with numbers in the place of such names, and of the module's own constants. In types, where `typeof` or a
 * declaration names one, it stays. The bundler does so itself for plain constants of other modules; members of an object,
 * and what a module declares for itself, it leaves as variables, and then each use on the hot path reads them from
 * memory, checks included.
 */
export const inlined = (source: string): string =>
  ownInlined(source).replace(uses, (use, name: string, member: string) => {
    const value = constants[name]?.[member]
    return typeof value === "number" ? `(${value})` : use
  })
