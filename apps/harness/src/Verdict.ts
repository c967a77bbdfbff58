import type { Claim, Mark, Published, Scale } from "./Claim.ts"

/** How far a measured number may lie from a published one, a share of it; undefined: only order and shape count. */
export const toleranceOf = (mark: Mark): number | undefined => tolerances[mark]

const tolerances: Readonly<Record<Mark, number | undefined>> = {
  read: 0.1,
  digitised: 0.25,
  remembered: undefined,
  bar: 0,
}

/** Two remembered numbers are told apart when they differ by as much as two digitised ones must. */
const ORDER_TOLERANCE = 0.25

/** A bar, which nobody has published, is met or missed. */
export type Verdict = "within" | "outside" | "shape only" | "not measured" | "calibrated" | "met" | "missed"

/** Whether a number is as published. Bounds are widened by the tolerance; a published 0 takes nothing but 0. */
export const verdictOf = (
  { mark, calibrated }: Pick<Claim, "mark" | "calibrated">,
  published: Published,
  measured: number,
): Verdict => {
  if (Number.isNaN(measured)) return "not measured"
  if (calibrated !== undefined) return "calibrated"
  const tolerance = toleranceOf(mark)
  if (tolerance === undefined) return "shape only"
  const [least, most] = boundsOf(published)
  const isIn = measured >= least * (1 - tolerance) && measured <= most * (1 + tolerance)
  if (mark === "bar") return isIn ? "met" : "missed"
  return isIn ? "within" : "outside"
}

/** The least and the most that a source allows. */
export const boundsOf = (published: Published): readonly [least: number, most: number] =>
  typeof published === "number"
    ? [published, published]
    : [published.atLeast ?? Number.NEGATIVE_INFINITY, published.atMost ?? Number.POSITIVE_INFINITY]

/** Two systems that come in the wrong order. */
export interface Reversal {
  /** Published as the lower of the two. */
  readonly lower: string
  readonly higher: string
  /** Why, where that is known. */
  readonly reason: string | undefined
}

/** Whether systems come in the order that was published. */
export interface Order {
  /** Pairs of systems that the source tells apart and that were measured, without those that are not shown. */
  readonly pairs: number
  readonly reversals: ReadonlyArray<Reversal>
  /** Pairs that come as published, by no more than the noise, which says nothing: neither right nor wrong. */
  readonly notShown: ReadonlyArray<Pair>
}

/** Two systems, the one that is published as the lower first. */
export type Pair = readonly [lower: string, higher: string]

/**
 * Checks the order of every two systems whose published numbers differ by more than the tolerance of their mark, and of
 * those that the claim orders in words. Equal numbers are no order, and numbers that differ by no more than the noise (a
 * share of the lower one) show none; a reversal is one, however small.
 */
export const orderOf = (
  claim: Claim,
  measured: Readonly<Record<string, number>>,
  scale: Scale,
  noise: number | undefined,
): Order => {
  const found = pairsOf(claim).filter((pair) => pair.every((name) => !Number.isNaN(measured[name] ?? Number.NaN)))
  const reversals = found
    .filter(([lower, higher]) => !(measured[lower]! < measured[higher]!))
    .map(([lower, higher]) => ({ lower, higher, reason: reasonOf(claim, lower, higher, scale) }))
  const notShown = found.filter(([lower, higher]) => {
    const [least, most] = [measured[lower]!, measured[higher]!]
    return least < most && most <= least * (1 + (noise ?? 0))
  })
  return { pairs: found.length - notShown.length, reversals, notShown }
}

const reasonOf = ({ exceptions = [] }: Claim, a: string, b: string, scale: Scale): string | undefined =>
  exceptions.find(({ systems, scale: only = scale }) => only === scale && systems.includes(a) && systems.includes(b))
    ?.reason

/** Pairs of systems that a source tells apart, the lower one first. */
const pairsOf = ({ published, mark, order = [] }: Claim): ReadonlyArray<Pair> => {
  const tolerance = toleranceOf(mark) ?? ORDER_TOLERANCE
  const names = Object.keys(published)
  const pairs: Array<Pair> = []
  for (const lower of names) {
    for (const higher of names) {
      const most = boundsOf(published[lower]!)[1]
      if (lower !== higher && most * (1 + tolerance) < boundsOf(published[higher]!)[0]) pairs.push([lower, higher])
    }
  }
  for (const chain of order) {
    for (let i = 0; i < chain.length; i++) for (const higher of chain.slice(i + 1)) pairs.push([chain[i]!, higher])
  }
  return pairs
}
