import { type ScaleContinuousNumeric, scaleLinear, scaleLog } from "d3-scale"
import { curveLinear, curveStepAfter, line } from "d3-shape"
import type { Line, Point } from "./Figures.ts"
import { coveredBy, type Overlap, overlapsOf } from "./Overlap.ts"
import { escapeHtml } from "./text.ts"

export interface Axis {
  /** With its unit. */
  readonly label: string
  /** What one unit of the label is in the unit of the points. */
  readonly unit: number
  /** Steps of the axis multiply; points at 0 and below are left out. For y alone. */
  readonly logarithmic?: boolean
}

export interface ChartSpec {
  /** What is shown, for who cannot see it. */
  readonly description: string
  readonly x: Axis
  readonly y: Axis
  readonly lines: ReadonlyArray<Line>
  /** Names of the places 0, 1, 2, … on the x axis, where it is no scale. */
  readonly places?: ReadonlyArray<string>
  /** The x axis begins at the least x, not at 0. */
  readonly fromLeast?: boolean
  /** Values hold until the next point. */
  readonly steps?: boolean
  /** Points without lines between them. */
  readonly dots?: boolean
}

interface Size {
  readonly className: string
  readonly width: number
  readonly height: number
  readonly ticks: number
}

/** A chart is drawn once for wide screens and once for narrow ones: scaled to fit, its text would be too small. */
const sizes: ReadonlyArray<Size> = [
  { className: "wide", width: 556, height: 280, ticks: 6 },
  { className: "narrow", width: 336, height: 250, ticks: 4 },
]
const TOP = 22
const BOTTOM = 40
const RIGHT = 12
/** Width of a digit of the labels, roughly. */
const DIGIT = 7
/** A dash and the gap behind it. */
const DASHES = 14

/** A line chart as SVG, a picture for each size of screen. Colours are the page's. */
export const lineChart = (spec: ChartSpec): string => sizes.map((size) => picture(spec, size)).join("\n")

const picture = (spec: ChartSpec, { className, width, height, ticks }: Size): string => {
  const points = spec.lines.flatMap((each) => each.points).filter(([, y]) => Number.isFinite(y))
  const largest = (index: 0 | 1): number => points.reduce((most, point) => Math.max(most, point[index]), 0)
  const logarithmic = spec.y.logarithmic === true && largest(1) > 0
  const yScale = logarithmic ? logarithmicScale(spec, points, height) : linearScale(spec, largest(1), height)
  const yTicks = logarithmic ? roundTicks(yScale.ticks(5)) : yScale.ticks(5)
  const yFormat = logarithmic ? (tick: number): string => String(Number(tick.toPrecision(1))) : yScale.tickFormat(5)
  const left = Math.max(...yTicks.map((tick) => yFormat(tick).length)) * DIGIT + 10
  const places = spec.places?.length
  const right = width - RIGHT
  // The names of the first and the last place have room on both sides.
  const longest = Math.max(0, ...(spec.places ?? []).map((place) => place.length))
  const margin = Math.max(20, (longest * DIGIT) / 2 - RIGHT)
  const xScale =
    places === undefined
      ? xDomain(spec, largest(0), points, [left, right])
      : scaleLinear([0, Math.max(1, places - 1)], [left + margin, right - margin])
  const x = (point: Point): number => xScale(point[0] / spec.x.unit)
  const y = (point: Point): number => yScale(point[1] / spec.y.unit)
  const isDrawn = ([, value]: Point): boolean => Number.isFinite(value) && (!logarithmic || value > 0)
  const path = line<Point>()
    .x(x)
    .y(y)
    .defined(isDrawn)
    .curve(spec.steps === true ? curveStepAfter : curveLinear)
    .digits(1)
  const overlaps = overlapsOf(spec.lines)
  const xFormat = xScale.tickFormat(ticks)
  const xTicks: ReadonlyArray<readonly [at: number, text: string]> =
    spec.places === undefined
      ? xScale.ticks(ticks).map((tick) => [xScale(tick), xFormat(tick)])
      : spec.places.map((place, index) => [xScale(index), place])
  const shown = everyFew(xTicks, width)
  const parts = [
    `<svg class="${className}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(spec.description)}">`,
    ...yTicks.map((tick) => `<path class="grid" d="M${left} ${round(yScale(tick))}H${right}"/>`),
    ...yTicks.map(
      (tick) => `<text x="${left - 6}" y="${round(yScale(tick) + 4)}" text-anchor="end">${yFormat(tick)}</text>`,
    ),
    `<text class="label" x="0" y="10">${escapeHtml(spec.y.label)}</text>`,
    `<path class="axis" d="M${left} ${height - BOTTOM}H${right}"/>`,
    ...xTicks.map(([at]) => `<path class="axis" d="M${round(at)} ${height - BOTTOM}v4"/>`),
    ...shown.map(
      ([at, text]) =>
        `<text x="${round(at)}" y="${height - BOTTOM + 17}" text-anchor="middle">${escapeHtml(text)}</text>`,
    ),
    `<text class="label" x="${right}" y="${height - 4}" text-anchor="end">${escapeHtml(spec.x.label)}</text>`,
    ...(spec.dots === true
      ? []
      : spec.lines.map(({ points: own }, index) => {
          const dashes = dashesOf(overlaps[index])
          return `<path class="line c${index}"${dashes} d="${path([...own]) ?? ""}"/>`
        })),
    ...(places === undefined
      ? []
      : spec.lines.flatMap(({ points: own }, index) =>
          own.filter(isDrawn).map(dot(x, y, index, coveredBy(spec.lines, index))),
        )),
    "</svg>",
  ]
  return parts.join("\n")
}

