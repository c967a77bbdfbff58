/** The program of a sweep's worker thread: makes one run after another of what it is told. */
import { parentPort, workerData } from "node:worker_threads"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import { Ns3Simulation, ScenarioSimulation, simulate } from "@rdmakit/scenario"
import { Effect, FileSystem, Layer, Path } from "effect"
import { WorkingDirectory } from "../Screen.ts"
import { digestsJson, fileNames, watchReads } from "./FileReads.ts"
import { failedRecord, type RunRecord, recordOf } from "./RunRecord.ts"
import { loadRunInputs, moduleOf } from "./SweepInputs.ts"
import type { PlannedRun } from "./Vary.ts"
import type { WorkerMessage, WorkerStart } from "./WorkerPool.ts"

const PROGRESS_MS = 100

const { source, workingDirectory, begun, tried } = workerData as WorkerStart
const services = Layer.mergeAll(
  NodeFileSystem.layer,
  NodePath.layer,
  NodeStdio.layer,
  Layer.succeed(WorkingDirectory, workingDirectory),
)
const tell = (message: WorkerMessage): void => parentPort!.postMessage(message)

/** A user's module is imported once, whatever becomes of its file. */
const modulesRead = new Set<string>()

/** Loads the inputs of a run, and looks whether they are those that the sweep began with. */
const loaded = Effect.fnUntraced(function* (planned: PlannedRun) {
  const path = yield* Path.Path
  const nameOf = fileNames(path, workingDirectory, source.file)
  const { files, read, changed } = watchReads(yield* FileSystem.FileSystem, nameOf, begun)
  const module = moduleOf(source, planned.values)
  const inputs = yield* Effect.result(
    Effect.provideService(loadRunInputs(source, planned), FileSystem.FileSystem, files),
  )
  const look = (name: string) =>
    files.readFile(path.resolve(workingDirectory, name)).pipe(Effect.catch(() => Effect.sync(() => changed.add(name))))
  // A file that is gone or broken is no fault of the run.
  if (inputs._tag === "Failure") yield* Effect.forEach(begun.keys(), look)
  else if (module !== null && !modulesRead.has(module)) {
    yield* look(module)
    modulesRead.add(module)
  }
  const others = [...read].filter(([name]) => !begun.has(name))
  // These values have been tried: whatever they read has been read.
  const isTried = tried.some((values) => values.every((value, i) => value === planned.values[i]))
  if (isTried) for (const [name] of others) changed.add(name)
  return { inputs, others, changed: [...changed][0] }
})

const made = (planned: PlannedRun) =>
  Effect.gen(function* () {
    const { inputs, others, changed } = yield* loaded(planned)
    if (changed !== undefined) return { type: "changed", file: changed } as const satisfies WorkerMessage
    const { record, packetHops } = yield* simulated(planned, inputs)
    const known = others.length > 0 ? { ...record, inputs: digestsJson(others) } : record
    return { type: "done", record: known, packetHops } as const satisfies WorkerMessage
  })

const simulated = (planned: PlannedRun, loading: Effect.Success<ReturnType<typeof loaded>>["inputs"]) =>
  Effect.gen(function* () {
    const inputs = yield* Effect.fromResult(loading)
    const { seed } = planned
    const run =
      inputs.kind === "ns3"
        ? new Ns3Simulation(inputs.ns3, { seed })
        : new ScenarioSimulation(inputs.scenario, { seed })
    let toldMs = performance.now()
    const outcome = yield* simulate(run, {
      onProgress: () => {
        if (performance.now() - toldMs < PROGRESS_MS) return
        toldMs = performance.now()
        const { finishedShare: share, packetHops } = run.progress()
        tell({ type: "progress", run: planned.index, share, packetHops })
      },
    })
    return { record: recordOf(planned, outcome), packetHops: outcome.packetHops }
  }).pipe(
    Effect.catch((error) => {
      const hint = "hint" in error && typeof error.hint === "string" ? `; ${error.hint}` : ""
      const record: RunRecord = failedRecord(planned, `${error.message}${hint}`)
      return Effect.succeed({ record, packetHops: 0 })
    }),
  )

parentPort!.on("message", (planned: PlannedRun) => {
  Effect.runPromise(Effect.provide(made(planned), services)).then(tell, (error: unknown) =>
    tell({ type: "bug", trace: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
