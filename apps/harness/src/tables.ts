import type { Figure } from "./Claim.ts"
import type { EvaluatedFigure, Tally } from "./Evaluation.ts"
import { boundsOf } from "./Verdict.ts"

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

/** Everything as programs read it. Same measurements, same bytes. */
export const claimsJson = (figures: ReadonlyArray<EvaluatedFigure>, tally: Tally, scale: string) => ({
  scale,
  tally,
  figures: figures.map(({ figure, less, runs, claims }) => ({
    id: figure.id,
    title: figure.title,
    source: figure.source,
    section: figure.section,
    about: figure.about,
    less: less ?? null,
    ...(isSimulated(figure)
      ? { runs: runs.map(({ values: _, curves: __, figure: ___, packets: ____, ...run }) => run) }
      : {}),
    ...(figure.octets === undefined ? {} : { formats: runs.map(formatJson) }),
    ...(figure.sweep === undefined ? {} : { sweep: sweepJson(figure, runs) }),
    ...(figure.bench === undefined ? {} : { lines: linesJson(figure, runs) }),
    claims: claims.map(({ id, claim, unit, tolerance, noise, rows, order }) => ({
      id,
      what: claim.what,
      unit,
      mark: claim.mark,
      tolerance: tolerance ?? null,
      referenceNoise: noise ?? null,
      calibrated: claim.calibrated ?? null,
      numbers: rows.map(({ system, published, measured, verdict, reason }) => ({
        system,
        published: published ?? null,
        measured: finite(measured),
        verdict: verdict ?? null,
        reason: reason ?? null,
      })),
      order: {
        pairs: order.pairs,
        reversals: order.reversals.map((each) => ({ ...each, reason: each.reason ?? null })),
        notShown: order.notShown.map(([lower, higher]) => ({ lower, higher })),
      },
    })),
  })),
})

/** Formats are compared without a run, and a bench alone has no scenario. */
const isSimulated = ({ octets, bench, sweep }: Figure): boolean =>
  octets === undefined && (bench === undefined || sweep !== undefined)

/** What is in the pictures of a sweep, as numbers. */
const sweepJson = ({ sweep, pictures }: Figure, runs: EvaluatedFigure["runs"]) => ({
  what: sweep!.what,
  points: sweep!.points.map(({ name }) => name),
  pictures: pictures.flatMap((picture, index) =>
    picture.kind !== "by-point"
      ? []
      : {
          title: picture.title,
          unit: picture.unit,
          systems: runs.map(({ system, curves }) => ({ system, values: curves[index]!.map(([, y]) => finite(y)) })),
        },
  ),
})

/** The lines that a bench gave, as numbers. */
const linesJson = ({ pictures }: Figure, runs: EvaluatedFigure["runs"]) =>
  pictures.flatMap((picture, index) =>
    picture.kind !== "bench"
      ? []
      : {
          title: picture.title,
          unit: picture.y.unit,
          x: picture.x,
          systems: runs.map(({ system, curves }) => ({ system, values: curves[index]!.map(([, y]) => finite(y)) })),
        },
  )

/** What is in the pictures of formats, as numbers. */
const formatJson = ({ system, packets, curves }: EvaluatedFigure["runs"][number]) => ({
  system,
  packets,
  overheadBySize: curves[0]!.map(([messageBytes, share]) => ({ messageBytes, share })),
})

const HEADER =
  "claim,system,what,unit,mark,published_least,published_most,tolerance,measured,reference_noise,verdict,reason\n"

/** A line for each number, the same as the table on the screen. */
export const claimsCsv = (figures: ReadonlyArray<EvaluatedFigure>): string => {
  const lines = [HEADER]
  for (const { claims } of figures) {
    for (const { id, claim, unit, tolerance, noise, rows } of claims) {
      for (const { system, published, measured, verdict, reason } of rows) {
        const bounds = published === undefined ? [Number.NaN, Number.NaN] : boundsOf(published)
        const cells = [
          ...[id, system, claim.what, unit, claim.mark],
          ...[bounds[0]!, bounds[1]!, tolerance, measured, noise].map((value) =>
            value === undefined || !Number.isFinite(value) ? "" : String(value),
          ),
          ...[verdict ?? "", reason ?? ""],
        ]
        lines.push(`${cells.map(quoted).join(",")}\n`)
      }
    }
  }
  return lines.join("")
}

const quoted = (cell: string): string => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
