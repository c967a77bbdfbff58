import type { RunOutcome } from "@rdmakit/fabric"
import { formatRate, formatSize, formatTime } from "@rdmakit/units"
import { fairnessByHost, type HostFairness, receiverNames } from "../Fairness.ts"
import type { Recorder } from "../Recorder.ts"
import { slowdownByWorkload, slowdownRows, slowdownsOf } from "../Slowdowns.ts"
import { type ChartSpec, lineChart } from "./Chart.ts"
import {
  cumulative,
  fairnessLines,
  type Line,
  linkUses,
  pausedLine,
  pausedPorts,
  queueLines,
  rateLines,
  rateRange,
  shareUpTo,
} from "./Figures.ts"
import { overlapsOf } from "./Overlap.ts"
import { style } from "./style.ts"
import { escapeHtml, grouped, jsonForPage, percent, rateUnit, ratio, shortTime, sizeUnit, timeUnit } from "./text.ts"

export interface ReportInput {
  readonly title: string
  /** What was run, as the user named it. */
  readonly input: string
  readonly outcome: RunOutcome
  /** That watched the run. */
  readonly recorder: Recorder
  /** What slowdowns are against, in words: "the time alone in the network". */
  readonly ideal: string
}

/** Unfinished flows that are named. */
const NAMED_MAX = 20
/** With more flows than lines, one chart more says how all of them fared. */
const LINES_MAX = 6

/**
 * One page that shows a run: slowdown by size, queues, rates, pauses, link use. It needs nothing besides itself and no
 * script; what its charts show stands in it as JSON too (`<script type="application/json" id="data">`). The same run
 * gives the same page.
 */
export const reportPage = (report: ReportInput): string => {
  const { title, input, outcome, recorder } = report
  const fairness = fairnessByHost(recorder)
  const charts = chartsOf(report, fairness)
  const data = {
    slowdown: rowsData(slowdownRows(outcome)),
    slowdownByWorkload: slowdownByWorkload(outcome).map(({ rows, ...of }) => ({ ...of, slowdown: rowsData(rows) })),
    samplePeriodPs: recorder.period,
    charts: Object.fromEntries(charts.map(({ id, spec }) => [id, spec.lines])),
    pausedPorts: pausedPorts(recorder, outcome.simulatedPs),
    links: linkUses(recorder, outcome),
    fairness,
  }
  const state = outcome.partial ? " · stopped before its end: partial results" : ""
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)} · rdmakit</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(`${input} · ${outcome.transport} · ${outcome.controller} · seed ${outcome.seed} · digest ${outcome.digest}${state}`)}</p>
${factsHtml(outcome)}
</header>
<main>
${[slowdownHtml(report, charts), workloadsHtml(outcome), ...charts.slice(1).map(chartHtml), pausedHtml(data.pausedPorts, outcome), linksHtml(data.links), fairnessHtml(data.fairness), restHtml(outcome)].join("\n")}
</main>
<script type="application/json" id="data">${jsonForPage(data)}</script>
</body>
</html>
`
}

const rowsData = (rows: ReturnType<typeof slowdownRows>) =>
  rows.map(({ endBytes, ...stats }) => ({ upToBytes: endOf(endBytes), ...stats }))

/** JSON has no infinity: the last range has no end, and all flows are "all". */
const endOf = (endBytes: number): number | string | null =>
  Number.isNaN(endBytes) ? "all" : Number.isFinite(endBytes) ? endBytes : null

const factsHtml = (outcome: RunOutcome): string => {
  const drops = Object.entries(outcome.dropsByReason).map(([reason, count]) => `${grouped(count)} ${reason}`)
  const facts: ReadonlyArray<readonly [string, string]> = [
    ["Flows finished", `${grouped(outcome.flowsFinished)} of ${grouped(outcome.flowsTotal)}`],
    ["Simulated time", shortTime(outcome.simulatedPs)],
    ["Packet-hops", grouped(outcome.packetHops)],
    ["Dropped", drops.length === 0 ? "none" : drops.join(", ")],
    ["Sent again", grouped(outcome.retransmissions)],
    ["Pauses", grouped(outcome.pfcPauses)],
    ["Port time paused", percent(outcome.pfcPauseFraction)],
  ]
  const items = facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`)
  return `<dl>\n${items.join("\n")}\n</dl>`
}

