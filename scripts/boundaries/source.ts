import { type Expression, type Node, parseSync, type Super, Visitor } from "oxc-parser"

/** One mention of another module: a static or dynamic import, a re-export, or the type `import("…")`. */
export interface Import {
  readonly specifier: string
  readonly line: number
}

/** A use of something ambient: `Math.random`, `new Date`, `setTimeout`. */
interface Ambient {
  readonly name: string
  readonly line: number
}

export interface Source {
  readonly imports: ReadonlyArray<Import>
  readonly ambients: ReadonlyArray<Ambient>
  readonly errors: ReadonlyArray<string>
}

/** Globals whose every use is reported, whichever member is read. */
const clocks = new Set(["Date", "performance", "crypto"])
const timers = new Set(["setTimeout", "setInterval", "setImmediate"])
/** Members of `Math` that ECMA-262 §21.3.2 lets each engine approximate as it likes. */
const approximate = new Set(
  "acos acosh asin asinh atan atan2 atanh cbrt cos cosh exp expm1 hypot log log10 log1p log2 pow sin sinh tan tanh".split(
    " ",
  ),
)

const literal = (node: Node | null): string | undefined => {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value
  if (node?.type === "TemplateLiteral" && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? undefined
  return undefined
}

/** The name of a global, also when it is reached through `globalThis`. */
const globalName = (node: Expression | Super): string | undefined => {
  if (node.type === "Identifier") return node.name
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return undefined
  return node.object.name === "globalThis" ? memberName(node.property) : undefined
}

const memberName = (property: Node): string | undefined =>
  property.type === "Identifier" ? property.name : literal(property)

/** Reads one TypeScript file: what it imports and which ambient clocks, timers and randomness it touches. */
export const readSource = (path: string, text: string): Source => {
  const { program, errors } = parseSync(path, text)
  const imports: Array<Import> = []
  const ambients: Array<Ambient> = []
  const lineOf = (offset: number): number => text.slice(0, offset).split("\n").length
  const importing = (source: Node | null, at: Node): void => {
    if (source === null) return
    // A specifier that is computed cannot be checked, so it is reported as one nobody may import.
    imports.push({ specifier: literal(source) ?? "<computed>", line: lineOf(at.start) })
  }
  const ambient = (name: string, at: Node): void => {
    ambients.push({ name, line: lineOf(at.start) })
  }
  const member = (object: string, name: string | undefined, at: Node): void => {
    if (clocks.has(object)) ambient(name === undefined ? object : `${object}.${name}`, at)
    if (object === "Math" && (name === "random" || approximate.has(name ?? ""))) ambient(`Math.${name}`, at)
  }
  new Visitor({
    ImportDeclaration: (node) => importing(node.source, node),
    ExportNamedDeclaration: (node) => importing(node.source, node),
    ExportAllDeclaration: (node) => importing(node.source, node),
    ImportExpression: (node) => importing(node.source, node),
    TSImportType: (node) => importing(node.source, node),
    MemberExpression: (node) => {
      const object = globalName(node.object)
      if (object !== undefined) member(object, memberName(node.property), node)
    },
    VariableDeclarator: (node) => {
      const object = node.init === null ? undefined : globalName(node.init)
      if (object === undefined) return
      if (node.id.type !== "ObjectPattern") {
        if (clocks.has(object) || timers.has(object)) ambient(object, node)
        return
      }
      for (const property of node.id.properties) {
        if (property.type === "Property") member(object, memberName(property.key), property)
      }
    },
    CallExpression: (node) => {
      const callee = globalName(node.callee)
      if (callee !== undefined && (callee === "Date" || timers.has(callee))) ambient(callee, node)
    },
    NewExpression: (node) => {
      if (globalName(node.callee) === "Date") ambient("new Date", node)
    },
  }).visit(program)
  return { imports, ambients, errors: errors.map((error) => error.message) }
}
