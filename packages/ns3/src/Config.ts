import { type CcMode, type ConfigKey, ccModes, configKeys } from "./ConfigKey.ts"
import {
  type ConfigValue,
  type LinkDown,
  type Ns3Config,
  requiredKeys,
  restartingTimers,
  viewOf,
  wholeMicroseconds,
} from "./ConfigView.ts"
import { Ns3FormatError, type Ns3Note, nearestWord } from "./FormatError.ts"
import { rateOf, timeOf } from "./Quantity.ts"
import { Tokens } from "./Tokens.ts"

const NODE_MAX = 65535
const MAP_ENTRIES_MAX = 64
/** A config is a few kilobytes, remarks included; the files it names may be as large as they are. */
const OCTETS_MAX = 1024 * 1024

/** One key as it stands in a file. */
export interface ConfigEntry {
  readonly key: string
  /** The words after the key, as written. */
  readonly words: ReadonlyArray<string>
  readonly value: ConfigValue
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A config file: what was written, and what it means. */
export interface ConfigFile {
  readonly file: string
  /** The entry that holds for each key written: the last one. */
  readonly entries: ReadonlyMap<string, ConfigEntry>
  readonly config: Ns3Config
  readonly notes: ReadonlyArray<Ns3Note>
}

/**
 * Reads a config file: `KEY value…` in any order. Of a repeated key the last holds, with a note, as in the original;
 * the maps of a repeated map key add up, as they do there. `{…}` remarks, as in the original's config_doc.txt, are
 * skipped with a note.
 *
 * Throws {@link Ns3FormatError} for an unknown key (the original skips it without a word), a wrong value, and a file
 * without TOPOLOGY_FILE, FLOW_FILE, RATE_AI or RATE_HAI (where the original stops or runs nothing).
 */
export const parseConfig = (text: string | Uint8Array, file: string): ConfigFile => {
  const tokens = new Tokens(text, file)
  const entries = new Map<string, ConfigEntry>()
  const repeats = new Map<string, Repeat>()
  while (tokens.next()) {
    if (tokens.text().startsWith("{")) skipRemark(tokens)
    else addEntry(entries, readEntry(tokens), tokens, repeats)
    // What does not begin as a config is told as another kind of file.
    checkLength(text.length, file)
  }
  return configOf(file, entries, tokens)
}

/**
 * The config with some values replaced: each of `overrides` is `KEY=value`, a value of several words with spaces
 * (`KMAX_MAP=1 100000000000 1600`). Repeated keys: the last holds, without a note.
 *
 * Throws {@link Ns3FormatError} as {@link parseConfig} does; its file is `source`, its line the override, from 1.
 */
export const applyOverrides = (config: ConfigFile, overrides: ReadonlyArray<string>, source = "--set"): ConfigFile => {
  const entries = new Map(config.entries)
  const notes = [...config.notes]
  overrides.forEach((override, index) => {
    const equals = override.indexOf("=")
    // The "=" becomes the space it stands for, so columns stay those of the override.
    const tokens = new Tokens(
      equals < 0 ? override : `${override.slice(0, equals)} ${override.slice(equals + 1)}`,
      source,
    )
    tokens.line = index + 1
    tokens.need("override", "KEY=value")
    if (equals < 0) throw tokens.fault("override", "KEY=value")
    const entry = readEntry(tokens)
    if (tokens.next()) throw tokens.fault(entry.key, "nothing more")
    entries.set(entry.key, entry)
    notes.push(...tokens.notes)
  })
  return configOf(config.file, entries, new Tokens("", config.file), notes)
}

/** Writes the entries of a config, one a line, in the order of {@link configKeys}; values are as they were written. */
export const formatConfig = (config: Pick<ConfigFile, "entries">): string => {
  let text = ""
  for (const key of configKeys.keys()) {
    const entry = config.entries.get(key)
    if (entry !== undefined) text += `${key} ${entry.words.join(" ")}\n`
  }
  return text
}

/** A controller that is not the original's, and the CC_MODE whose feedback it gets. */
export interface OtherController {
  readonly name: string
  readonly ccMode: CcMode
}

/** Keys of congestion control that are about its feedback, by the mode that has it; they have effect on any controller. */
const feedbackKeys: Readonly<Record<string, CcMode>> = { INT_MULTI: 3, PINT_LOG_BASE: 10 }
/** Those that every controller of the original goes by. */
const controllerKeys = new Set(["CC_MODE", "MIN_RATE", "VAR_WIN"])

/**
 * The entries that change nothing in the original or under the chosen CC_MODE, with the reason.
 *
 * @param other in place of the original's controller
 */
export const idleEntries = (
  config: ConfigFile,
  other?: OtherController,
): ReadonlyArray<{ readonly entry: ConfigEntry; readonly why: string }> => {
  const { ccMode } = config.config
  const idle = []
  for (const entry of config.entries.values()) {
    const key = configKeys.get(entry.key)!
    const isOfController = key.modes !== undefined || controllerKeys.has(entry.key)
    if (key.effect === "none in the original") idle.push({ entry, why: `no effect: ${key.meaning}` })
    else if (other !== undefined) {
      if (isOfController && feedbackKeys[entry.key] !== other.ccMode)
        idle.push({ entry, why: `no effect with the controller ${other.name} in place of CC_MODE ${ccMode}` })
    } else if (key.modes !== undefined && !key.modes.includes(ccMode)) {
      const names = key.modes.map((mode) => ccModes[mode]).join(", ")
      idle.push({ entry, why: `no effect with CC_MODE ${ccMode} (${ccModes[ccMode]}): only for ${names}` })
    }
  }
  return idle
}

const skipRemark = (tokens: Tokens): void => {
  tokens.note("a {remark}: skipped, as the original skips every word that is no key")
  const { line, column } = tokens
  for (let word = tokens.text(); !word.endsWith("}"); word = tokens.text()) {
    tokens.need("remark", `the "}" of the remark at ${line}:${column}`)
    if (configKeys.has(tokens.text())) {
      throw tokens.fault("remark", `the "}" of the remark at ${line}:${column}`, "the original would read this key")
    }
  }
}

const readEntry = (tokens: Tokens): ConfigEntry => {
  const { file, line, column } = tokens
  const word = tokens.text()
  const key = configKeys.get(word)
  if (key === undefined) {
    const nearest = nearestWord(word, configKeys.keys())
    const comment = word.startsWith("#") || word.startsWith("//")
    const hint = comment ? "these files have no comments" : nearest && `did you mean ${nearest}?`
    throw tokens.fault("key", "a key of the simulator", hint)
  }
  const words: Array<string> = []
  const next = (field: string, expected: string) => {
    tokens.need(field, expected)
    words.push(tokens.text())
  }
  const value = readValue(tokens, key, next)
  return { key: key.key, words, value, file, line, column }
}

const readValue = (tokens: Tokens, key: ConfigKey, next: (field: string, expected: string) => void): ConfigValue => {
  const field = key.key
  next(field, key.meaning)
  const missing = configKeys.has(tokens.text()) ? `the value of ${field} is missing: this is the next key` : undefined
  switch (key.type) {
    case "switch":
      return tokens.wholeNumber(field, 0, 1, missing) === 1
    case "whole":
      return tokens.wholeNumber(field, key.min, key.max, missing)
    case "number": {
      const number = tokens.decimal(field, key.min, key.max, missing)
      if (wholeMicroseconds.includes(field) && !Number.isInteger(number)) {
        tokens.note(`${field} ${tokens.text()}: the original drops the fraction of a microsecond`)
      }
      return number
    }
    case "rate":
      return rateOf(tokens, field)
    case "time":
      return timeOf(tokens, field)
    case "file":
      if (missing !== undefined) throw tokens.fault(field, "a path", missing)
      return tokens.text()
    case "mode":
      return readMode(tokens, field)
    case "link down": {
      const afterUs = tokens.wholeNumber(field, 0, key.max, missing)
      next(field, "a node")
      const a = tokens.wholeNumber(`${field} node`, 0, NODE_MAX)
      next(field, "a node")
      const b = tokens.wholeNumber(`${field} node`, 0, NODE_MAX)
      return { afterPs: afterUs * 1e6, a, b } satisfies LinkDown
    }
    case "rate map": {
      const count = tokens.wholeNumber(`${field} count`, 0, MAP_ENTRIES_MAX, missing)
      const map = new Map<number, number>()
      for (let i = 0; i < count; i++) {
        next(field, `${count} pairs of a rate and a number`)
        const hint = `the map says it has ${count} pairs`
        const rateBps = tokens.wholeNumber(`${field} rate`, 1, Number.MAX_SAFE_INTEGER, hint)
        next(field, "a number after the rate")
        const value =
          key.unit === "" ? tokens.decimal(field, key.min, key.max) : tokens.wholeNumber(field, key.min, key.max)
        map.set(rateBps, value)
      }
      return map
    }
  }
}

const readMode = (tokens: Tokens, field: string): CcMode => {
  const modes = Object.entries(ccModes)
  const word = tokens.text()
  if (Object.hasOwn(ccModes, word)) return Number(word) as CcMode
  const expected = modes.map(([mode, name]) => `${mode} (${name})`).join(", ")
  const nearest = /^\d+$/.test(word) ? undefined : nearestWord(word, Object.values(ccModes))
  const named = modes.find(([, name]) => name === nearest)
  const hint = named === undefined ? undefined : `did you mean ${named[0]}, ${named[1]}?`
  throw tokens.fault(field, expected, hint)
}

/** A key that is there again: how often by now, and where its note is. */
interface Repeat {
  readonly count: number
  readonly note: number
}

const addEntry = (
  entries: Map<string, ConfigEntry>,
  entry: ConfigEntry,
  tokens: Tokens,
  repeats: Map<string, Repeat>,
): void => {
  const before = entries.get(entry.key)
  if (before === undefined) {
    entries.set(entry.key, entry)
    return
  }
  const place = { file: tokens.file, line: entry.line, column: entry.column }
  const { count, note } = repeats.get(entry.key) ?? { count: 0, note: tokens.notes.length }
  repeats.set(entry.key, { count: count + 1, note })
  // One note for a key, however often it is there.
  const again = count === 0 ? `${entry.key} again` : `${entry.key} again, ${count + 1} times`
  if (before.value instanceof Map && entry.value instanceof Map) {
    const value = new Map<number, number>([...before.value, ...entry.value])
    const words = [String(value.size), ...Array.from(value, ([rateBps, number]) => `${rateBps} ${number}`)]
    entries.set(entry.key, { ...entry, value, words: words.join(" ").split(" ") })
    tokens.notes[note] = { ...place, text: `${again}: added to the map of line ${before.line}` }
  } else {
    entries.set(entry.key, entry)
    tokens.notes[note] = { ...place, text: `${again}: this one holds, not that of line ${before.line}` }
  }
}

const checkLength = (length: number, file: string): void => {
  if (length <= OCTETS_MAX) return
  const expected = `at most ${OCTETS_MAX} bytes`
  const hint = "flows go into the file that FLOW_FILE names"
  throw new Ns3FormatError({ file, line: 0, column: 0, field: "config", found: `${length} bytes`, expected, hint })
}

const configOf = (
  file: string,
  entries: ReadonlyMap<string, ConfigEntry>,
  tokens: Tokens,
  notesBefore: ReadonlyArray<Ns3Note> = [],
): ConfigFile => {
  for (const key of requiredKeys) {
    if (!entries.has(key)) {
      throw tokens.fault(key, `${key}: ${configKeys.get(key)!.meaning}`, "the original cannot run without it")
    }
  }
  const values = new Map(defaults)
  for (const [key, entry] of entries) values.set(key, entry.value)
  const config = viewOf(values)
  if (config.ccMode === 1) refuseEndlessTimers(entries, values, tokens)
  return { file, entries, config, notes: [...notesBefore, ...tokens.notes] }
}

const refuseEndlessTimers = (
  entries: ReadonlyMap<string, ConfigEntry>,
  values: ReadonlyMap<string, ConfigValue>,
  tokens: Tokens,
): void => {
  for (const key of restartingTimers) {
    if ((values.get(key) as number) >= 1) continue
    const entry = entries.get(key)
    const expected = `${key} of at least 1 us with CC_MODE 1 (DCQCN)`
    const hint = "the timer restarts itself: at 0 the original never gets past the first congestion notification"
    if (entry === undefined) throw tokens.fault(key, expected, hint)
    const { file, line, column } = entry
    throw new Ns3FormatError({ file, line, column, field: key, found: entry.words[0]!, expected, hint })
  }
}

const defaults: ReadonlyMap<string, ConfigValue> = new Map(
  Array.from(configKeys.values())
    .filter((key) => key.default !== undefined && (key.default !== "" || key.type === "file"))
    .map((key) => {
      if (key.default === "") return [key.key, ""]
      const tokens = new Tokens(`${key.key} ${key.default}`, "defaults")
      tokens.next()
      return [key.key, readEntry(tokens).value]
    }),
)
