import { createHash } from "node:crypto"
import { controllers, loadScenario, type RunOutcome, ScenarioSimulation, slowdownsOf } from "@rdmakit/scenario"
import { parseTime } from "@rdmakit/units"
import { Effect, FileSystem, Layer, Path } from "effect"
import { measureBench } from "./Bench.ts"
import type { Extent, Figure, Scale, ScenarioPart, System } from "./Claim.ts"
import { curvesOf } from "./Curves.ts"
import { type Finished, measure } from "./Measure.ts"
import type { Measured, RunCounts } from "./Measured.ts"
import { measureOctets } from "./OctetMeasure.ts"
import { acknowledgedBytes, Samples } from "./Samples.ts"

const BATCH = 1 << 20

/** One of the points of a figure's sweep. */
type Point = NonNullable<Figure["sweep"]>["points"][number]

/** The scenario of a system at a scale, as `rdmakit run` would read it; of a sweep at its first point by default. */
export const scenarioOf = (
  figure: Figure,
  system: System,
  scale: Scale,
  point: Point | undefined = figure.sweep?.points[0],
): ScenarioPart => ({
  name: `${figure.id} ${system.name}`,
  ...figure.scenario,
  ...extentOf(figure, scale).scenario,
  ...system.scenario,
  ...point?.scenario,
})

export const extentOf = (figure: Figure, scale: Scale): Extent => figure.extents[scale]

/** No scenario of a claim names a file. */
const services = Layer.merge(FileSystem.layerNoop({}), Path.layer)

/** Reads and checks the scenario. Rejects with `InputsRefused`. */
export const inputsOf = (figure: Figure, system: System, scale: Scale, point?: Point) =>
  readScenario(figure.id, scenarioOf(figure, system, scale, point))

const readScenario = (name: string, scenario: ScenarioPart) => {
  const octets = new TextEncoder().encode(JSON.stringify(scenario))
  const load = loadScenario(`${name}.json`, { workingDirectory: "/", octets })
  return Effect.runPromise(load.pipe(Effect.provide(services)))
}

/** A scenario of a bench, not begun. Rejects with `InputsRefused`. */
export const simulationOf = async (name: string, scenario: ScenarioPart): Promise<ScenarioSimulation> =>
  new ScenarioSimulation(await readScenario(name, scenario))

/** Runs a system and measures what the figure's claims and pictures need. Same inputs, same result. */
export const runSystem = async (figure: Figure, system: System, scale: Scale): Promise<Measured> => {
  if (figure.octets !== undefined) return measureOctets(figure, system)
  const { bench, sweep } = figure
  if (sweep !== undefined) {
    const points = sweep.points.filter(({ full = false }) => scale === "full" || !full)
    const swept = await runSweep(figure, system, scale, points)
    return bench === undefined ? swept : withBench(swept, await measureBench(figure, bench, system, scale))
  }
  if (bench !== undefined) return measureBench(figure, bench, system, scale)
  const finished = await runToEnd(figure, system, scale)
  return {
    figure: figure.id,
    system: system.name,
    values: Object.fromEntries(figure.claims.map(({ id, metric }) => [id, measure(metric, finished)])),
    curves: figure.pictures.map((picture) => curvesOf(picture, finished)),
    ...countsOf([finished.outcome]),
  }
}

/** What a bench measured of a system beside its runs. */
const withBench = (swept: Measured, bench: Measured): Measured => ({
  ...swept,
  values: { ...bench.values, ...swept.values },
  curves: swept.curves.map((curve, picture) => (curve.length > 0 ? curve : bench.curves[picture]!)),
})

/** Runs a system at every point. A claim is measured at its own. */
const runSweep = async (
  figure: Figure,
  system: System,
  scale: Scale,
  points: ReadonlyArray<Point>,
): Promise<Measured> => {
  const values: Record<string, number> = {}
  const curves = figure.pictures.map((): Array<readonly [number, number]> => [])
  const outcomes: Array<RunOutcome> = []
  for (const [place, point] of points.entries()) {
    const finished = await runToEnd(figure, system, scale, point)
    for (const claim of figure.claims)
      if (claim.point === point.name && claim.metric.kind !== "bench")
        values[claim.id] = measure(claim.metric, finished)
    for (const [index, picture] of figure.pictures.entries())
      if (picture.kind === "by-point") curves[index]!.push([place, measure(picture.metric, finished)])
    outcomes.push(finished.outcome)
  }
  return { figure: figure.id, system: system.name, values, curves, ...countsOf(outcomes) }
}

const runToEnd = async (figure: Figure, system: System, scale: Scale, point?: Point): Promise<Finished> => {
  const run = new ScenarioSimulation(await inputsOf(figure, system, scale, point))
  const { window, warmup } = extentOf(figure, scale)
  const samples = new Samples(run, figure.probe, window)
  while (run.step(BATCH)) {}
  samples.finish()
  const outcome = run.outcome(false)
  const start = outcome.flows.count > 0 ? outcome.flows.start[0]! : 0
  return {
    outcome,
    samples,
    slowdowns: slowdownsOf(outcome),
    acknowledgedBytes: acknowledgedBytesOf(run),
    countedFrom: warmup === undefined ? 0 : start + parseTime(warmup),
    parameters: parametersOf(system),
  }
}

/** What all flows together have been acknowledged of their bytes by the end. */
const acknowledgedBytesOf = ({ world }: ScenarioSimulation): number => {
  let bytes = 0
  for (let flow = 0; flow < world.flows.count; flow++) bytes += acknowledgedBytes(world, flow)
  return bytes
}

/** What is told of runs beside their measures, all together. */
const countsOf = (outcomes: ReadonlyArray<RunOutcome>): RunCounts => {
  const sum = (value: (outcome: RunOutcome) => number): number =>
    outcomes.reduce((total, outcome) => total + value(outcome), 0)
  return {
    flowsTotal: sum(({ flowsTotal }) => flowsTotal),
    flowsFinished: sum(({ flowsFinished }) => flowsFinished),
    packetHops: sum(({ packetHops }) => packetHops),
    simulatedPs: sum(({ simulatedPs }) => simulatedPs),
    drops: sum(dropsOf),
    pauses: sum(({ pfcPauses }) => pfcPauses),
    seed: outcomes[0]!.seed,
    digest: digestOf(outcomes.map(({ digest }) => digest)),
  }
}

/** Of one run its own; of several, 64 bits of theirs. */
const digestOf = (digests: ReadonlyArray<string>): string =>
  digests.length === 1 ? digests[0]! : createHash("sha256").update(digests.join(" ")).digest("hex").slice(0, 16)

const dropsOf = ({ dropsByReason }: RunOutcome): number =>
  Object.values(dropsByReason).reduce((sum, count) => sum + count, 0)

/** A switch marks by Kmin, Kmax and Pmax. */
const MARKING_PARAMETERS = 3

/** Numbers and switches (not words) of the controller's preset, and those of marking where it needs marks. */
const parametersOf = ({ scenario }: System): number => {
  const { name = "", preset = "" } = (scenario.controller ?? {}) as { readonly name?: string; readonly preset?: string }
  const named = controllers.get(name)
  const settings = named?.presets[preset]
  if (named === undefined || settings === undefined) return Number.NaN
  const own = Object.values(settings).filter((value) => typeof value !== "string").length
  const { needs } = named.make(settings)
  return own + (needs.includes("ecn") || needs.includes("cnp") ? MARKING_PARAMETERS : 0)
}
