/** Lines of a chart that lie on each other: of two the later one would hide the earlier. */
import type { Line, Point } from "./Figures.ts"

/** What a line lies on. */
export interface Overlap {
  /** The first of the earlier lines that it lies on, by its place. */
  readonly on: number
  /** How many earlier lines it lies on. */
  readonly depth: number
  /** Everywhere, and not in part. */
  readonly isWhole: boolean
}

/** Of a line's points, 0 to 1: below, it only crosses or touches another. */
const PART_MIN = 0.25

/** What is drawn, and not on the axis, where nothing is to be told apart. */
const shownPoints = ({ points }: Line): ReadonlyArray<Point> => points.filter(([, y]) => y > 0)

const places = (points: ReadonlyArray<Point>): ReadonlyMap<number, number> => new Map(points)

const sharedCount = (points: ReadonlyArray<Point>, other: ReadonlyMap<number, number>): number =>
  points.reduce((sum, [x, y]) => sum + Number(other.get(x) === y), 0)

/** For each line what it lies on; undefined: on none. */
export const overlapsOf = (lines: ReadonlyArray<Line>): ReadonlyArray<Overlap | undefined> => {
  const shown = lines.map(shownPoints)
  const byX = shown.map(places)
  return shown.map((points, index) => {
    const shares = byX.slice(0, index).map((other) => sharedCount(points, other) / Math.max(1, points.length))
    const under = shares.flatMap((share, other) => (share >= PART_MIN ? [other] : []))
    if (under.length === 0) return undefined
    const same = under.find((other) => shares[other] === 1 && shown[other]!.length === points.length)
    return { on: same ?? under[0]!, depth: under.length, isWhole: same !== undefined }
  })
}

/** How many later lines have the same point as each point of a line: their dots would cover its own. */
export const coveredBy = (lines: ReadonlyArray<Line>, index: number): ((point: Point) => number) => {
  const later = lines.slice(index + 1).map(({ points }) => places(points))
  return ([x, y]) => later.reduce((sum, other) => sum + Number(other.get(x) === y), 0)
}