interface Chart {
  readonly id: string
  readonly title: string
  readonly caption: string
  readonly spec: ChartSpec
}

const most = (lines: ReadonlyArray<Line>, index: 0 | 1): number =>
  lines.reduce(
    (largest, { points }) =>
      points.reduce((own, point) => (Number.isFinite(point[index]) ? Math.max(own, point[index]) : own), largest),
    0,
  )

/** Every chart of the page, slowdown first; those that would be empty are left out. */
const chartsOf = (
  { outcome, recorder, ideal }: ReportInput,
  fairness: ReadonlyArray<HostFairness>,
): ReadonlyArray<Chart> => {
  const every = formatTime(recorder.period)
  const overTime = (
    id: string,
    title: string,
    caption: string,
    lines: ReadonlyArray<Line>,
    y: ChartSpec["y"],
  ): Chart => {
    const [name, unit] = timeUnit(most(lines, 0))
    const x = { label: `time, ${name}`, unit }
    return { id, title, caption, spec: { description: `${title}. ${caption}`, x, y, lines } }
  }
  const queues = queueLines(recorder)
  const rates = rateLines(recorder)
  const cdf =
    recorder.queueBytes.weight === 0
      ? []
      : [cumulative("any one port", recorder.queueBytes), cumulative("the longest of all", recorder.longestBytes)]
  const [sizeName, size] = sizeUnit(most(queues, 1))
  const [cdfName, cdfSize] = sizeUnit(most(cdf, 0))
  const [rateName, rate] = rateUnit(most(rates, 1))
  const rateAxis = { label: `rate, ${rateName}`, unit: rate }
  const charts: Array<Chart> = [slowdownChart(outcome, ideal)]
  charts.push(
    overTime(
      "queues",
      "Queues over time",
      `Bytes waiting at the switch ports that held most, the longest in each stretch; sampled every ${every}.`,
      queues,
      { label: `queue, ${sizeName}`, unit: size },
    ),
    {
      id: "queueCdf",
      title: "Queue lengths",
      caption: "Share of the time, while any flow was under way, in which a queue was at most so long; to 1 %.",
      spec: {
        description: "Cumulative distribution of queue lengths over time.",
        x: { label: `queue, ${cdfName}`, unit: cdfSize },
        y: { label: "share of time", unit: 1 },
        lines: cdf,
        steps: true,
      },
    },
    overTime(
      "rates",
      "Rates of the largest flows",
      `What their controllers were set to; sampled every ${every}.`,
      rates,
      rateAxis,
    ),
  )
  if (outcome.flowsTotal > LINES_MAX) {
    const caption = "The highest, middle and lowest rate of the flows under way at each moment."
    charts.push(overTime("rateRange", "Rates of all flows", caption, rateRange(recorder), rateAxis))
  }
  if (fairness.length > 0) {
    const caption =
      "Jain's index of the rates of flows to one host, while two or more were under way: 1 where all are alike."
    const y = { label: "Jain's index", unit: 1 }
    charts.push(overTime("fairnessOverTime", "Fairness over time", caption, fairnessLines(recorder, fairness), y))
  }
  if (outcome.pfcPauses > 0) {
    const caption = "Share of all ports' time in which at least one priority was paused."
    const y = { label: "paused, %", unit: 0.01 }
    charts.push(overTime("paused", "Pauses over time", caption, [pausedLine(recorder)], y))
  }
  return charts.filter(({ id, spec }) => id === "slowdown" || spec.lines.some(({ points }) => points.length > 0))
}

