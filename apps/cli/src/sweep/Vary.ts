/** What a sweep varies, and the runs that come of it. */

/** A key and the values that it takes in turn. */
export interface VariedKey {
  readonly key: string
  readonly values: ReadonlyArray<string>
}

/** One run of a sweep. */
export interface PlannedRun {
  /** From 0, the last key and then the seed going fastest. */
  readonly index: number
  /** Of which combination of values, from 0. */
  readonly combination: number
  /** A value for each varied key, in their order. */
  readonly values: ReadonlyArray<string>
  readonly seed: number
}

/** Why a command line's `--vary` is none. */
export class VaryFault {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** Reads `--vary KEY=a,b,c`, each of several. Commas in brackets, braces and quotes belong to a value. */
export const variedKeys = (texts: ReadonlyArray<string>): ReadonlyArray<VariedKey> | VaryFault => {
  const keys: Array<VariedKey> = []
  for (const text of texts) {
    const at = text.indexOf("=")
    const key = text.slice(0, Math.max(0, at)).trim()
    if (key === "") return new VaryFault(`--vary: found "${text}", expected KEY=VALUE,VALUE,…`)
    const values = splitValues(text.slice(at + 1))
    if (values.includes("")) return new VaryFault(`--vary: ${key}: found an empty value in "${text}"`)
    const twice = values.find((value, i) => values.indexOf(value) !== i)
    if (twice !== undefined) return new VaryFault(`--vary: ${key}: found ${twice} twice, expected each value once`)
    if (keys.some((other) => other.key === key)) {
      return new VaryFault(`--vary: found ${key} twice, expected all its values in one --vary`)
    }
    if (key === "seed")
      return new VaryFault("--vary: found seed, expected another key; --seeds says how many there are")
    keys.push({ key, values })
  }
  return keys
}

const closing: Readonly<Record<string, string>> = { "[": "]", "{": "}", '"': '"', "'": "'" }

const splitValues = (text: string): Array<string> => {
  const values: Array<string> = []
  const open: Array<string> = []
  let value = ""
  for (const character of text) {
    const awaited = open.at(-1)
    if (character === awaited) open.pop()
    else if (awaited !== '"' && awaited !== "'" && closing[character] !== undefined) open.push(closing[character])
    if (character === "," && open.length === 0) {
      values.push(value.trim())
      value = ""
    } else value += character
  }
  return [...values, value.trim()]
}

/** How many runs there are of these. */
export const runCount = (keys: ReadonlyArray<VariedKey>, seeds: number): number =>
  keys.reduce((product, { values }) => product * values.length, seeds)

/** Every combination of values, each with the seeds 0, 1, …. */
export const plannedRuns = (keys: ReadonlyArray<VariedKey>, seeds: number): ReadonlyArray<PlannedRun> => {
  let combinations: ReadonlyArray<ReadonlyArray<string>> = [[]]
  for (const { values } of keys) {
    combinations = combinations.flatMap((before) => values.map((value) => [...before, value]))
  }
  return combinations.flatMap((values, combination) =>
    Array.from({ length: seeds }, (_, seed) => ({ index: combination * seeds + seed, combination, values, seed })),
  )
}

/**
 * Combinations in which each value of each key occurs, beside the first values of the other keys: what is to be tried
 * before anything is run.
 */
export const probes = (keys: ReadonlyArray<VariedKey>): ReadonlyArray<ReadonlyArray<string>> => {
  const first = keys.map(({ values }) => values[0]!)
  const others = keys.flatMap(({ values }, i) => values.slice(1).map((value) => first.with(i, value)))
  return [first, ...others]
}
