import { type Ns3Fcts, Ns3FormatError } from "@rdmakit/ns3"
import type { FlowRow } from "./FlowRows.ts"

/** The columns of `flows.csv` that a comparison needs, as its header names them. */
const columns = {
  src: "source",
  dst: "destination",
  sport: "source_port",
  dport: "destination_port",
  sizeBytes: "size_bytes",
  startPs: "start_ps",
  fctPs: "completion_ps",
  idealPs: "ideal_ps",
} as const
type Column = keyof typeof columns
/** What a flow is told by: all but how long it took. */
const isOfFlow = (column: Column): boolean => column !== "fctPs" && column !== "idealPs"

const PS_PER_NS = 1000
const HEAD = "flow,source,destination,"
const SHOWN_MAX = 60

/** Whether a file is a table of flows that `run` wrote: its header says so. */
export const isFlowsTable = (octets: Uint8Array): boolean =>
  new TextDecoder().decode(octets.subarray(0, HEAD.length)) === HEAD

/** A table's completion times, and its rows. */
export interface FlowsTable extends Ns3Fcts {
  readonly rows: ReadonlyArray<FlowRow>
}

/**
 * The finished flows of a `flows.csv`, as completion times: nanoseconds with their fractions, against the ideal time
 * in place of the simulator's standalone one; and what it says of all flows beside their times.
 *
 * Throws {@link Ns3FormatError} at what is no number, and at a line that was cut off.
 */
export const parseFlowsTable = (text: string, file: string): FlowsTable => {
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  const names = (lines[0] ?? "").trimEnd().split(",")
  const [statePlace, reasonPlace, priorityPlace] = ["state", "reason", "priority"].map((name) => names.indexOf(name))
  const places = Object.entries(columns).map(([column, name]) => {
    const place = names.indexOf(name)
    if (place < 0) throw fault(file, 1, "header", lines[0] ?? "", `a column ${name}`)
    return [column as Column, place] as const
  })
  const ofFlow = places.filter(([column]) => isOfFlow(column)).map(([, place]) => place)
  const finished: Array<Record<Column, number>> = []
  const rows: Array<FlowRow> = []
  for (let at = 1; at < lines.length; at++) {
    // A reason may have commas, but it is the last cell, and the numbers come before it.
    const cells = lines[at]!.trimEnd().split(",")
    const state = cells[statePlace!] ?? ""
    rows.push({
      flow: ofFlow.map((place) => cells[place]).join(","),
      priority: cells[priorityPlace!] ?? "",
      reason: state === "unfinished" ? cells.slice(reasonPlace!).join(",").replace(/^"|"$/g, "") : undefined,
    })
    if (state === "unfinished") continue
    if (state !== "finished") throw fault(file, at + 1, "state", state, "finished or unfinished")
    const row = {} as Record<Column, number>
    for (const [column, place] of places) {
      const cell = cells[place] ?? ""
      const value = Number(cell)
      if (cell === "" || !Number.isFinite(value)) throw fault(file, at + 1, columns[column], cell, "a number")
      row[column] = value
    }
    finished.push(row)
  }
  const whole = (column: Column) => Int32Array.from(finished, (row) => row[column])
  const number = (column: Column, unit = 1) => Float64Array.from(finished, (row) => row[column] / unit)
  return {
    rows,
    count: finished.length,
    form: "node",
    src: whole("src"),
    dst: whole("dst"),
    sport: whole("sport"),
    dport: whole("dport"),
    sizeBytes: number("sizeBytes"),
    startNs: number("startPs", PS_PER_NS),
    fctNs: number("fctPs", PS_PER_NS),
    standaloneFctNs: number("idealPs", PS_PER_NS),
    notes: [],
  }
}

const fault = (file: string, line: number, field: string, found: string, expected: string) =>
  new Ns3FormatError({ file, line, column: 1, field, found: found.slice(0, SHOWN_MAX), expected })
