/** The program of a sweep's worker thread: makes one run after another of what it is told. */
import { parentPort, workerData } from "node:worker_threads"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import { Ns3Simulation, ScenarioSimulation, simulate } from "@rdmakit/scenario"
import { Effect, Layer } from "effect"
import { WorkingDirectory } from "../Screen.ts"
import { failedRecord, type RunRecord, recordOf } from "./RunRecord.ts"
import { loadRunInputs } from "./SweepInputs.ts"
import type { PlannedRun } from "./Vary.ts"
import type { WorkerMessage, WorkerStart } from "./WorkerPool.ts"

const PROGRESS_MS = 100

const { source, workingDirectory } = workerData as WorkerStart
const services = Layer.mergeAll(
  NodeFileSystem.layer,
  NodePath.layer,
  NodeStdio.layer,
  Layer.succeed(WorkingDirectory, workingDirectory),
)
const tell = (message: WorkerMessage): void => parentPort!.postMessage(message)

const made = (planned: PlannedRun) =>
  Effect.gen(function* () {
    const inputs = yield* loadRunInputs(source, planned)
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
  Effect.runPromise(Effect.provide(made(planned), services)).then(
    ({ record, packetHops }) => tell({ type: "done", record, packetHops }),
    (error: unknown) =>
      tell({ type: "bug", trace: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
