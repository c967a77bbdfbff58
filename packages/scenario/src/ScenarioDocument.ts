import { type Ns3Fault, Ns3FormatError, nearestWord } from "@rdmakit/ns3"
import { formatSize } from "@rdmakit/units"
import { Effect, Result, Schema, type SchemaAST, type SchemaIssue } from "effect"
import type * as Yaml from "yaml"

export type FieldPath = ReadonlyArray<string | number>

const FOUND_LENGTH_MAX = 60
/** Fields in the path of an override: no scenario is nested half as deep. */
const DEPTH_MAX = 32
/** A document is parsed at once, which takes a second or two for so much, and 100 MB. */
const OCTETS_MAX = 4 * 1024 * 1024
const VALUES_MAX = 100_000
/** Faults of one document that are told of one by one. */
const FAULTS_MAX = 100

/** Fields by path, and faults at them: a scenario, or whatever else has its fields. */
export interface FieldSource {
  /** As plain data. */
  readonly data: unknown
  /** A fault at a field. "key": at the field's own name; "parent": at what it is missing from. */
  fault(path: FieldPath, fault: FieldFault, at?: "value" | "key" | "parent"): Ns3FormatError
}

export type FieldFault = Pick<Ns3Fault, "expected" | "hint"> & {
  /** Default: what is written there. */
  readonly found?: string
}

export const sectionOf = ({ data }: FieldSource, key: string): unknown =>
  typeof data === "object" && data !== null ? (data as Readonly<Record<string, unknown>>)[key] : undefined

/** Whether a section names a file in place of its fields. */
export const hasFile = (section: unknown): boolean =>
  typeof section === "object" && section !== null && !Array.isArray(section) && "file" in section

/** A scenario file as it was written: values by path, and where each stands. */
export class ScenarioDocument implements FieldSource {
  /** As plain data. */
  readonly data: unknown
  private readonly yaml: typeof Yaml
  private readonly document: Yaml.Document.Parsed
  private readonly lines: Yaml.LineCounter
  private readonly text: string
  private readonly file: string
  private readonly overridden: ReadonlyArray<Override>

  /**
   * @param overrides `path=value`, such as `switch.buffer=16MiB`; `path+=value` puts one more at the end of a list. An
   * entry of a list is `flows.0` or, as messages have it, `flows[0]`
   * @throws Ns3FormatError
   */
  constructor(yaml: typeof Yaml, octets: Uint8Array, file: string, overrides: ReadonlyArray<string>) {
    this.yaml = yaml
    this.file = file
    if (octets.length > OCTETS_MAX) throw tooLarge(file, formatSize(octets.length), `at most ${formatSize(OCTETS_MAX)}`)
    this.text = decodeText(octets, file)
    const values = valuesIn(this.text)
    if (values > VALUES_MAX) throw tooLarge(file, `${values} values`, `at most ${VALUES_MAX}`)
    this.lines = new yaml.LineCounter()
    this.document = yaml.parseDocument(this.text, { lineCounter: this.lines, prettyErrors: false, logLevel: "error" })
    const [error] = this.document.errors
    if (error !== undefined) throw this.syntaxFault(error.pos[0], yamlWords(error))
    this.overridden = overrides.map((text) => this.override(text))
    try {
      this.data = this.document.toJS()
    } catch (error) {
      throw this.syntaxFault(0, error instanceof Error ? error.message : String(error))
    }
  }

  private syntaxFault(offset: number, message: string): Ns3FormatError {
    const { line, col } = this.lines.linePos(offset)
    const found = this.text.slice(offset, offset + FOUND_LENGTH_MAX).split("\n")[0]!
    return new Ns3FormatError({
      file: this.file,
      line,
      column: col,
      field: "scenario",
      found,
      expected: "YAML or JSON",
      hint: message,
    })
  }

  private override(text: string): Override {
    const at = text.indexOf("=")
    const isOneMore = text[at - 1] === "+"
    const path = text
      .slice(0, Math.max(0, isOneMore ? at - 1 : at))
      .replaceAll(/\[(\d+)\]/g, ".$1")
      .split(".")
      .map((key) => (/^\d+$/.test(key) ? Number(key) : key))
    const fault = (expected: string, hint?: string, found = text): Ns3FormatError =>
      new Ns3FormatError({ file: "--set", line: 0, column: 0, field: "override", found, expected, hint })
    if (at <= 0) throw fault("PATH=VALUE, such as switch.buffer=16MiB")
    if (path.length > DEPTH_MAX) throw fault(`a path of at most ${DEPTH_MAX}`, undefined, `${path.length} fields`)
    const given = text.slice(at + 1)
    const value = this.yaml.parseDocument(given, { prettyErrors: false })
    if (value.errors.length > 0) throw fault("a YAML value", yamlWords(value.errors[0]!))
    if (isOneMore) {
      const list = this.document.getIn(path)
      if (list !== undefined && !this.yaml.isSeq(list)) throw fault("the path of a list")
      path.push(list === undefined ? 0 : list.items.length)
    }
    this.checkIndices(path, fault)
    try {
      // As nodes, so that its own fields have paths.
      this.document.setIn(path, this.document.createNode(value.toJS(), { aliasDuplicateObjects: false }))
    } catch {
      throw fault("the path of a field", `${path.join(".")} goes through something that has no fields`)
    }
    return { path, text: given, value }
  }

