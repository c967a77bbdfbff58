import { counted, grouped } from "./Figures.ts"

/** Two text files, line by line. */
export interface LineComparison {
  readonly same: boolean
  readonly linesA: number
  readonly linesB: number
  /** The first line that differs, from 1, and what it says; undefined past the end. */
  readonly first: { readonly line: number; readonly a: string | undefined; readonly b: string | undefined } | undefined
}

const SHOWN_CHARACTERS = 100

export const compareLines = (a: Uint8Array, b: Uint8Array): LineComparison => {
  const linesA = linesOf(a)
  const linesB = linesOf(b)
  const length = Math.max(linesA.length, linesB.length)
  let line = 0
  while (line < length && linesA[line] === linesB[line]) line++
  const first = line === length ? undefined : { line: line + 1, a: linesA[line], b: linesB[line] }
  return { same: first === undefined, linesA: linesA.length, linesB: linesB.length, first }
}

/** In lines of text: one when the files are the same. */
export const lineReport = (what: string, { linesA, first }: LineComparison): ReadonlyArray<string> => {
  if (first === undefined) return [`${what}: ${counted(linesA, "line")}, identical`]
  return [
    `${what}: the first line that differs is ${grouped(first.line)}`,
    `  A  ${shown(first.a)}`,
    `  B  ${shown(first.b)}`,
  ]
}

const linesOf = (octets: Uint8Array): ReadonlyArray<string> => {
  const lines = new TextDecoder().decode(octets).split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines
}

const shown = (line: string | undefined): string => {
  if (line === undefined) return "(the file has ended)"
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line
}
