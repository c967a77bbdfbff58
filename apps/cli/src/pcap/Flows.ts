import { type ConnectionRow, connectionRows, type FlowRow, flowRows } from "@rdmakit/analysis"
import { Effect } from "effect"
import { Exit, exitCodes } from "../Exit.ts"
import { grouped, quantity, short } from "../Figures.ts"
import { paintOf } from "../Paint.ts"
import { print, Screen, tell } from "../Screen.ts"
import { type Column, tableLines } from "../Table.ts"
import { type AnalysisInput, analyse } from "./Analysis.ts"
import { formatDuration } from "./Times.ts"

export interface FlowsInput extends AnalysisInput {
  readonly csv: boolean
}

/** The columns of the CSV, and the fields of each flow in JSON. */
const fields = [
  ...["source", "sourceQp", "destination", "qp", "transport", "packets", "wireBytes", "payloadBytes"],
  ...["firstFrame", "lastFrame", "startNs", "durationNs", "throughputBps", "messages", "messageBytes"],
  ...["messageBytesP50", "messageBytesMax", "ackP50Ns", "ackP99Ns", "ackMaxNs", "answerP50Ns", "answerP99Ns"],
  ...["pathMtu", "acks", "readBytes", "gaps", "missingPackets", "late", "copies", "repeated", "repeatsByNak"],
  ...[
    "repeatsByRnr",
    "repeatsByResponse",
    "repeatsByTimeout",
    "repeatsLate",
    "repeatsUnknown",
    "sequenceNaks",
    "rnrNaks",
    "fatalNaks",
  ],
  ...["rnrWaitedNs", "ecnCapable", "marked", "cnps", "psnWraps"],
] as ReadonlyArray<string> as ReadonlyArray<keyof FlowRow>

/** Prints what each direction of each queue pair did. */
export const flows = Effect.fnUntraced(function* (input: FlowsInput) {
  const { analysis, visited, only } = yield* analyse(input)
  analysis.end()
  const rows = flowRows(analysis, only)
  const connections = connectionRows(analysis)
  if (input.csv) {
    yield* print(fields.join(","))
    for (const row of rows) yield* print(fields.map((field) => cell(row[field])).join(","))
  } else if (input.json) {
    const ok = visited.fault === undefined
    const pauses = analysis.pauses.series.map(({ source, priority, pauses: count, pausedNs, longestNs, unended }) => ({
      ...{ source: analysis.observer.addresses.text(source), priority, pauses: count, pausedNs, longestNs, unended },
    }))
    yield* print(JSON.stringify({ file: visited.name, ok, flows: rows, connections, pauses, fault: visited.fault }))
  } else yield* tellFlows(rows, connections)
  if (visited.fault === undefined) return
  yield* tell(`warning: ${visited.fault}`)
  return yield* new Exit({ code: exitCodes.notWell })
})

const cell = (value: string | number | undefined): string => (value === undefined ? "" : String(value))

const columns: ReadonlyArray<Column> = [
  { header: "from", align: "left" },
  { header: "to", align: "left" },
  { header: "type", align: "left" },
  { header: "packets" },
  { header: "octets" },
  { header: "b/s", droppable: 7 },
  { header: "messages", droppable: 8 },
  { header: "ACK p50", droppable: 9 },
  { header: "p99", droppable: 10 },
  { header: "gaps", droppable: 1 },
  { header: "again", droppable: 2 },
  { header: "NAK", droppable: 3 },
  { header: "RNR", droppable: 4 },
  { header: "CE", droppable: 5 },
  { header: "CNP", droppable: 6 },
]

const hex = (qp: number | undefined, transport: string): string =>
  qp === undefined ? "?" : transport === "iWARP" ? String(qp) : `0x${qp.toString(16)}`

const cells = (row: FlowRow): ReadonlyArray<string> => {
  const { source, destination, qp, sourceQp, transport } = row
  const latency = (ns: number | undefined): string => (ns === undefined ? "-" : formatDuration(ns))
  const count = (value: number): string => (value === 0 ? "-" : grouped(value))
  return [
    `${source} ${hex(sourceQp, transport)}`,
    `${destination} ${hex(qp, transport)}`,
    transport,
    grouped(row.packets),
    quantity(row.payloadBytes, "B"),
    row.throughputBps === undefined ? "-" : short(row.throughputBps),
    count(row.messages),
    latency(row.ackP50Ns ?? row.answerP50Ns),
    latency(row.ackP99Ns ?? row.answerP99Ns),
    count(row.gaps),
    count(row.repeated),
    count(row.sequenceNaks + row.fatalNaks),
    count(row.rnrNaks),
    count(row.marked),
    count(row.cnps),
  ]
}

const connectionText = (row: ConnectionRow): string => {
  const { client, server, service, clientQp, serverQp, state, setupNs } = row
  const setup = setupNs === undefined ? "" : `set up in ${formatDuration(setupNs)}, `
  const one = hex(clientQp, "")
  const pair = serverQp === undefined ? `queue pair ${one}` : `queue pairs ${one} and ${hex(serverQp, "")}`
  return `frame ${row.requestFrame}  ${client} → ${server} ${service}, ${pair}: ${setup}${state}`
}

const tellFlows = Effect.fnUntraced(function* (
  rows: ReadonlyArray<FlowRow>,
  connections: ReadonlyArray<ConnectionRow>,
) {
  const { out } = yield* Screen
  const paint = paintOf(out)
  if (rows.length === 0) yield* print("no queue pair, and no stream of iWARP")
  else yield* print(tableLines(columns, rows.map(cells), { columns: out.columns, header: paint.bold }).join("\n"))
  if (connections.length > 0)
    yield* print(`\n${paint.bold("connections")}\n${connections.map(connectionText).join("\n")}`)
})
