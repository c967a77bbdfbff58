import { counted, grouped } from "./Figures.ts"

/** What a `flows.csv` says of a flow beside its times. */
export interface FlowRow {
  /** Hosts, ports, size and start, with commas between: the same in two runs of one flow. */
  readonly flow: string
  readonly priority: string
  /** Why it has not finished; undefined: it has. */
  readonly reason: string | undefined
}

/** Rows that are named one by one. */
const NAMED_MAX = 5

/** Rows of one side that have no like on the other. */
const onlyIn = (
  rows: ReadonlyArray<FlowRow>,
  others: ReadonlyArray<FlowRow>,
  textOf: (row: FlowRow) => string,
): ReadonlyArray<FlowRow> => {
  const left = new Map<string, number>()
  for (const row of others) left.set(textOf(row), (left.get(textOf(row)) ?? 0) + 1)
  return rows.filter((row) => {
    const count = left.get(textOf(row)) ?? 0
    left.set(textOf(row), count - 1)
    return count <= 0
  })
}

const isOpen = (row: FlowRow): boolean => row.reason !== undefined
const isFinished = (row: FlowRow): boolean => row.reason === undefined

/**
 * What two tables of flows say that completion times do not: which flows have not finished and how far they came, and
 * priorities.
 */
export class FlowRows {
  readonly same: boolean
  private readonly open: readonly [number, number]
  private readonly only: readonly [ReadonlyArray<FlowRow>, ReadonlyArray<FlowRow>]
  private readonly otherPriority: number

  constructor(a: ReadonlyArray<FlowRow>, b: ReadonlyArray<FlowRow>) {
    const open = [a.filter(isOpen), b.filter(isOpen)] as const
    const inFull = ({ flow, priority, reason }: FlowRow) => `${flow},${priority},${reason}`
    this.open = [open[0].length, open[1].length]
    this.only = [onlyIn(open[0], open[1], inFull), onlyIn(open[1], open[0], inFull)]
    const finished = [a.filter(isFinished), b.filter(isFinished)] as const
    const missing = onlyIn(finished[0], finished[1], ({ flow }) => flow).length
    this.otherPriority =
      onlyIn(finished[0], finished[1], ({ flow, priority }) => `${flow},${priority}`).length - missing
    this.same = this.only.every((rows) => rows.length === 0) && this.otherPriority === 0
  }

  lines(): ReadonlyArray<string> {
    const [a, b] = this.open
    const lines: Array<string> = []
    if (a + b > 0) {
      const alike = this.only.every((rows) => rows.length === 0) ? ", and they came as far" : ""
      lines.push("", `unfinished: ${counted(a, "flow")} in A, ${grouped(b)} in B${alike}`)
    }
    for (const [i, side] of ["A", "B"].entries()) lines.push(...namedRows(side, this.only[i]!))
    if (this.otherPriority > 0) lines.push(`${counted(this.otherPriority, "flow")} of another priority`)
    return lines
  }

  json() {
    const [unfinishedInA, unfinishedInB] = this.open
    const [onlyA, onlyB] = this.only
    return {
      unfinished: { a: unfinishedInA, b: unfinishedInB, onlyInA: onlyA.length, onlyInB: onlyB.length },
      otherPriority: this.otherPriority,
    }
  }
}

const wordsOf = (flow: string): string => {
  const [source, destination, sourcePort, destinationPort, bytes] = flow.split(",")
  return `host ${source} port ${sourcePort} to host ${destination} port ${destinationPort}, ${grouped(Number(bytes))} bytes`
}

const namedRows = (side: string, rows: ReadonlyArray<FlowRow>): ReadonlyArray<string> => {
  if (rows.length === 0) return []
  const named = rows.slice(0, NAMED_MAX).map(({ flow, reason }) => `  ${wordsOf(flow)}: ${reason}`)
  const rest = rows.length > NAMED_MAX ? [`  and ${grouped(rows.length - NAMED_MAX)} more`] : []
  return [`unfinished like this only in ${side}: ${counted(rows.length, "flow")}`, ...named, ...rest]
}
