import {
  type ChartSpec,
  escapeHtml,
  jsonForPage,
  type Line,
  legendHtml,
  lineChart,
  style,
  tableHtml,
} from "@rdmakit/scenario/report"
import type { Picture, Scale, Sweep } from "./Claim.ts"
import type { EvaluatedClaim, EvaluatedFigure, Tally } from "./Evaluation.ts"
import { figureTableHtml } from "./FigureTable.ts"
import { packetsHtml } from "./PacketBars.ts"
import { claimsJson } from "./tables.ts"
import { numberText, publishedText, unitOf, widthText } from "./text.ts"

const SYSTEMS_MAX = 6

/**
 * One page with a picture for each figure and every number beside the published one. It needs nothing besides itself and
 * no script; the numbers stand in it as JSON too (`<script type="application/json" id="data">`).
 */
export const claimsPage = (
  figures: ReadonlyArray<EvaluatedFigure>,
  tally: Tally,
  scale: Scale,
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>Published claims, measured · rdmakit</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>Published claims, measured</h1>
<p>${scale === "quick" ? "The quick set: less simulated time than the sources have, and for some figures a smaller network, which each says. rdmakit claims --full runs longer." : "The full set."} A number that was read in its source is within when it is 10 % off at most, one digitised from a picture 25 %; of remembered ones only the order counts. Where sources have words alone there is a bar of ours, and no number is published. Noise is how far the public HPCC simulator is from itself under other seeds.</p>
${factsHtml(tally)}
</header>
<main>
${figures.map(figureHtml).join("\n")}
</main>
<script type="application/json" id="data">${jsonForPage(claimsJson(figures, tally, scale))}</script>
</body>
</html>
`

const factsHtml = (tally: Tally): string => {
  const facts: ReadonlyArray<readonly [string, string]> = [
    ["Numbers published", String(tally.numbers)],
    ["Within", String(tally.within)],
    ["Outside", String(tally.outside)],
    ["Shape only", String(tally.shapeOnly)],
    ["Calibrated", String(tally.calibrated)],
    ["Bars of ours met", `${tally.met} of ${tally.met + tally.missed}`],
    ["Orders right", `${tally.pairs - tally.explained - tally.reversed} of ${tally.pairs}`],
    ["Orders not shown, below the noise", String(tally.notShown)],
    ["Reversed, explained", String(tally.explained)],
    ["Reversed", String(tally.reversed)],
  ]
  return `<dl>\n${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join("\n")}\n</dl>`
}

const figureHtml = (evaluated: EvaluatedFigure): string => {
  const { figure, less, claims } = evaluated
  const short = less === undefined ? "" : ` Run for ${less}.`
  return `<section id="${figure.id}"><h2>${escapeHtml(figure.title)}</h2>
<p>${escapeHtml(`${figure.id} · ${figure.source}, ${figure.section}`)}</p>
<p>${escapeHtml(figure.about + short)}</p>
${packetsHtml(evaluated)}${figureTableHtml(evaluated)}${chartsOf(evaluated).map(chartHtml).join("\n")}
${tableHtml(["claim", "system", "published", "measured", "noise", "verdict"], claims.flatMap(cellsOf))}
${notesOf(claims)
  .map((note) => `<p>${escapeHtml(note)}</p>`)
  .join("\n")}</section>`
}

const cellsOf = ({ claim, unit, noise, rows }: EvaluatedClaim): ReadonlyArray<ReadonlyArray<string>> =>
  rows.map(({ system, published, measured, verdict }, index) => [
    index === 0 ? claim.id : "",
    system,
    `${published !== undefined && claim.mark === "bar" ? "bar: " : ""}${publishedText(published, unit)}`,
    numberText(measured, unit),
    index === 0 ? widthText(noise) : "",
    verdict ?? "",
  ])

/** What the claims are, and why numbers are outside and orders reversed. */
const notesOf = (claims: ReadonlyArray<EvaluatedClaim>): ReadonlyArray<string> =>
  claims.flatMap(({ claim, rows, order }) => {
    const reasons = new Map<string, Array<string>>()
    for (const { system, reason } of rows) {
      if (reason !== undefined) reasons.set(reason, [...(reasons.get(reason) ?? []), system])
    }
    return [
      `${claim.id}: ${claim.what}; ${claim.mark}.`,
      ...[...reasons].map(([reason, systems]) => `${claim.id}, ${systems.join(", ")}: ${reason}.`),
      ...order.reversals.map(
        ({ lower, higher, reason = "no reason is known" }) =>
          `${claim.id}: ${lower} does not come below ${higher}, as published: ${reason}.`,
      ),
      ...order.notShown.map(
        ([lower, higher]) =>
          `${claim.id}: ${lower} comes below ${higher}, as published, but by no more than the noise: not shown.`,
      ),
    ]
  })

interface Chart {
  readonly title: string
  readonly spec: ChartSpec
}

const chartHtml = ({ title, spec }: Chart): string => `<h3>${escapeHtml(title)}</h3>
${legendHtml(spec.lines)}
${lineChart(spec)}`

const largest = (lines: ReadonlyArray<Line>, index: 0 | 1): number =>
  lines.reduce((most, { points }) => points.reduce((own, point) => Math.max(own, point[index] || 0), most), 0)

/** The figure's own pictures, and published beside measured for each claim of three systems to six. */
const chartsOf = ({ figure, runs, claims }: EvaluatedFigure): ReadonlyArray<Chart> => {
  const own = figure.pictures.map((picture, index): Chart => {
    const chosen = "systems" in picture ? picture.systems : undefined
    const lines = runs
      .filter(({ system }) => chosen === undefined || chosen.includes(system))
      .slice(0, SYSTEMS_MAX)
      .map(({ system, curves }) => ({ name: system, points: curves[index]!.map(([x, y]) => [x, y] as const) }))
    return { title: picture.title, spec: specOf(picture, lines, figure.sweep) }
  })
  const compared = claims.filter(
    ({ rows }) => rows.length <= SYSTEMS_MAX && rows.filter(({ published }) => published !== undefined).length >= 3,
  )
  const charts = [
    ...own.filter(({ spec }) => spec.lines.some(({ points }) => points.length > 0)),
    ...compared.map(comparison),
  ]
  return charts.length > 0 || figure.table !== undefined ? charts : claims.slice(0, 1).map(comparison)
}

const specOf = (picture: Picture, lines: ReadonlyArray<Line>, sweep: Sweep | undefined): ChartSpec => {
  const description = picture.title
  if (picture.kind === "by-point") return byPoint(picture, lines, sweep!)
  if (picture.kind === "bench") return fromBench(picture, lines)
  if (picture.kind === "slowdown-by-size") return bySize(description, lines)
  if (picture.kind === "overhead-by-size") return overheadBySize(description, lines)
  if (picture.kind === "queue-distribution") {
    const [name, size] = unitOf(largest(lines, 0), "B")
    const x = { label: `queue, ${name}`, unit: size }
    return { description, x, y: { label: "share of time", unit: 1 }, lines, steps: true }
  }
  if (picture.kind === "completion-distribution") return byShare(description, lines)
  if (picture.kind === "link-loads") return linkLoads(description, lines)
  const [timeName, time] = unitOf(largest(lines, 0), "s")
  const kind = picture.kind === "queue" ? "B" : "bit/s"
  const [name, size] = unitOf(largest(lines, 1), kind)
  const x = { label: `time, ${timeName}`, unit: time }
  return {
    description,
    x,
    y: { label: `${picture.kind === "goodputs" ? "goodput of a flow" : picture.kind}, ${name}`, unit: size },
    lines,
    fromLeast: "from" in picture && picture.from !== undefined,
  }
}

/** Points of the sweep are the places of the x axis. */
const byPoint = (picture: Picture & { kind: "by-point" }, lines: ReadonlyArray<Line>, sweep: Sweep): ChartSpec => {
  const { title, unit, logarithmic = false } = picture
  const [name, size] = unitOf(largest(lines, 1), unit)
  return {
    description: title,
    x: { label: sweep.what, unit: 1 },
    y: { label: name, unit: size, logarithmic },
    lines,
    // Those of the full set alone come last, and are not there in the quick one.
    places: sweep.points.slice(0, Math.max(...lines.map(({ points }) => points.length))).map((point) => point.name),
  }
}

const fromBench = ({ title, x, y }: Picture & { kind: "bench" }, lines: ReadonlyArray<Line>): ChartSpec => {
  const [name, size] = unitOf(largest(lines, 1), y.unit)
  return {
    description: title,
    x: { label: x.label, unit: 1 },
    y: { label: name, unit: size, logarithmic: y.logarithmic ?? false },
    lines,
    places: x.places,
  }
}

/** The ends of the ranges that any system has are the places of the x axis; an end of 0 is none. */
const bySize = (description: string, lines: ReadonlyArray<Line>): ChartSpec => {
  const ends = [...new Set(lines.flatMap(({ points }) => points.map(([end]) => end)))]
  ends.sort((a, b) => (a || Number.POSITIVE_INFINITY) - (b || Number.POSITIVE_INFINITY))
  return {
    description,
    x: { label: "flow size up to", unit: 1 },
    y: { label: "slowdown", unit: 1, logarithmic: true },
    lines: lines.map(({ name, points }) => ({
      name,
      points: points.map(([end, y]) => [ends.indexOf(end), y] as const),
    })),
    places: ends.map((end) => (end === 0 ? "any" : numberText(end, "B").replace(" ", ""))),
  }
}

const byShare = (description: string, lines: ReadonlyArray<Line>): ChartSpec => {
  const [name, size] = unitOf(largest(lines, 1), "s")
  return {
    description,
    x: { label: "share of flows", unit: 1 },
    y: { label: `completion within, ${name}`, unit: size, logarithmic: true },
    lines,
  }
}

/** Links are the places of the x axis. */
const linkLoads = (description: string, lines: ReadonlyArray<Line>): ChartSpec => {
  const [name, size] = unitOf(largest(lines, 1), "B")
  return {
    description,
    x: { label: "link", unit: 1 },
    y: { label: `carried, ${name}`, unit: size },
    lines,
    places: (lines[0]?.points ?? []).map((_, place) => String(place)),
    dots: true,
  }
}

/** Message sizes are the places of the x axis. */
const overheadBySize = (description: string, lines: ReadonlyArray<Line>): ChartSpec => ({
  description,
  x: { label: "message", unit: 1 },
  y: { label: "octets that are no payload, %", unit: 0.01 },
  lines: lines.map(({ name, points }) => ({ name, points: points.map(([, y], place) => [place, y] as const) })),
  places: (lines[0]?.points ?? []).map(([bytes]) => binarySize(bytes)),
})

/** Of a power of two. */
const binarySize = (bytes: number): string =>
  bytes >= 2 ** 20 ? `${bytes / 2 ** 20}MiB` : bytes >= 1024 ? `${bytes / 1024}KiB` : `${bytes}B`

/** Published beside measured, a place for each system. */
const comparison = ({ claim, unit, rows }: EvaluatedClaim): Chart => {
  const middle = (index: number): number => {
    const { published } = rows[index]!
    if (published === undefined) return Number.NaN
    if (typeof published === "number") return published
    const { atLeast, atMost } = published
    return atLeast === undefined ? atMost! : atMost === undefined ? atLeast : (atLeast + atMost) / 2
  }
  const lines: ReadonlyArray<Line> = [
    { name: "published", points: rows.map((_, index) => [index, middle(index)] as const) },
    { name: "measured", points: rows.map(({ measured }, index) => [index, measured] as const) },
  ]
  const values = lines.flatMap(({ points }) => points.map(([, y]) => y)).filter((y) => y > 0)
  const spread = Math.max(...values) / Math.min(...values)
  const logarithmic = spread > 10 && lines.every(({ points }) => points.every(([, y]) => !(y <= 0)))
  const [name, size] = unitOf(largest(lines, 1), unit)
  const spec: ChartSpec = {
    description: `${claim.what}: published beside measured.`,
    x: { label: "", unit: 1 },
    y: { label: name, unit: size, logarithmic },
    lines,
    places: rows.map(({ system }) => system),
    dots: true,
  }
  return { title: `${claim.what}: published beside measured`, spec }
}
