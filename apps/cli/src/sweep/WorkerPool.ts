import { Worker } from "node:worker_threads"
import { type Digests, InputChanged } from "./FileReads.ts"
import { failedRecord, type RunRecord } from "./RunRecord.ts"
import type { SweepSource } from "./SweepInputs.ts"
import type { PlannedRun } from "./Vary.ts"

/** What a worker is made with. */
export interface WorkerStart {
  readonly source: SweepSource
  readonly workingDirectory: string
  /** What was read when the sweep began. */
  readonly begun: Digests
  /** The combinations of values that it was read with. */
  readonly tried: ReadonlyArray<ReadonlyArray<string>>
}

/** What a worker says of the run that it was given. */
export type WorkerMessage =
  | { readonly type: "progress"; readonly run: number; readonly share: number; readonly packetHops: number }
  | { readonly type: "done"; readonly record: RunRecord; readonly packetHops: number }
  /** The inputs are not those that the sweep began with; the run was not made. */
  | { readonly type: "changed"; readonly file: string }
  | { readonly type: "bug"; readonly trace: string }

// From sources, workers are too; in the bundle their program lies beside ours.
const fromSources = import.meta.url.endsWith(".ts")
const program = new URL(fromSources ? "./SweepWorker.ts" : "./SweepWorker.js", import.meta.url)

/** Hands runs to worker threads, one at a time to each, until none is left or somebody says stop. */
export class WorkerPool {
  /** Settles when all has been done, or `stop` was called; rejects when a worker broke. */
  readonly ended: Promise<void>
  /** Packet-hops of all runs so far, for the rate. */
  private readonly hops = new Map<number, number>()
  private readonly shares = new Map<number, number>()
  private hopsDone = 0
  /** Each with the run that it makes. */
  private readonly workers = new Map<Worker, PlannedRun | undefined>()
  private readonly start: WorkerStart
  private readonly queue: Array<PlannedRun>
  private readonly records: Array<RunRecord> = []
  /** What some runs have read and others have not. */
  private readonly others = new Map<string, string>()
  private waiting: (() => void) | undefined = undefined
  private resolve: () => void = () => {}
  private reject: (error: Error) => void = () => {}

  /** @param before runs that were made earlier */
  constructor(runs: ReadonlyArray<PlannedRun>, before: Iterable<RunRecord>, jobs: number, start: WorkerStart) {
    for (const { inputs = {} } of before) {
      for (const [name, digest] of Object.entries(inputs)) this.others.set(name, digest)
    }
    this.queue = [...runs]
    this.start = start
    this.ended = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    this.ended.catch(() => {})
    const count = Math.min(jobs, runs.length)
    for (let i = 0; i < count; i++) this.addWorker()
    if (count === 0) this.resolve()
  }

  private addWorker(): void {
    const worker = new Worker(program, {
      workerData: this.start,
      ...(fromSources ? { execArgv: ["--conditions=@rdmakit/source"] } : {}),
    })
    this.workers.set(worker, undefined)
    worker.on("message", (message: WorkerMessage) => this.hear(worker, message))
    worker.on("error", (error) => this.fail(error))
    worker.on("exit", (code) => this.left(worker, code))
    this.next(worker)
  }

  private next(worker: Worker): void {
    const run = this.queue.shift()
    if (run !== undefined) {
      this.workers.set(worker, run)
      worker.postMessage(run)
      return
    }
    this.workers.delete(worker)
    void worker.terminate()
    if (this.workers.size === 0) this.resolve()
  }

  /** A worker's thread has ended under a run: nothing of ours does that, a controller that ends its process does. */
  private left(worker: Worker, code: number): void {
    const run = this.workers.get(worker)
    if (!this.workers.delete(worker) || run === undefined) return
    this.hops.delete(run.index)
    this.shares.delete(run.index)
    this.records.push(failedRecord(run, `the controller ended its process with code ${code}: it must not`))
    this.waiting?.()
    if (this.queue.length > 0) this.addWorker()
    else if (this.workers.size === 0) this.resolve()
  }

  private hear(worker: Worker, message: WorkerMessage): void {
    // What comes after a stop is of runs that are given up.
    if (!this.workers.has(worker)) return
    if (message.type === "bug") {
      this.fail(new Error(message.trace))
      return
    }
    if (message.type === "progress") {
      this.hops.set(message.run, message.packetHops)
      this.shares.set(message.run, message.share)
      return
    }
    const changed = message.type === "changed" ? message.file : this.otherThanBefore(message.record)
    if (changed !== undefined) {
      this.fail(new InputChanged(changed))
      return
    }
    if (message.type === "changed") return
    this.hops.delete(message.record.run)
    this.shares.delete(message.record.run)
    this.hopsDone += message.packetHops
    this.records.push(message.record)
    this.waiting?.()
    this.next(worker)
  }

  /** The file that a run has read otherwise than another run before it. */
  private otherThanBefore({ inputs = {} }: RunRecord): string | undefined {
    for (const [name, digest] of Object.entries(inputs)) {
      if ((this.others.get(name) ?? digest) !== digest) return name
      this.others.set(name, digest)
    }
    return undefined
  }

  private fail(error: Error): void {
    this.reject(error)
    this.stop()
  }

  /** Ends the workers; runs under way are given up. */
  stop(): void {
    const workers = [...this.workers.keys()]
    this.workers.clear()
    this.queue.length = 0
    for (const worker of workers) void worker.terminate()
    this.waiting?.()
    this.resolve()
  }

  /** The runs that have ended since the last call; waits for one, for the end, or so many milliseconds. */
  async take(waitMs: number): Promise<ReadonlyArray<RunRecord>> {
    if (this.records.length === 0 && this.workers.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs)
        this.waiting = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.waiting = undefined
    }
    return this.records.splice(0)
  }

  get running(): boolean {
    return this.workers.size > 0
  }

  /** Runs under way, each as the share of it that is done, in sum. */
  get sharesUnderWay(): number {
    let sum = 0
    for (const share of this.shares.values()) sum += share
    return sum
  }

  get packetHops(): number {
    let sum = this.hopsDone
    for (const hops of this.hops.values()) sum += hops
    return sum
  }
}
