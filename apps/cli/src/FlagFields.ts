import { Ns3FormatError } from "@rdmakit/ns3"
import type { FieldFault, FieldPath, FieldSource } from "@rdmakit/scenario"
import { Option } from "effect"

/** A flag, and the field of a scenario's section that it gives. */
export interface FieldFlag {
  /** With its dashes; an argument in capitals. */
  readonly name: string
  readonly path: ReadonlyArray<string>
}

/** What a command line says of it. */
export interface GivenFlag {
  readonly flag: FieldFlag
  /** As written. */
  readonly text: string
  readonly value: unknown
}

/** A number where it is one, else the text. */
export const scalarOf = (text: string): number | string =>
  /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : text

/** The flags that are given, of those that there are. */
export const givenFlags = (
  flags: ReadonlyArray<FieldFlag>,
  input: Readonly<Record<string, Option.Option<string>>>,
): ReadonlyArray<GivenFlag> =>
  flags.flatMap((flag) => {
    const text = Option.getOrUndefined(input[flag.name] ?? Option.none())
    return text === undefined ? [] : [{ flag, text, value: scalarOf(text) }]
  })

/** A command line as the section of a scenario that it stands for: its faults are at flags. */
export class FlagFields implements FieldSource {
  readonly data: unknown
  private readonly section: string
  private readonly flags: ReadonlyArray<FieldFlag>
  private readonly given: ReadonlyArray<GivenFlag>

  constructor(section: string, flags: ReadonlyArray<FieldFlag>, given: ReadonlyArray<GivenFlag>) {
    this.section = section
    this.flags = flags
    this.given = given
    const fields: Fields = {}
    for (const { flag, value } of given) setIn(fields, flag.path, value)
    this.data = { [section]: fields }
  }

  fault(path: FieldPath, fault: FieldFault, at: "value" | "key" | "parent" = "value"): Ns3FormatError {
    // The first step is the section.
    const place = path.slice(1)
    const given = place.length === 0 ? undefined : this.given.find(({ flag }) => overlaps(flag.path, place))
    const flag = given?.flag ?? this.flags.find((each) => overlaps(each.path, place))
    const field = place.length === 0 ? this.section : (flag?.name ?? place.join("."))
    if (at === "key") {
      // What is expected are fields: here they are flags.
      const known = fault.expected.split(", ").flatMap((key) => this.namesOf([...place.slice(0, -1), key]))
      return commandLineFault("flags", given?.flag.name ?? "", [...new Set(known)].join(", "))
    }
    // These two name other fields.
    const expected = /^(either|this field)/.test(fault.expected) ? this.inFlags(fault.expected) : fault.expected
    const found = at === "parent" ? "" : (fault.found ?? given?.text ?? "")
    return commandLineFault(field, found, expected, fault.hint)
  }

  private inFlags(text: string): string {
    return text.replace("this field", "this flag").replace(/\w+/g, (word) => this.namesOf([word])[0] ?? word)
  }

  /** Flags of a field and of all below it. */
  private namesOf(path: FieldPath): ReadonlyArray<string> {
    return this.flags.filter((flag) => flag.name.startsWith("-") && overlaps(flag.path, path)).map(({ name }) => name)
  }
}

interface Fields {
  [key: string]: unknown
}

const setIn = (fields: Fields, [key = "", ...rest]: ReadonlyArray<string>, value: unknown): void => {
  if (rest.length === 0) {
    fields[key] = value
    return
  }
  const inner = (fields[key] ?? {}) as Fields
  fields[key] = inner
  setIn(inner, rest, value)
}

const overlaps = (path: ReadonlyArray<string>, place: FieldPath): boolean => {
  for (let i = 0; i < Math.min(path.length, place.length); i++) if (path[i] !== place[i]) return false
  return true
}

/** A fault of the command line itself. */
export const commandLineFault = (field: string, found: string, expected: string, hint?: string): Ns3FormatError =>
  new Ns3FormatError({ file: "command line", line: 0, column: 0, field, found, expected, hint })