  /** An override may change an entry of a list, or put one at its end: anything further would leave entries out. */
  private checkIndices(path: FieldPath, fault: (expected: string, hint?: string) => Ns3FormatError): void {
    for (const [at, key] of path.entries()) {
      const parent = this.nodeAt(path.slice(0, at))
      if (typeof key !== "number" || this.yaml.isMap(parent)) continue
      const count = this.yaml.isSeq(parent) ? parent.items.length : 0
      if (key <= count) continue
      const list = path.slice(0, at).join(".")
      throw fault(
        `an entry of ${list}`,
        `the list has ${count}, counted from 0; ${list}+=VALUE puts one more at its end`,
      )
    }
  }

  fault(path: FieldPath, fault: FieldFault, at: "value" | "key" | "parent" = "value"): Ns3FormatError {
    const set = this.isOverridden(path)
    const range = set ? undefined : this.rangeOf(at === "parent" ? path.slice(0, -1) : path, at === "key")
    const place = range === undefined ? { line: set ? 0 : 1, col: set ? 0 : 1 } : this.lines.linePos(range[0])
    const shown = fault.found ?? (at === "parent" ? "" : this.shown(path, range))
    return new Ns3FormatError({
      file: set ? "--set" : this.file,
      line: place.line,
      column: place.col,
      field: pathText(path),
      found: shown,
      expected: fault.expected,
      hint: fault.hint,
    })
  }

  /** Whether a field has its value from an override, or is there because of one. */
  private isOverridden(path: FieldPath): boolean {
    const node = this.nodeAt(path)
    const written = this.yaml.isNode(node) && Boolean(node.range)
    return this.overridden.some(({ path: set }) => {
      const length = Math.min(set.length, path.length)
      for (let i = 0; i < length; i++) if (String(set[i]) !== String(path[i])) return false
      return set.length <= path.length || (path.length > 0 && !written)
    })
  }

  private shown(path: FieldPath, range: readonly [number, number] | undefined): string {
    const text =
      range === undefined
        ? (this.givenText(path) ?? plainText(this.document.getIn(path)))
        : this.text.slice(range[0], Math.min(range[1], range[0] + FOUND_LENGTH_MAX))
    const [first, ...more] = text.split("\n").map((line) => line.trim())
    if (more.every((line) => line === "")) return first!
    // Several lines: a list or fields.
    return first === "{" ? "{…}" : first === "[" ? "[…]" : `${first} …`
  }

  /** A number, or a list, as an override gives it: 1e309 is no number that JSON could show. */
  private givenText(path: FieldPath): string | undefined {
    const last = this.overridden.findLast(({ path: set }) =>
      set.slice(0, path.length).every((key, at) => String(key) === String(path[at])),
    )
    if (last === undefined || last.path.length > path.length) return undefined
    const inner = path.slice(last.path.length)
    const node = inner.length === 0 ? last.value.contents : last.value.getIn(inner, true)
    const { isNode, isScalar, isSeq } = this.yaml
    if (!isNode(node) || !node.range || !(isSeq(node) || (isScalar(node) && typeof node.value === "number")))
      return undefined
    return last.text.slice(node.range[0], Math.min(node.range[1], node.range[0] + FOUND_LENGTH_MAX))
  }

  /** Where a value stands, or its key; the nearest thing around it when it is nowhere. */
  private rangeOf(path: FieldPath, key: boolean): readonly [number, number] | undefined {
    const { isMap, isScalar, isNode } = this.yaml
    const parent: unknown = path.length === 0 ? undefined : this.nodeAt(path.slice(0, -1))
    if (key && isMap(parent)) {
      for (const pair of parent.items) {
        if (isScalar(pair.key) && String(pair.key.value) === String(path.at(-1)) && pair.key.range) {
          return [pair.key.range[0], pair.key.range[1]]
        }
      }
    }
    const node = this.nodeAt(path)
    if (isNode(node) && node.range) return [node.range[0], node.range[1]]
    return path.length === 0 ? undefined : this.rangeOf(path.slice(0, -1), false)
  }

