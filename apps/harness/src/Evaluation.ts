import type { Claim, Figure, Published, Scale, System, Unit } from "./Claim.ts"
import { extentOf } from "./Experiment.ts"
import type { Measured } from "./Measured.ts"
import { noiseOf } from "./Noise.ts"
import { type Order, orderOf, toleranceOf, type Verdict, verdictOf } from "./Verdict.ts"

/** One published number, or a bar, and what was measured; or a measured one that stands in an order alone. */
export interface Row {
  readonly system: string
  readonly published: Published | undefined
  /** NaN where there was nothing to measure. */
  readonly measured: number
  readonly verdict: Verdict | undefined
  /** Why it is outside, not measured or counts nowhere, where that is known. */
  readonly reason: string | undefined
}

export interface EvaluatedClaim {
  /** `hpcc-13/peak`. */
  readonly id: string
  readonly claim: Claim
  readonly unit: Unit
  readonly tolerance: number | undefined
  /** How far the reference simulator is from itself, a share; undefined where nobody measured it. */
  readonly noise: number | undefined
  readonly rows: ReadonlyArray<Row>
  readonly order: Order
}

export interface EvaluatedFigure {
  readonly figure: Figure
  /** What is less than in the source. */
  readonly less: string | undefined
  readonly runs: ReadonlyArray<Measured>
  readonly claims: ReadonlyArray<EvaluatedClaim>
}

/** What came of all claims, counted. */
export interface Tally {
  readonly claims: number
  /** Published ones: those of the five below. */
  readonly numbers: number
  readonly within: number
  readonly outside: number
  readonly shapeOnly: number
  readonly notMeasured: number
  readonly calibrated: number
  /** Bars of ours, met and missed. */
  readonly met: number
  readonly missed: number
  /** Pairs of systems that a source tells apart, and that come out further apart than the noise. */
  readonly pairs: number
  /** Those that come as published, but by no more than the noise. */
  readonly notShown: number
  /** In the wrong order, for a reason that is known; and without. */
  readonly explained: number
  readonly reversed: number
}

/** A selection of claims: a figure with some or all of its claims. */
export interface Selected {
  readonly figure: Figure
  readonly claims: ReadonlyArray<Claim>
}

/** Judges what was measured. */
export const evaluate = (
  selected: ReadonlyArray<Selected>,
  measured: ReadonlyArray<Measured>,
  scale: Scale,
): ReadonlyArray<EvaluatedFigure> =>
  selected.map(({ figure, claims }) => {
    const runs = measured.filter((run) => run.figure === figure.id)
    return {
      figure,
      less: extentOf(figure, scale).less,
      runs,
      claims: claims.map((claim) => evaluateClaim(figure, claim, runs, scale)),
    }
  })

const evaluateClaim = (figure: Figure, claim: Claim, runs: ReadonlyArray<Measured>, scale: Scale): EvaluatedClaim => {
  const values: Record<string, number> = {}
  for (const { name } of figure.systems) {
    const value = valueIn(claim, name, runs)
    if (value !== undefined) values[name] = value
  }
  const names = figure.systems
    .map(({ name }) => name)
    .filter((name) => Object.hasOwn(values, name) && isShown(claim, name))
  const noise = figure.systems.some(isOverOther) ? undefined : noiseOf(claim.metric)
  return {
    id: `${figure.id}/${claim.id}`,
    claim,
    unit: claim.unit,
    tolerance: toleranceOf(claim.mark),
    noise,
    rows: names.map((system) => rowOf(claim, system, values[system]!, scale)),
    order: orderOf(claim, values, scale, noise),
  }
}

/** Not over reliable connections, which are all that the reference simulator carries. */
const isOverOther = ({ scenario }: System): boolean =>
  (scenario.transport as { readonly name?: string } | undefined)?.name !== undefined

const isShown = ({ against, published }: Claim, system: string): boolean =>
  against === undefined || Object.hasOwn(published, system)

/** The measure of a system; undefined where it has not been run. */
const valueIn = ({ id, against }: Claim, system: string, runs: ReadonlyArray<Measured>): number | undefined => {
  const of = (name: string): number | undefined => runs.find((run) => run.system === name)?.values[id]
  const own = of(system)
  if (against === undefined || own === undefined) return own
  const other = of(against.system)
  if (other === undefined) return undefined
  return against.as === "ratio" ? own / other : 1 - own / other
}

const rowOf = (claim: Claim, system: string, measured: number, scale: Scale): Row => {
  const published = Object.hasOwn(claim.published, system) ? claim.published[system] : undefined
  if (published === undefined) return { system, published, measured, verdict: undefined, reason: undefined }
  const verdict = verdictOf(claim, published, measured)
  const given = claim.reasons?.[system] ?? claim.reasons?.all
  const known = typeof given === "string" ? given : given?.[scale]
  return { system, published, measured, verdict, reason: reasonOf(claim, verdict, known) }
}

const reasonOf = ({ calibrated }: Claim, verdict: Verdict, known: string | undefined): string | undefined => {
  if (verdict === "calibrated") return calibrated
  return verdict === "within" || verdict === "met" || verdict === "shape only" ? undefined : known
}

export const tallyOf = (figures: ReadonlyArray<EvaluatedFigure>): Tally => {
  const claims = figures.flatMap((figure) => figure.claims)
  const rows = claims.flatMap((claim) => claim.rows).filter(({ verdict }) => verdict !== undefined)
  const count = (wanted: Verdict): number => rows.filter(({ verdict }) => verdict === wanted).length
  const reversals = claims.flatMap(({ order }) => order.reversals)
  const explained = reversals.filter(({ reason }) => reason !== undefined).length
  return {
    claims: claims.length,
    numbers: rows.length - count("met") - count("missed"),
    within: count("within"),
    outside: count("outside"),
    shapeOnly: count("shape only"),
    notMeasured: count("not measured"),
    calibrated: count("calibrated"),
    met: count("met"),
    missed: count("missed"),
    pairs: claims.reduce((sum, { order }) => sum + order.pairs, 0),
    notShown: claims.reduce((sum, { order }) => sum + order.notShown.length, 0),
    explained,
    reversed: reversals.length - explained,
  }
}
