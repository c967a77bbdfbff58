import { controllers, loadScenario, type RunOutcome, ScenarioSimulation, slowdownsOf } from "@rdmakit/scenario"
import { parseTime } from "@rdmakit/units"
import { Effect, FileSystem, Layer, Path } from "effect"
import type { Extent, Figure, Scale, ScenarioPart, System } from "./Claim.ts"
import { type Curve, curvesOf } from "./Curves.ts"
import { measure } from "./Measure.ts"
import { type MeasuredPackets, measureOctets } from "./OctetMeasure.ts"
import { Samples } from "./Samples.ts"

/** What one system's run gave. */
export interface Measured {
  readonly figure: string
  readonly system: string
  /** By the ids of claims: the claim's metric of this system; NaN where there is nothing to measure. */
  readonly values: Readonly<Record<string, number>>
  /** By the place of the figure's pictures. */
  readonly curves: ReadonlyArray<Curve>
  readonly flowsTotal: number
  readonly flowsFinished: number
  readonly packetHops: number
  readonly simulatedPs: number
  readonly drops: number
  readonly pauses: number
  readonly seed: number
  readonly digest: string
  /** Of a format: its packets, part by part. */
  readonly packets?: MeasuredPackets
}

const BATCH = 1 << 20

/** The scenario of a system at a scale, as `rdmakit run` would read it. */
export const scenarioOf = (figure: Figure, system: System, scale: Scale): ScenarioPart => ({
  name: `${figure.id} ${system.name}`,
  ...figure.scenario,
  ...extentOf(figure, scale).scenario,
  ...system.scenario,
})

export const extentOf = (figure: Figure, scale: Scale): Extent => figure.extents[scale]

/** No scenario of a claim names a file. */
const services = Layer.merge(FileSystem.layerNoop({}), Path.layer)

/** Reads and checks the scenario. Rejects with `InputsRefused`. */
export const inputsOf = (figure: Figure, system: System, scale: Scale) => {
  const octets = new TextEncoder().encode(JSON.stringify(scenarioOf(figure, system, scale)))
  const name = `${figure.id}.json`
  return Effect.runPromise(loadScenario(name, { workingDirectory: "/", octets }).pipe(Effect.provide(services)))
}

/** Runs a system and measures what the figure's claims and pictures need. Same inputs, same result. */
export const runSystem = async (figure: Figure, system: System, scale: Scale): Promise<Measured> => {
  if (figure.octets !== undefined) return measureOctets(figure, system)
  const inputs = await inputsOf(figure, system, scale)
  const run = new ScenarioSimulation(inputs)
  const { window, warmup } = extentOf(figure, scale)
  const samples = new Samples(run, figure.probe, window)
  while (run.step(BATCH)) {}
  samples.finish()
  const outcome = run.outcome(false)
  const start = outcome.flows.count > 0 ? outcome.flows.start[0]! : 0
  const finished = {
    outcome,
    samples,
    slowdowns: slowdownsOf(outcome),
    countedFrom: warmup === undefined ? 0 : start + parseTime(warmup),
    parameters: parametersOf(system),
  }
  const values = Object.fromEntries(figure.claims.map(({ id, metric }) => [id, measure(metric, finished)]))
  return {
    figure: figure.id,
    system: system.name,
    values,
    curves: figure.pictures.map((picture) => curvesOf(picture, finished)),
    flowsTotal: outcome.flowsTotal,
    flowsFinished: outcome.flowsFinished,
    packetHops: outcome.packetHops,
    simulatedPs: outcome.simulatedPs,
    drops: dropsOf(outcome),
    pauses: outcome.pfcPauses,
    seed: outcome.seed,
    digest: outcome.digest,
  }
}

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