  private nodeAt(path: FieldPath): unknown {
    const node = path.length === 0 ? this.document.contents : this.document.getIn(path, true)
    return this.yaml.isAlias(node) ? node.resolve(this.document) : node
  }
}

/** A value in place of the document's, or beside what is there. */
interface Override {
  readonly path: FieldPath
  /** The value as it was given, and read. */
  readonly text: string
  readonly value: Yaml.Document.Parsed
}

/** What is wrong with a text, in words for its writer: some of the parser's are for a programmer. */
const yamlWords = ({ code, message }: Yaml.YAMLError): string => {
  if (code === "RESOURCE_EXHAUSTION") return "it is nested too deeply"
  return code === "MULTIPLE_DOCS" ? "it is more than one document" : message
}

/** Values of a text, as commas and lines have them: more than there are, where a text or a remark has commas. */
const valuesIn = (text: string): number => {
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at)
    if (letter === COMMA || (letter === NEWLINE && text.charCodeAt(at - 1) !== NEWLINE)) values++
  }
  return values
}
const COMMA = 0x2c
const NEWLINE = 0x0a

const tooLarge = (file: string, found: string, expected: string): Ns3FormatError => {
  const hint = "flows by the thousand go into a flow file, flows: { file: NAME }, which has no such bound"
  return new Ns3FormatError({ file, line: 0, column: 0, field: "scenario", found, expected, hint })
}

const decodeText = (octets: Uint8Array, file: string): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(octets)
  } catch {
    const hint = "the file is not UTF-8"
    throw new Ns3FormatError({ file, line: 0, column: 0, field: "scenario", found: "", expected: "text", hint })
  }
}

/** A value that no text shows. */
const plainText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value ?? undefined) ?? "")

/** `flows[2].size`; "scenario" for the whole. */
const pathText = (path: FieldPath): string => {
  let text = ""
  for (const key of path) text += typeof key === "number" ? `[${key}]` : text === "" ? key : `.${key}`
  return text === "" ? "scenario" : text
}

/** Decodes the document; what is wrong with it is given as faults, all of them. */
export const decode = <A>(
  schema: Schema.Codec<A, unknown>,
  document: FieldSource,
): A | ReadonlyArray<Ns3FormatError> => {
  const result = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })(document.data)
  if (Result.isSuccess(result)) return result.success
  const faults: Array<Ns3FormatError> = []
  collect(result.failure.issue, [], document, faults)
  if (faults.length <= FAULTS_MAX) return faults
  const { file, line, column, field, found, expected } = faults[FAULTS_MAX - 1]!
  const hint = `${faults.length - FAULTS_MAX} more faults are not told of`
  return [...faults.slice(0, FAULTS_MAX - 1), new Ns3FormatError({ file, line, column, field, found, expected, hint })]
}

const collect = (
  issue: SchemaIssue.Issue,
  path: FieldPath,
  document: FieldSource,
  faults: Array<Ns3FormatError>,
): void => {
  switch (issue._tag) {
    case "Composite":
      for (const each of issue.issues) collect(each, path, document, faults)
      return
    case "Pointer": {
      const keys = issue.path.map((key) => (typeof key === "symbol" ? String(key) : key))
      collect(issue.issue, [...path, ...keys], document, faults)
      return
    }
    case "Encoding":
    case "Filter":
      collect(issue.issue, path, document, faults)
      return
    case "MissingKey":
      faults.push(document.fault(path, { expected: "this field" }, "parent"))
      return
    case "UnexpectedKey": {
      const known = keysOf(issue.ast)
      const near = nearestWord(String(path.at(-1)), known)
      const hint = near === undefined ? undefined : `did you mean ${near}?`
      faults.push(document.fault(path, { found: String(path.at(-1)), expected: known.join(", "), hint }, "key"))
      return
    }
    case "InvalidValue":
      faults.push(
        document.fault(path, { expected: issue.annotations?.expected ?? "a value", hint: issue.annotations?.message }),
      )
      return
    case "InvalidType":
      faults.push(document.fault(path, { expected: shapeOf(issue.ast) }))
      return
    default:
      faults.push(document.fault(path, { expected: "something else" }))
  }
}

const keysOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []

const shapeOf = (ast: SchemaAST.AST): string => {
  if (ast._tag === "Arrays") return "a list"
  const keys = keysOf(ast)
  return keys.length === 0 ? "fields" : `fields (${keys.join(", ")})`
}

/** A step that may throw a fault, as an Effect. */
export const attempt = <A>(step: () => A): Effect.Effect<A, Ns3FormatError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(step())
    } catch (error) {
      return error instanceof Ns3FormatError ? Effect.fail(error) : Effect.die(error)
    }
  })
