import { escapeHtml, tableHtml } from "@rdmakit/scenario/report"
import type { EvaluatedFigure } from "./Evaluation.ts"
import { numberText } from "./text.ts"

/** A figure's table: what is published of each system in words, and the numbers that its runs gave. */
export const figureTableHtml = ({ figure, claims }: EvaluatedFigure): string => {
  const { table, systems } = figure
  if (table === undefined) return ""
  const names = systems.map(({ name }) => name)
  const cell = (row: NonNullable<typeof table>[number], system: string): string => {
    const numbers = row.numbers.flatMap(([id, words]) => {
      const evaluated = claims.find(({ claim }) => claim.id === id)
      const { measured = Number.NaN } = evaluated?.rows.find((each) => each.system === system) ?? {}
      return evaluated === undefined || Number.isNaN(measured)
        ? []
        : [words.replace("#", numberText(measured, evaluated.unit))]
    })
    return [row.published[system] ?? "", numbers.join(", ")].filter((part) => part !== "").join(": ")
  }
  const rows = table.map((row) => [row.name, ...names.map((system) => cell(row, system))])
  const runs = table.map(({ name, run }) => `<li>${escapeHtml(`${name}: ${run}.`)}</li>`)
  return `${tableHtml(["", ...names], rows, (column) => column > 0)}\n<ul class="notes">${runs.join("")}</ul>\n`
}
