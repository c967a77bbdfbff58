import type { TrComparison } from "@rdmakit/ns3"
import { counted, grouped } from "./Figures.ts"

/** What came of comparing two traces, in lines. */
export const traceReport = (comparison: TrComparison): ReadonlyArray<string> => {
  const { header, countA, countB, identical, differing, first, rest } = comparison
  const lines = header.map((line) => `headers differ: ${line}`)
  const shared = Math.min(countA, countB)
  lines.push(`${counted(shared, "event")} in both: ${grouped(identical)} identical, ${grouped(differing)} different`)
  if (first !== undefined) {
    const fields = first.fields.map(({ field, a, b }) => `${field} (${fieldText(field, a)} and ${fieldText(field, b)})`)
    lines.push(
      `first event that differs: number ${grouped(first.index + 1)}`,
      `  A  ${first.a}`,
      `  B  ${first.b}`,
      `  in ${fields.join(", ")}`,
    )
  }
  if (countA !== countB) {
    const [longer, more] = countA > countB ? ["A", countA - countB] : ["B", countB - countA]
    lines.push(`${longer} goes on for ${counted(more, "event")}${rest === undefined ? "" : ", first"}`)
    if (rest !== undefined) lines.push(`  ${longer}  ${rest}`)
  }
  return lines
}

/** Addresses in hexadecimal, as everywhere in a trace. */
const fieldText = (field: string, value: number): string =>
  field === "sip" || field === "dip" ? value.toString(16).padStart(8, "0") : String(value)
