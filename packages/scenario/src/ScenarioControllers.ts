import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { type Ns3FormatError, nearestWord } from "@rdmakit/ns3"
import { type ControllerFactory, OptionError } from "@rdmakit/protocol"
import type { NamedController, OptionKind } from "./Controllers.ts"
import type { FieldPath, FieldSource, ScenarioDocument } from "./ScenarioDocument.ts"
import { readRate, readSize, readTime, Wrong } from "./ScenarioFields.ts"
import type { ScenarioController } from "./ScenarioSchema.ts"

/** The controller that a scenario asks for, HPCC where it asks for none; or what is wrong with what it says. */
export const controllerOf = (
  section: ScenarioController | undefined,
  registry: ReadonlyMap<string, NamedController>,
  document: ScenarioDocument,
): ControllerFactory | ReadonlyArray<Ns3FormatError> => {
  if (section === undefined) return hpcc(hpccPresets.simulation)
  const unknownWord = (path: FieldPath, word: string, known: ReadonlyArray<string>): ReadonlyArray<Ns3FormatError> => {
    const near = nearestWord(word, known)
    const hint = near === undefined ? undefined : `did you mean ${near}?`
    return [document.fault(path, { expected: known.join(" or "), hint })]
  }
  const named = registry.get(section.name)
  if (named === undefined && /\.[cm]?[jt]s$/.test(section.name)) {
    const hint =
      "a module of one's own is named by --controller, or in a sweep by --vary controller.name=./mine.ts,hpcc"
    return [document.fault(["controller", "name"], { expected: [...registry.keys()].join(" or "), hint })]
  }
  if (named === undefined) return unknownWord(["controller", "name"], section.name, [...registry.keys()])
  const { preset = section.variant === undefined ? named.preset : undefined } = section
  if (preset !== undefined && !Object.hasOwn(named.presets, preset)) {
    return unknownWord(["controller", "preset"], preset, Object.keys(named.presets))
  }
  const base = preset === undefined ? undefined : named.presets[preset]!
  const variant = section.variant ?? base?.variant ?? ""
  if (!Object.hasOwn(named.variants, variant)) {
    return unknownWord(["controller", "variant"], variant, Object.keys(named.variants))
  }
  if (base !== undefined && base.variant !== variant) {
    const hint = `the preset ${preset} is of the variant ${base.variant}`
    return [document.fault(["controller", "variant"], { expected: base.variant, hint })]
  }
  const { options, faults } = readOptions(section.options ?? {}, named.variants[variant]!, document, "controller")
  if (faults.length > 0) return faults
  try {
    return named.make({ ...base, ...options, variant })
  } catch (error) {
    if (!(error instanceof OptionError)) throw error
    return [optionFault(document, "controller", section.options, error)]
  }
}

/** An option that a package refuses, where it is written; one that is not written is told with its value. */
export const optionFault = (
  document: FieldSource,
  section: string,
  given: Readonly<Record<string, unknown>> | undefined,
  { option, value, expected }: OptionError,
): Ns3FormatError => {
  const hint = Object.hasOwn(given ?? {}, option) ? undefined : `${option} is ${String(value)} unless it is given`
  return document.fault([section, "options", option], { expected, hint })
}

const UNITLESS = /^(.*?)(?:Ps|Bps|Bytes|Packets)$/

/** The options of a section, in the units of their names; and what is wrong with them. */
export const readOptions = (
  given: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, OptionKind>>,
  document: FieldSource,
  section: string,
) => {
  const options: Record<string, unknown> = {}
  const faults: Array<Ns3FormatError> = []
  for (const [name, value] of Object.entries(given)) {
    const path = [section, "options", name]
    if (!Object.hasOwn(known, name)) {
      const names = Object.keys(known)
      // Units come last in a name, and are easily left out: `mtu` for `mtuBytes`.
      const near = nearestWord(name, names) ?? names.find((each) => UNITLESS.exec(each)?.[1] === name)
      const hint = near === undefined ? undefined : `did you mean ${near}?`
      faults.push(document.fault(path, { found: name, expected: names.join(", "), hint }, "key"))
      continue
    }
    const { expected, read } = readerOf(known[name]!)
    const option = read(value)
    if (option instanceof Wrong) faults.push(document.fault(path, { expected, hint: option.hint }))
    else options[name] = option
  }
  return { options, faults }
}

const ofType =
  (type: "number" | "boolean" | "string") =>
  (value: unknown): unknown =>
    typeof value === type ? value : new Wrong()

/** A number is in the unit of the option's name. */
const orNumber =
  (read: (value: unknown) => unknown) =>
  (value: unknown): unknown =>
    typeof value === "number" ? value : read(value)

interface OptionReader {
  readonly expected: string
  readonly read: (value: unknown) => unknown
}

const readers: Readonly<Record<Extract<OptionKind, string>, OptionReader>> = {
  number: { expected: "a number", read: ofType("number") },
  boolean: { expected: "true or false", read: ofType("boolean") },
  word: { expected: "a word", read: ofType("string") },
  rate: { expected: "a rate such as 50Mbps, or a number of bit/s", read: orNumber(readRate) },
  size: { expected: "a size such as 80B, or a number of bytes", read: orNumber(readSize) },
  time: { expected: "a time such as 50us, or a number of ps", read: orNumber(readTime) },
}

const readerOf = (kind: OptionKind): OptionReader => (typeof kind === "string" ? readers[kind] : oneOf(kind))

const oneOf = (list: ReadonlyArray<string>): OptionReader => ({
  expected: list.join(" or "),
  read: (value) => {
    if (typeof value !== "string") return new Wrong()
    if (list.includes(value)) return value
    const near = nearestWord(value, list)
    return new Wrong(near === undefined ? undefined : `did you mean ${near}?`)
  },
})
