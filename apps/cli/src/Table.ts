import { inOneLine } from "./Shown.ts"

/** One column of a table. */
export interface Column {
  readonly header: string
  /** Numbers go to the right, the default. */
  readonly align?: "left" | "right"
  /**
   * A narrow terminal drops the column with the highest number first, but before it those that have nothing to say;
   * columns without one stay.
   */
  readonly droppable?: number
}

export interface TableOptions {
  /** Characters in a line; infinite: every column is there, and no line is cut. */
  readonly columns: number
  /** Paints the line of headers. */
  readonly header?: (line: string) => string
}

const GAP = "  "
const ELLIPSIS = "…"
/** A cell without a value. */
const NOTHING = "-"

/** Writes a table of text, without borders: its lines, the headers first. Every row has a cell for each column. */
export const tableLines = (
  columns: ReadonlyArray<Column>,
  rows: Iterable<ReadonlyArray<string>>,
  options: TableOptions,
): ReadonlyArray<string> => [...lineByLine(columns, rows, options)]

/** The same a line at a time, of however many rows: they are gone through twice. */
export function* lineByLine(
  columns: ReadonlyArray<Column>,
  rows: Iterable<ReadonlyArray<string>>,
  options: TableOptions,
): Generator<string, void> {
  const widths = columns.map(({ header }) => header.length)
  const isEmpty = columns.map(() => true)
  for (const row of rows) {
    for (let index = 0; index < widths.length; index++) {
      const cell = row[index]!
      widths[index] = Math.max(widths[index]!, inOneLine(cell).length)
      isEmpty[index] &&= cell === NOTHING
    }
  }
  const kept = keptColumns(columns, widths, isEmpty, options.columns)
  const line = (cells: ReadonlyArray<string>): string => {
    const text = kept
      .map((index) => {
        const cell = inOneLine(cells[index]!)
        return columns[index]!.align === "left" ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!)
      })
      .join(GAP)
      .trimEnd()
    return text.length > options.columns ? `${text.slice(0, options.columns - 1)}${ELLIPSIS}` : text
  }
  const paint = options.header ?? ((text: string) => text)
  yield paint(line(columns.map(({ header }) => header)))
  for (const row of rows) yield line(row)
}

const keptColumns = (
  columns: ReadonlyArray<Column>,
  widths: ReadonlyArray<number>,
  isEmpty: ReadonlyArray<boolean>,
  room: number,
): Array<number> => {
  let kept = columns.map((_, index) => index)
  for (;;) {
    const width = kept.reduce((sum, index) => sum + widths[index]! + GAP.length, -GAP.length)
    const droppable = kept.filter((index) => columns[index]!.droppable !== undefined)
    if (width <= room || droppable.length === 0) return kept
    const isFull = (number: number): boolean =>
      droppable.some((index) => columns[index]!.droppable === number && !isEmpty[index])
    const empty = droppable.filter((index) => !isFull(columns[index]!.droppable!))
    const last = Math.max(...(empty.length > 0 ? empty : droppable).map((index) => columns[index]!.droppable!))
    kept = kept.filter((index) => columns[index]!.droppable !== last)
  }
}
