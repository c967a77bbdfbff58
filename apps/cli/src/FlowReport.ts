import type { Stats } from "@rdmakit/metrics"
import { compareFct, type FctComparison, type Ns3Fcts, slowdownBuckets } from "@rdmakit/ns3"
import { counted, difference, grouped, percent, ratio, sizeLabel } from "./Figures.ts"
import { type Column, tableLines } from "./Table.ts"

/** Missing flows that are named one by one. */
const NAMED_MAX = 5

interface Row {
  readonly endBytes: number
  readonly a: Stats
  readonly b: Stats
}

/** Two files of completion times, and what came of comparing them. */
export class FlowReport {
  readonly same: boolean
  private readonly a: Ns3Fcts
  private readonly b: Ns3Fcts
  private readonly comparison: FctComparison
  private readonly total: Row

  constructor(a: Ns3Fcts, b: Ns3Fcts) {
    this.a = a
    this.b = b
    this.comparison = compareFct(a, b)
    const { identicalLines } = this.comparison
    this.same = identicalLines === a.count && identicalLines === b.count
    const ends = [Number.POSITIVE_INFINITY]
    const [allA] = slowdownBuckets(a, { ends })
    const [allB] = slowdownBuckets(b, { ends })
    this.total = { endBytes: Number.NaN, a: allA!, b: allB! }
  }

  lines(columns: number, bold: (text: string) => string): ReadonlyArray<string> {
    const { matched, matchedBy, identical, identicalLines, withinOnePercent } = this.comparison
    const agreement = `${counted(matched, "flow")} in both: ${grouped(identical)} identical (${percent(identical, matched)}), ${grouped(withinOnePercent)} within 1 % (${percent(withinOnePercent, matched)})`
    const lines = [agreement]
    if (matchedBy === "start") {
      lines.push("note: no flow has the same ports in both: flows are matched by their hosts, sizes and starts")
    } else if (identical !== identicalLines) {
      const others = counted(identical - identicalLines, "flow")
      lines.push(`${others} of the same completion time, but of another size, start or standalone time`)
    }
    lines.push(...this.worstLines(), ...this.missingLines(), "", ...this.table(columns, bold))
    return lines
  }

  json() {
    const { worst, buckets, missingInA, missingInB, identicalLines, ...agreement } = this.comparison
    return {
      flows: {
        a: this.a.count,
        b: this.b.count,
        ...agreement,
        identicalInEveryField: identicalLines,
        worst:
          worst === undefined
            ? null
            : {
                ...flowJson(this.a, worst.indexA),
                fctNsA: worst.fctNsA,
                fctNsB: worst.fctNsB,
                difference: finite((worst.fctNsB - worst.fctNsA) / worst.fctNsA),
              },
        missingInA: missingInA.map((index) => flowJson(this.b, index)),
        missingInB: missingInB.map((index) => flowJson(this.a, index)),
      },
      slowdown: [...buckets, this.total].map(rowJson),
    }
  }

  private worstLines(): ReadonlyArray<string> {
    const { worst } = this.comparison
    if (worst === undefined) return []
    const { indexA, fctNsA, fctNsB } = worst
    const times = `A ${grouped(fctNsA)} ns, B ${grouped(fctNsB)} ns (${difference(fctNsA, fctNsB)})`
    return [`most different: ${flowText(this.a, indexA)}: ${times}`]
  }

  private missingLines(): ReadonlyArray<string> {
    const { missingInA, missingInB } = this.comparison
    return [...missingText("A", this.a, missingInB), ...missingText("B", this.b, missingInA)]
  }

  private table(columns: number, bold: (text: string) => string): ReadonlyArray<string> {
    const rows = this.comparison.buckets.filter(({ a, b }) => a.count + b.count > 0)
    const sameCounts = rows.every(({ a, b }) => a.count === b.count)
    const percentiles = ["p50", "p95", "p99"] as const
    const head: ReadonlyArray<Column> = [
      { header: "size ≤" },
      ...(sameCounts ? [{ header: "flows" }] : [{ header: "flows A" }, { header: "flows B" }]),
      ...percentiles.flatMap((name, index) => [
        { header: `${name} A`, droppable: index },
        { header: "B", droppable: index },
        { header: "diff", droppable: index },
      ]),
    ]
    const cells = [...rows, this.total].map(({ endBytes, a, b }) => [
      Number.isNaN(endBytes) ? "all" : sizeLabel(endBytes),
      ...(sameCounts ? [grouped(a.count)] : [grouped(a.count), grouped(b.count)]),
      ...percentiles.flatMap((name) => [ratio(a[name]), ratio(b[name]), difference(a[name], b[name])]),
    ])
    return [bold("Slowdown by flow size"), ...tableLines(head, cells, { columns, header: bold })]
  }
}

const missingText = (side: string, fcts: Ns3Fcts, missing: ReadonlyArray<number>): ReadonlyArray<string> => {
  if (missing.length === 0) return []
  const named = missing.slice(0, NAMED_MAX).map((index) => `  ${flowText(fcts, index)}`)
  const rest = missing.length > NAMED_MAX ? [`  and ${grouped(missing.length - NAMED_MAX)} more`] : []
  return [`only in ${side}: ${counted(missing.length, "flow")}`, ...named, ...rest]
}

const flowText = (fcts: Ns3Fcts, index: number): string => {
  const { src, dst, sport, dport, sizeBytes, startNs } = flowJson(fcts, index)
  return `host ${src} port ${sport} to host ${dst} port ${dport}, ${grouped(sizeBytes)} bytes from ${grouped(startNs)} ns`
}

const flowJson = (fcts: Ns3Fcts, index: number) => ({
  src: fcts.src[index]!,
  dst: fcts.dst[index]!,
  sport: fcts.sport[index]!,
  dport: fcts.dport[index]!,
  sizeBytes: fcts.sizeBytes[index]!,
  startNs: fcts.startNs[index]!,
})

const rowJson = ({ endBytes, a, b }: Row) => ({
  upToBytes: Number.isNaN(endBytes) ? "all" : finite(endBytes),
  a: statsJson(a),
  b: statsJson(b),
  difference: {
    p50: finite((b.p50 - a.p50) / a.p50),
    p95: finite((b.p95 - a.p95) / a.p95),
    p99: finite((b.p99 - a.p99) / a.p99),
  },
})

const statsJson = ({ count, mean, p50, p95, p99 }: Stats) => ({
  count,
  mean: finite(mean),
  p50: finite(p50),
  p95: finite(p95),
  p99: finite(p99),
})

/** JSON has no infinity: the end of the last bucket and the percentiles of no flows are null. */
const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)