/** Percentiles by size; where all flows are of one range, how their slowdowns are spread. */
const slowdownChart = (outcome: RunOutcome, ideal: string): Chart => {
  const rows = slowdownRows(outcome).filter(({ endBytes }) => !Number.isNaN(endBytes))
  const title = "Slowdown by flow size"
  const caption = `Completion time ÷ ${ideal}, of finished flows. A percentile is the value at index ⌊n·p⌋ of n sorted ones.`
  if (rows.length < 2) {
    const spec: ChartSpec = {
      description: "Cumulative distribution of the flows' slowdowns; the table has their percentiles.",
      x: { label: "slowdown", unit: 1 },
      y: { label: "share of flows", unit: 1 },
      lines: [shareUpTo("flows", slowdownsOf(outcome))],
      fromLeast: true,
      steps: true,
    }
    return { id: "slowdown", title, caption, spec }
  }
  const lines = (["p50", "p95", "p99"] as const).map((name) => ({
    name,
    points: rows.map((row, index) => [index, row[name]] as const),
  }))
  const spec: ChartSpec = {
    description: "Slowdown percentiles by flow size; the table has the numbers.",
    x: { label: "flow size up to", unit: 1 },
    y: { label: "slowdown", unit: 1 },
    lines,
    places: rows.map(({ endBytes }) => sizeText(endBytes)),
  }
  return { id: "slowdown", title, caption, spec }
}

const sizeText = (bytes: number): string =>
  Number.isNaN(bytes) ? "all" : Number.isFinite(bytes) ? formatSize(bytes) : "any"

const chartHtml = ({ id, title, caption, spec }: Chart): string =>
  `<section id="${id}"><h2>${escapeHtml(title)}</h2>${legendHtml(spec.lines)}
${lineChart(spec)}
<p>${escapeHtml(caption)}</p></section>`

/** The names of a chart's lines, each beside its colour; a line that lies on another is dashed, and says on which. */
export const legendHtml = (lines: ReadonlyArray<Line>): string => {
  if (lines.length === 0) return ""
  const overlaps = overlapsOf(lines)
  const items = lines.map(({ name }, index) => {
    const overlap = overlaps[index]
    if (overlap === undefined) return `<li><i class="c${index}"></i>${escapeHtml(name)}</li>`
    const on = `${overlap.isWhole ? "on" : "partly on"} ${lines[overlap.on]!.name}`
    return `<li><i class="c${index} dashed"></i>${escapeHtml(`${name} (${on})`)}</li>`
  })
  return `<ul class="legend">${items.join("")}</ul>`
}

/** A table that scrolls by itself where it is too wide. `prose`: the column of long texts. */
export const tableHtml = (
  header: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  isProse: (column: number) => boolean = () => false,
): string => {
  const cells = (row: ReadonlyArray<string>): string =>
    row.map((cell, index) => `<td${isProse(index) ? ' class="prose"' : ""}>${escapeHtml(cell)}</td>`).join("")
  return `<div class="scroll"><table><thead><tr>${header.map((cell) => `<th>${escapeHtml(cell)}</th>`).join("")}</tr></thead>
<tbody>${rows.map((row) => `<tr>${cells(row)}</tr>`).join("\n")}</tbody></table></div>`
}

const slowdownHtml = ({ outcome }: ReportInput, [chart]: ReadonlyArray<Chart>): string => {
  const { title, caption, spec } = chart!
  if (outcome.flowsFinished === 0) return `<section id="slowdown"><h2>${title}</h2><p>No flow finished.</p></section>`
  const rows = slowdownRows(outcome).map(({ endBytes, count, p50, p95, p99, mean }) => [
    sizeText(endBytes),
    grouped(count),
    ...[p50, p95, p99, mean].map(ratio),
  ])
  return `<section id="slowdown"><h2>${title}</h2>${legendHtml(spec.lines)}
${lineChart(spec)}
${tableHtml(["size ≤", "flows", "p50", "p95", "p99", "mean"], rows)}
<p>${escapeHtml(caption)}</p></section>`
}

