import type { Figure, Scale, System } from "./Claim.ts"
import type { Curve } from "./Curves.ts"
import { type Measured, noRun } from "./Measured.ts"

/** What a measurement gave of one system: numbers in base units, and lines of pictures, by name. */
export interface BenchResult {
  readonly numbers: Readonly<Record<string, number>>
  readonly lines: Readonly<Record<string, Curve>>
}

/** A measurement that no scenario describes: of engines alone, or by a formula. Same system, same result. */
export type Bench = (system: System, scale: Scale) => BenchResult | Promise<BenchResult>

/** What the claims and pictures of a figure say of one system, from its bench. */
export const measureBench = async (figure: Figure, bench: Bench, system: System, scale: Scale): Promise<Measured> => {
  const { numbers, lines } = await bench(system, scale)
  const number = (name: string): number => (Object.hasOwn(numbers, name) ? numbers[name]! : Number.NaN)
  return {
    figure: figure.id,
    system: system.name,
    values: Object.fromEntries(
      figure.claims.map(({ id, metric }) => [id, metric.kind === "bench" ? number(metric.number) : Number.NaN]),
    ),
    curves: figure.pictures.map((picture) => (picture.kind === "bench" ? (lines[picture.line] ?? []) : [])),
    ...noRun,
  }
}
