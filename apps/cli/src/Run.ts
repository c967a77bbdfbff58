import { closeSync, openSync, writeSync } from "node:fs"
import type { PoolExhausted } from "@rdmakit/packet"
import {
  FLOWS_FILE,
  fairnessByHost,
  flowsCsvPieces,
  type KernelName,
  KernelRefused,
  LINKS_FILE,
  LinkTable,
  Ns3Simulation,
  ns3OutputNames,
  type Recorder,
  type Run,
  type RunOutcome,
  ScenarioSimulation,
  SUMMARY_FILE,
  type UnfinishedFlow,
} from "@rdmakit/scenario"
import { Effect, FileSystem, Option, Path } from "effect"
import { type CaptureInput, captureOf, wantedCapture } from "./Capture.ts"
import { type ControllerInput, withStrayFaults } from "./ControllerModule.ts"
import { costMeter, execute, type RunCost } from "./Execution.ts"
import { Exit, exitCodes, Refused } from "./Exit.ts"
import { fairnessJson, fairnessLines } from "./FairnessTable.ts"
import { foldIdleKeys, showNotes, withJsonFaults } from "./Faults.ts"
import { counted, grouped, quantity, short } from "./Figures.ts"
import { graphOf, type Inputs, loadInputs, nameOf, notesOf } from "./Inputs.ts"
import { Interrupts, signals } from "./Interrupts.ts"
import { writePieces } from "./OutputFile.ts"
import { paintOf } from "./Paint.ts"
import { defaultFolder, openResultFolder } from "./ResultFolder.ts"
import { type ResultsInput, recorderOf, resultNames, seriesLine, wantedResults, writeResults } from "./Results.ts"
import { print, Screen, tell, WorkingDirectory } from "./Screen.ts"
import { slowdownJson, slowdownLines, workloadLines, workloadsJson } from "./SlowdownTable.ts"
import { systemWords } from "./SystemWords.ts"

export interface RunInput extends ResultsInput, ControllerInput, CaptureInput {
  readonly file: string
  readonly out: Option.Option<string>
  readonly seed: Option.Option<number>
  readonly kernel: Option.Option<KernelName>
  readonly set: ReadonlyArray<string>
  readonly force: boolean
  readonly json: boolean
}

/** Unfinished flows that are named on the screen; summary.json and flows.csv have them all. */
const NAMED_MAX = 20

/** Runs a network, writes its folder of results, and says how it went. */
export const run = (input: RunInput) =>
  Effect.gen(function* () {
    const cost = costMeter(true)
    const { err } = yield* Screen
    const wanted = yield* wantedResults(input)
    const { file, set, seed, controller, option } = input
    const inputs = yield* loadInputs({ file, set, seed, controller: { controller, option } })
    if (!input.json) yield* showNotes(foldIdleKeys(notesOf(inputs)), err)
    const path = yield* Path.Path
    const name = Option.getOrElse(input.out, () => defaultFolder(path, input.file))
    const captured = yield* wantedCapture(input, graphOf(inputs))
    const more = { ...resultNames(wanted), ...captured?.files }
    const outputs = outputsOf(inputs, Object.values(more))
    const folder = yield* openResultFolder(name, { force: input.force, input: nameOf(inputs), outputs })
    yield* spareInputs(inputs, name, outputs)
    const files = yield* FileSystem.FileSystem
    const simulation = yield* simulationOf(inputs, input, folder.staging)
    const capture = captured === undefined ? undefined : yield* captureOf(simulation.run, captured, folder.staging)
    const recorder = recorderOf(simulation.run, wanted)
    const links = new LinkTable(simulation.run, recorder)
    const outcome = yield* execute(simulation.run)
    capture?.finish()
    for (const [file, text] of simulation.texts()) yield* files.writeFileString(path.join(folder.staging, file), text)
    yield* writePieces(files, path.join(folder.staging, FLOWS_FILE), flowsCsvPieces(outcome))
    yield* writePieces(files, path.join(folder.staging, LINKS_FILE), links.pieces(outcome))
    yield* writeResults(folder.staging, wanted, { ...wordsOf(inputs, path), outcome, recorder })
    const names = { flows: FLOWS_FILE, links: LINKS_FILE, ...more, ...simulation.names }
    const summary = summaryOf(inputs, outcome, cost(), names, recorder)
    yield* files.writeFileString(path.join(folder.staging, SUMMARY_FILE), `${JSON.stringify(summary, null, 2)}\n`)
    yield* folder.publish
    if (input.json) yield* print(JSON.stringify({ folder: name, ...summary }))
    else {
      const written = capture === undefined ? undefined : `${counted(capture.frames, "frame")} written as octets`
      yield* showOutcome(outcome, summary, name, [seriesLine(wanted, recorder), written])
    }
    if (outcome.partial) return yield* new Exit({ code: signals[(yield* Interrupts).received()].code })
    if (outcome.unfinished.length > 0) return yield* new Exit({ code: exitCodes.notWell })
  }).pipe(
    Effect.scoped,
    withStrayFaults(input),
    Effect.catchTags({
      PoolExhausted: tooLarge,
      ControllerFault: ({ message }) => new Refused({ message: `${moduleOf(input)}${message}` }),
    }),
    Effect.catchDefect((defect) => (isSystemError(defect) ? cannotWrite(defect) : Effect.die(defect))),
    withJsonFaults(input.json, input.file),
  )

