import { defaultEnds, statsOf } from "@rdmakit/ns3"
import type { RunOutcome } from "@rdmakit/scenario"
import { formatTime } from "@rdmakit/units"
import { counted, grouped, percent, ratio, short, sizeLabel } from "./Figures.ts"
import { tableLines } from "./Table.ts"

/** Unfinished flows that are named one by one; flows.csv has them all. */
const UNFINISHED_MAX = 20

/** What a run took from the machine. */
export interface RunCost {
  readonly cpuSeconds: number
  readonly wallSeconds: number
  readonly peakRssBytes: number
}

/** What came of a run, in lines. */
export const runReport = (
  outcome: RunOutcome,
  cost: RunCost,
  columns: number,
  bold: (text: string) => string,
): ReadonlyArray<string> => [
  ...figureLines(outcome, cost),
  "",
  bold("Slowdown by flow size"),
  ...slowdownTable(outcome, columns, bold),
]

/** Why flows did not finish, in lines; none when all did. */
export const unfinishedLines = ({ unfinished, partial }: RunOutcome): ReadonlyArray<string> => {
  if (unfinished.length === 0) return []
  if (partial) return [`stopped with ${counted(unfinished.length, "flow")} unfinished`]
  const named = unfinished.slice(0, UNFINISHED_MAX).map(({ flow, source, destination, bytes, reason }) => {
    return `  flow ${flow}, host ${source} to host ${destination}, ${grouped(bytes)} bytes: ${reason}`
  })
  const rest = unfinished.length - UNFINISHED_MAX
  const more = rest > 0 ? [`  and ${grouped(rest)} more, in flows.csv`] : []
  return [`${counted(unfinished.length, "flow")} did not finish:`, ...named, ...more]
}

const figureLines = (outcome: RunOutcome, cost: RunCost): ReadonlyArray<string> => {
  const { controller, flowsFinished, flowsTotal, simulatedPs, packetHops, dropsByReason, retransmissions } = outcome
  const drops = Object.entries(dropsByReason).map(([reason, count]) => `${grouped(count)} ${reason}`)
  const pauses = `${counted(outcome.pfcPauses, "PFC pause")} (${pausedShare(outcome.pfcPauseFraction)} of port time)`
  const speed = cost.wallSeconds > 0 ? ` (${short(packetHops / cost.wallSeconds)}/s)` : ""
  return [
    `${controller}: ${grouped(flowsFinished)} of ${counted(flowsTotal, "flow")} finished in ${formatTime(simulatedPs)}`,
    `network: ${drops.length === 0 ? "no drops" : `drops: ${drops.join(", ")}`}, ${counted(retransmissions, "retransmission")}, ${pauses}`,
    `work: ${counted(packetHops, "packet-hop")}${speed}, ${cost.cpuSeconds.toFixed(1)} s of CPU, ${Math.round(cost.peakRssBytes / 1e6)} MB`,
  ]
}

const pausedShare = (share: number): string => percent(share, 1)

const slowdownTable = (outcome: RunOutcome, columns: number, bold: (text: string) => string): ReadonlyArray<string> => {
  const rows = slowdownRows(outcome).filter(({ count }) => count > 0)
  const head = ["size ≤", "flows", "mean", "p50", "p95", "p99", "max"].map((header, index) =>
    index === 2 ? { header, droppable: 0 } : { header },
  )
  const cells = rows.map(({ upToBytes, count, mean, p50, p95, p99, max }) => [
    upToBytes === "all" ? "all" : sizeLabel(upToBytes),
    grouped(count),
    ...[mean, p50, p95, p99, max].map(ratio),
  ])
  return tableLines(head, cells, { columns, header: bold })
}

/** Percentiles of slowdown by flow size, the last row over all flows. */
export const slowdownRows = ({ flows, idealPs }: RunOutcome) => {
  const slowdowns: Array<Array<number>> = defaultEnds.map(() => [])
  for (let i = 0; i < flows.finishedCount; i++) {
    const flow = flows.finishOrder[i]!
    const bucket = defaultEnds.findIndex((end) => flows.bytes[flow]! <= end)
    slowdowns[bucket]!.push(Math.max(1, flows.completionTime(flow) / idealPs[flow]!))
  }
  const row = (upToBytes: number | "all", values: ReadonlyArray<number>) => ({
    upToBytes,
    ...statsOf(values),
    max: values.length === 0 ? Number.NaN : values.reduce((max, value) => Math.max(max, value)),
  })
  return [...defaultEnds.map((end, index) => row(end, slowdowns[index]!)), row("all", slowdowns.flat())]
}