const linearScale = ({ y }: ChartSpec, largest: number, height: number): ScaleContinuousNumeric<number, number> =>
  scaleLinear([0, largest / y.unit || 1], [height - BOTTOM, TOP]).nice(5)

const logarithmicScale = ({ y }: ChartSpec, points: ReadonlyArray<Point>, height: number) => {
  const values = points.map(([, value]) => value / y.unit).filter((value) => value > 0)
  const domain = values.reduce(
    ([least, most], value) => [Math.min(least!, value), Math.max(most!, value)],
    [values[0]!, values[0]!],
  )
  const scale: ScaleContinuousNumeric<number, number> = scaleLog(domain, [height - BOTTOM, TOP])
  return scale.nice()
}

/** Powers of ten, and between few of them twice and five times as much. */
const roundTicks = (ticks: ReadonlyArray<number>): ReadonlyArray<number> => {
  const first = (tick: number): number => Number(tick.toExponential()[0])
  const powers = ticks.filter((tick) => first(tick) === 1)
  return powers.length > 3 ? powers : ticks.filter((tick) => [1, 2, 5].includes(first(tick)))
}

const xDomain = (spec: ChartSpec, largest: number, points: ReadonlyArray<Point>, range: [number, number]) => {
  if (spec.fromLeast !== true) return scaleLinear([0, largest / spec.x.unit || 1], range)
  const least = points.reduce((least, [x]) => Math.min(least, x), largest)
  return scaleLinear([least / spec.x.unit, largest / spec.x.unit], range).nice(5)
}

/** One that later ones lie on is as much larger as to be seen around them. */
const dot =
  (x: (point: Point) => number, y: (point: Point) => number, index: number, covered: (point: Point) => number) =>
  (point: Point): string =>
    `<circle class="c${index}" cx="${round(x(point))}" cy="${round(y(point))}" r="${3 + 2 * covered(point)}"/>`

/** Dashes of a line that lies on others, so that each is seen between those above it. */
const dashesOf = (overlap: Overlap | undefined): string => {
  if (overlap === undefined) return ""
  const dash = round(DASHES / (overlap.depth + 1))
  return ` stroke-dasharray="${dash} ${round(DASHES - dash)}"`
}

/** The ticks whose texts have room, counted from the last. */
const everyFew = <Tick extends readonly [number, string]>(
  ticks: ReadonlyArray<Tick>,
  width: number,
): ReadonlyArray<Tick> => {
  const longest = Math.max(0, ...ticks.map(([, text]) => text.length)) * DIGIT + 8
  const every = Math.max(1, Math.ceil((ticks.length * longest) / (width * 0.85)))
  return ticks.filter((_, index) => (ticks.length - 1 - index) % every === 0)
}

const round = (value: number): number => Math.round(value * 10) / 10