/** What the file system answers to a trace or a capture: no space, too large, gone. */
const isSystemError = (defect: unknown): defect is NodeJS.ErrnoException =>
  defect instanceof Error && "code" in defect && "syscall" in defect

const cannotWrite = (error: NodeJS.ErrnoException) =>
  new Refused({
    message: `the output cannot be written: ${systemWords(error)}`,
    hint: "choose another folder with --out DIR",
  })

/** Which module a fault of a controller is about. */
const moduleOf = ({ controller }: ControllerInput): string =>
  Option.match(controller, { onNone: () => "", onSome: (file) => `${file}: ` })

const tooLarge = ({ message }: PoolExhausted) =>
  new Refused({
    message,
    hint: "a network that loses nothing and slows nobody down queues without end: lower the load",
  })

/** Names of every file that a run writes. */
const outputsOf = (inputs: Inputs, results: ReadonlyArray<string>): ReadonlyArray<string> => {
  const own = inputs.kind === "ns3" ? Object.values(ns3OutputNames(inputs.ns3.configFile)) : []
  return [FLOWS_FILE, LINKS_FILE, SUMMARY_FILE, ...results, ...own.filter((name) => name !== "")]
}

/** Refuses a folder in which an output would take the place of an input, or of another. */
const spareInputs = Effect.fnUntraced(function* (inputs: Inputs, folder: string, outputs: ReadonlyArray<string>) {
  const twice = outputs.find((name, index) => outputs.indexOf(name) !== index)
  if (twice !== undefined) {
    const hint = "give the config's output another name with --set"
    return yield* new Refused({ message: `${folder}: two outputs would be named ${twice}`, hint })
  }
  if (inputs.kind !== "ns3") return
  const path = yield* Path.Path
  const cwd = yield* WorkingDirectory
  const { files, name } = inputs.ns3
  const read = new Set(
    [name, ...Object.values(files)].filter((file) => file !== "").map((file) => path.resolve(cwd, file)),
  )
  for (const output of outputs) {
    if (!read.has(path.resolve(cwd, folder, output))) continue
    return yield* new Refused({
      message: `${folder}: ${output} would replace an input of this run`,
      hint: "choose another folder with --out DIR",
    })
  }
})

/** A run, and the files beside the summary that it writes: their names by what they hold, and their texts in the end. */
interface Simulation {
  readonly run: Run
  readonly names: Readonly<Record<string, string>>
  readonly texts: () => ReadonlyArray<readonly [file: string, text: string]>
}

const simulationOf = Effect.fnUntraced(function* (inputs: Inputs, { seed, kernel }: RunInput, staging: string) {
  const options = {
    ...Option.match(seed, { onNone: () => ({}), onSome: (value) => ({ seed: value }) }),
    ...Option.match(kernel, { onNone: () => ({}), onSome: (name) => ({ kernel: name }) }),
  }
  if (inputs.kind === "scenario") {
    const run = yield* unlessRefused(() => new ScenarioSimulation(inputs.scenario, options))
    return { run, names: {}, texts: () => [] } as Simulation
  }
  const path = yield* Path.Path
  const names = ns3OutputNames(inputs.ns3.configFile)
  const trace = yield* traceFile(names.trace === "" ? undefined : path.join(staging, names.trace))
  const run = yield* unlessRefused(() => new Ns3Simulation(inputs.ns3, { ...options, ...trace }))
  const texts = () => {
    const made = run.files()
    return (["fct", "pfc", "qlen"] as const)
      .filter((key) => names[key] !== "")
      .map((key) => [names[key], made[key]] as const)
  }
  return {
    run,
    names: Object.fromEntries(Object.entries(names).filter(([, file]) => file !== "")),
    texts,
  } as Simulation
})

/** A kernel that cannot serve is told of in words. */
const unlessRefused = <A>(make: () => A): Effect.Effect<A, Refused> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(make())
    } catch (error) {
      return error instanceof KernelRefused
        ? Effect.fail(new Refused({ message: `--kernel fused: ${error.message}` }))
        : Effect.die(error)
    }
  })

