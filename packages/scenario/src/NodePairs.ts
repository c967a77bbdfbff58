/** Two fields that name nodes together: of two ranges of the same length each pair takes one of either. */
import type { FieldFault } from "./ScenarioDocument.ts"

/** How many pairs there are; a single node goes with all of the other's. */
export const pairCount = (from: ReadonlyArray<number>, to: ReadonlyArray<number>): number =>
  Math.max(from.length, to.length)

/** The pairs, in the order of the longer. */
export const pairsOf = (
  from: ReadonlyArray<number>,
  to: ReadonlyArray<number>,
): ReadonlyArray<readonly [from: number, to: number]> =>
  Array.from({ length: pairCount(from, to) }, (_, i) => [
    from[from.length === 1 ? 0 : i]!,
    to[to.length === 1 ? 0 : i]!,
  ])

/** What is wrong with `to`, of ranges that do not go together. @param what "host", "node" */
export const unpaired = (
  from: ReadonlyArray<number>,
  to: ReadonlyArray<number>,
  what: string,
): FieldFault | undefined => {
  if (from.length === to.length || from.length === 1 || to.length === 1) return undefined
  const hint = `two ranges go together ${what} by ${what}`
  return { expected: `one ${what}, or ${from.length} as in from`, hint }
}