/** How each workload fared, where there are several: all sizes, and each. */
const workloadsHtml = (outcome: RunOutcome): string => {
  const workloads = slowdownByWorkload(outcome)
  const rest = workloads.length - NAMED_MAX
  const rows = workloads
    .slice(0, NAMED_MAX)
    .flatMap(({ workload, rows }) =>
      [rows.at(-1)!, ...rows.slice(0, -1)].map(({ endBytes, count, p50, p95, p99, mean }) => [
        workload === "" ? "others" : workload,
        sizeText(endBytes),
        grouped(count),
        ...[p50, p95, p99, mean].map(ratio),
      ]),
    )
  if (rows.length === 0) return ""
  return `<section id="workloads"><h2>Slowdown by workload</h2>
${tableHtml(["workload", "size ≤", "flows", "p50", "p95", "p99", "mean"], rows)}
<p>The flows of each workload by themselves.${rest > 0 ? ` And of ${grouped(rest)} more, in summary.json.` : ""}</p></section>`
}

const pausedHtml = (ports: ReturnType<typeof pausedPorts>, { pfcPauses }: RunOutcome): string => {
  const title = "Pauses by port"
  if (pfcPauses === 0) return `<section id="pausedPorts"><h2>${title}</h2><p>No port was paused.</p></section>`
  const rows = ports.map(({ port, pauses, pausedPs, fraction }) => [
    port,
    grouped(pauses),
    shortTime(pausedPs),
    percent(fraction),
  ])
  return `<section id="pausedPorts"><h2>${title}</h2>
${tableHtml(["port", "pauses", "paused", "of the time"], rows)}
<p>Ports that were paused for longest, by the node that they are on and the one that they lead to.</p></section>`
}

const linksHtml = (links: ReturnType<typeof linkUses>): string => {
  const rows = links.map(({ port, rateBps, sentBytes, use }) => [
    port,
    formatRate(rateBps),
    `${grouped(sentBytes)} B`,
    percent(use),
  ])
  if (rows.length === 0) return ""
  return `<section id="links"><h2>Link use</h2>
${tableHtml(["link", "rate", "sent", "used"], rows)}
<p>The links that were used most, each way apart: bytes on the wire in the simulated time.</p></section>`
}

const FAIRNESS_ROWS = 10

const fairnessHtml = (hosts: ReadonlyArray<HostFairness>): string => {
  if (hosts.length === 0) return ""
  const told = hosts.slice(0, FAIRNESS_ROWS)
  const names = receiverNames(told)
  const rows = told.map(({ flows, meanIndex, leastIndex, convergencePs }, row) => [
    names[row]!,
    grouped(flows),
    ratio(meanIndex),
    ratio(leastIndex),
    convergencePs === null ? "–" : shortTime(convergencePs),
  ])
  return `<section id="fairness"><h2>Fairness at the receivers</h2>
${tableHtml(["to host", "flows", "Jain's index", "least", "converged in"], rows)}
<p>Of the rates of flows of one priority to one host, while two or more were under way. Converged: from the last start until all rates stay within a tenth of their mean, before one ends.</p></section>`
}

const restHtml = ({ unfinished, notes }: RunOutcome): string => {
  const parts: Array<string> = []
  if (unfinished.length > 0) {
    const rows = unfinished
      .slice(0, NAMED_MAX)
      .map(({ flow, source, destination, bytes, reason }) => [
        String(flow),
        `${source} → ${destination}`,
        `${grouped(bytes)} B`,
        reason,
      ])
    const rest = unfinished.length - NAMED_MAX
    parts.push(
      `<section class="all" id="unfinished"><h2>Unfinished flows</h2>
${tableHtml(["flow", "hosts", "size", "reason"], rows, (column) => column === 3)}
${rest > 0 ? `<p>And ${grouped(rest)} more, in summary.json.</p>` : ""}</section>`,
    )
  }
  if (notes.length > 0) {
    const items = notes.map((note) => `<p>${escapeHtml(note)}</p>`)
    parts.push(`<section class="all" id="notes"><h2>Notes</h2>${items.join("")}</section>`)
  }
  return parts.join("\n")
}