/** A trace is written as it is made: it may be larger than memory. */
const traceFile = (file: string | undefined) =>
  file === undefined
    ? Effect.succeed({})
    : Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => openSync(file, "w")),
          (descriptor) => Effect.sync(() => closeSync(descriptor)),
        ),
        (descriptor) => ({ onTrace: (octets: Uint8Array) => writeAll(descriptor, octets) }),
      )

const writeAll = (descriptor: number, octets: Uint8Array): void => {
  for (let at = 0; at < octets.length; ) at += writeSync(descriptor, octets, at)
}

/** What a report is headed with, and what its slowdowns are against. */
const wordsOf = (inputs: Inputs, path: Path.Path) => ({
  title: inputs.kind === "ns3" ? path.basename(inputs.ns3.name) : inputs.scenario.title,
  input: nameOf(inputs),
  ideal:
    inputs.kind === "ns3"
      ? "the standalone time by the HPCC simulator's formula"
      : "the time alone in the network, on the path it took",
})

/** What summary.json holds: times in seconds, sizes in bytes, shares from 0 to 1. */
const summaryOf = (
  inputs: Inputs,
  outcome: RunOutcome,
  cost: RunCost,
  files: Readonly<Record<string, string>>,
  recorder: Recorder | undefined,
) => {
  const { flows: _flows, idealPs: _ideal, simulatedPs, unfinished, notes, ...rest } = outcome
  return {
    input: nameOf(inputs),
    ...rest,
    simulatedSeconds: simulatedPs / 1e12,
    ...cost,
    cpuNanosecondsPerPacketHop: rest.packetHops > 0 ? (cost.cpuSeconds * 1e9) / rest.packetHops : null,
    slowdown: slowdownJson(outcome),
    slowdownByWorkload: workloadsJson(outcome),
    fairness: recorder === undefined ? [] : fairnessJson(fairnessByHost(recorder)),
    unfinished,
    inputNotes: notesOf(inputs),
    notes,
    files,
  }
}

const showOutcome = Effect.fnUntraced(function* (
  outcome: RunOutcome,
  summary: ReturnType<typeof summaryOf>,
  folder: string,
  lines: ReadonlyArray<string | undefined>,
) {
  const { out } = yield* Screen
  const { bold, yellow, red } = paintOf(out)
  for (const lines of [slowdownLines, workloadLines]) {
    for (const line of lines(outcome, out.columns, bold)) yield* print(line)
  }
  for (const line of fairnessLines(summary.fairness, out.columns, bold)) yield* print(line)
  const drops = Object.entries(outcome.dropsByReason).map(([reason, count]) => `${grouped(count)} ${reason}`)
  yield* print("")
  const over = outcome.transport === "rc" ? "" : `${outcome.transport}, `
  yield* print(
    `${over}${outcome.controller}: ${grouped(outcome.flowsFinished)} of ${counted(outcome.flowsTotal, "flow")} finished in ${(outcome.simulatedPs / 1e9).toFixed(3)} ms of simulated time`,
  )
  yield* print(
    `${short(outcome.packetHops)} packet-hops, ${counted(outcome.pfcPauses, "pause")}, dropped: ${drops.length === 0 ? "none" : drops.join(", ")}`,
  )
  yield* print(
    `${summary.cpuSeconds.toFixed(2)} s of CPU, ${quantity(summary.peakRssBytes, "B")} at most; digest ${outcome.digest}`,
  )
  for (const note of outcome.notes) yield* print(`${yellow("note:")} ${note}`)
  if (outcome.partial) {
    const rest = counted(outcome.unfinished.length, "flow")
    const { name } = signals[(yield* Interrupts).received()]
    yield* print(yellow(`stopped by ${name} with ${rest} unfinished: the results are partial`))
  } else yield* showUnfinished(outcome.unfinished, red)
  for (const line of lines) if (line !== undefined) yield* print(line)
  yield* print(`results in ${folder}`)
})

const showUnfinished = Effect.fnUntraced(function* (
  unfinished: ReadonlyArray<UnfinishedFlow>,
  red: (text: string) => string,
) {
  if (unfinished.length === 0) return
  yield* tell(red(`${counted(unfinished.length, "flow")} unfinished:`))
  for (const { flow, source, destination, bytes, reason } of unfinished.slice(0, NAMED_MAX)) {
    yield* tell(`  flow ${flow}, host ${source} to host ${destination}, ${grouped(bytes)} B: ${reason}`)
  }
  const rest = unfinished.length - NAMED_MAX
  if (rest > 0) yield* tell(`  and ${grouped(rest)} more: summary.json has them all`)
})
