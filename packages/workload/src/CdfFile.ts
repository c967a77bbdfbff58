import { endFault, POINTS_MAX, pointFault, type SizePoint } from "./SizeDistribution.ts"

const FOUND_CHARACTERS_MAX = 40
const WORD = /[^\s]+/g
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** Where a file of sizes is wrong. Its message reads like a compiler's: `sizes.txt:3:5: percentage: found …`. */
export class CdfError extends Error {
  readonly _tag = "CdfError"
  readonly file: string
  /** From 1. */
  readonly line: number
  /** Characters from 1. */
  readonly column: number
  /** What was being read: "size", "percentage", "point". */
  readonly field: string
  /** What stood there, cut to a readable length; "" when nothing did. */
  readonly found: string
  readonly expected: string
  readonly hint: string | undefined

  constructor(place: Place, field: string, found: string, expected: string, hint?: string) {
    const shown = readable(found)
    const said = shown === "" ? "found nothing" : `found "${shown}"`
    const more = hint === undefined ? "" : `; ${hint}`
    super(`${place.file}:${place.line}:${place.column}: ${field}: ${said}, expected ${expected}${more}`)
    this.name = "CdfError"
    this.file = place.file
    this.line = place.line
    this.column = place.column
    this.field = field
    this.found = shown
    this.expected = expected
    this.hint = hint
  }
}

interface Place {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Without what a terminal would obey, and not longer than a line. */
const readable = (text: string): string => {
  const plain = text.replace(/\p{Control}/gu, "?")
  return plain.length > FOUND_CHARACTERS_MAX ? `${plain.slice(0, FOUND_CHARACTERS_MAX)}…` : plain
}

const PARTS = ["size", "percentage"] as const
const TWO_NUMBERS = "two numbers, a size in bytes and a percentage"

/**
 * Reads a file of flow sizes as the traffic generator of HPCC's simulator has them: on each line a size in bytes and
 * the percentage of flows up to it, from 0 percent to 100, both ascending. Blank lines are skipped; of two points one
 * number may be the same (see `SizeDistribution`).
 *
 * @param file its name, for messages
 * @returns the points of a `SizeDistribution`
 * @throws CdfError, the first
 */
export const parseCdf = (text: string | Uint8Array, file: string): ReadonlyArray<SizePoint> => {
  const whole = (typeof text === "string" ? text : new TextDecoder().decode(text)).replace(/^\uFEFF/, "")
  const points: Array<SizePoint> = []
  let places: readonly [Place, Place] = [
    { file, line: 1, column: 1 },
    { file, line: 1, column: 1 },
  ]
  let words: ReadonlyArray<string> = []
  let line = 0
  for (const content of whole.split("\n")) {
    line++
    const found = Array.from(content.matchAll(WORD))
    if (found.length === 0) continue
    if (points.length === POINTS_MAX) {
      throw new CdfError({ file, line, column: 1 }, "point", content.trim(), `at most ${POINTS_MAX} points`)
    }
    const place = (part: number): Place => ({
      file,
      line,
      // A column counts characters, not halves of them.
      column: 1 + Array.from(content.slice(0, found[part]?.index ?? content.trimEnd().length)).length,
    })
    words = found.map(([word]) => word)
    places = [place(0), place(1)]
    const numbers = words.slice(0, 2).map((word, part) => {
      if (NUMBER.test(word)) return Number(word)
      throw new CdfError(places[part]!, PARTS[part]!, word, part === 0 ? TWO_NUMBERS : "a percentage", wordHint(word))
    })
    const [bytes, percent] = numbers
    if (bytes === undefined || percent === undefined) throw new CdfError(places[1], "percentage", "", TWO_NUMBERS)
    if (words.length > 2) {
      const hint = words.length === 3 ? "some simulators have three columns: leave out the middle one" : undefined
      throw new CdfError(place(2), "point", words[2]!, `${TWO_NUMBERS}, and no more`, hint)
    }
    const fault = pointFault([bytes, percent], points.at(-1))
    if (fault !== undefined) {
      throw new CdfError(places[fault.part], PARTS[fault.part], words[fault.part]!, fault.expected, fault.hint)
    }
    points.push([bytes, percent])
  }
  const fault = endFault(points)
  if (fault !== undefined) {
    if (points.length < 2) throw new CdfError({ file, line, column: 1 }, "point", "", fault.expected, END_HINT)
    throw new CdfError(places[fault.part], PARTS[fault.part], words[fault.part]!, fault.expected, fault.hint)
  }
  return points
}

const END_HINT = "the file ends here"

const wordHint = (word: string): string | undefined => {
  if (word.startsWith("#")) return "these files have no comments"
  if (/[,;]/.test(word)) return "the two are separated by a space"
  return /\uFFFD|\p{Control}/u.test(word) ? "this looks like a binary file" : undefined
}

/** Writes such a file. */
export const formatCdf = (points: ReadonlyArray<SizePoint>): string =>
  points.map(([bytes, percent]) => `${bytes} ${percent}\n`).join("")
