/** Where something stands in a file: lines and columns count from 1; a binary file has line 0 and column 0. */
export interface Ns3Place {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Something a reader accepted but the author of the file should know. */
export interface Ns3Note extends Ns3Place {
  readonly text: string
}

export interface Ns3Fault extends Ns3Place {
  /** What was being read: "source node", "CC_MODE". */
  readonly field: string
  /** What stood there, cut to a readable length; "" when nothing did. */
  readonly found: string
  readonly expected: string
  readonly hint?: string | undefined
  /** Octets from the start of the file. Binary files have nothing better; text files give it for rubbish only. */
  readonly offset?: number | undefined
}

/**
 * The one error that every reader of this package throws. Its message reads like a compiler's:
 * `flow.txt:3:5: source node: found "abc", expected a whole number 0..375; …`.
 */
export class Ns3FormatError extends Error {
  readonly _tag = "Ns3FormatError"
  readonly file: string
  readonly line: number
  readonly column: number
  readonly field: string
  readonly found: string
  readonly expected: string
  readonly hint: string | undefined
  readonly offset: number | undefined

  constructor(fault: Ns3Fault) {
    super(faultMessage(fault))
    this.name = "Ns3FormatError"
    this.file = fault.file
    this.line = fault.line
    this.column = fault.column
    this.field = fault.field
    this.found = fault.found
    this.expected = fault.expected
    this.hint = fault.hint
    this.offset = fault.offset
  }
}

/** One line: `flow.txt:1:1: note: …`. */
export const formatNote = (note: Ns3Note): string => `${formatPlace(note)}: note: ${note.text}`

const formatPlace = (place: Ns3Place): string =>
  place.line > 0 ? `${place.file}:${place.line}:${place.column}` : place.file

const faultMessage = (fault: Ns3Fault): string => {
  const at = fault.line > 0 || fault.offset === undefined ? "" : `@${fault.offset}`
  const found = foundWords(fault.found)
  const octet = fault.line > 0 && fault.offset !== undefined ? ` (octet ${fault.offset})` : ""
  const hint = fault.hint === undefined ? "" : `; ${fault.hint}`
  return `${formatPlace(fault)}${at}: ${fault.field}: ${found}${octet}, expected ${fault.expected}${hint}`
}

/** What stands in quotes already, in JSON say, is a text where something else may be wanted. */
const foundWords = (found: string): string => {
  if (found === "") return "found nothing"
  return /^".*"$/s.test(found) ? `found the text ${found}` : `found "${found}"`
}

/** The nearest of `words` to `word`, or undefined when none is near enough to be a slip of the hand. */
export const nearestWord = (word: string, words: Iterable<string>): string | undefined => {
  const upper = word.toUpperCase()
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const distance = editDistance(upper, candidate.toUpperCase())
    if (distance < bestDistance) {
      bestDistance = distance
      best = candidate
    }
  }
  return best
}

// Levenshtein's distance with one row: words here are shorter than a token's limit, so the square of it stays small.
const editDistance = (a: string, b: string): number => {
  const row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    let diagonal = row[0]!
    row[0] = i
    for (let j = 1; j <= b.length; j++) {
      const above = row[j]!
      const substituted = diagonal + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(substituted, above + 1, row[j - 1]! + 1)
      diagonal = above
    }
  }
  return row[b.length]!
}
