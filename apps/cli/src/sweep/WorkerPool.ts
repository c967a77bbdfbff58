import { Worker } from "node:worker_threads"
import { type Digests, InputChanged } from "./FileReads.ts"
import type { RunRecord } from "./RunRecord.ts"
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

/** A worker's thread ended under a run: nothing of ours does that, a controller that ends its process does. */
export class WorkerEnded extends Error {
  constructor(code: number) {
    super(`a worker ended with code ${code} in the middle of a run`)
  }
}

/** Hands runs to worker threads, one at a time to each, until none is left or somebody says stop. */
export class WorkerPool {
  /** Settles when all has been done, or `stop` was called; rejects when a worker broke. */
  readonly ended: Promise<void>
  /** Packet-hops of all runs so far, for the rate. */
  private readonly hops = new Map<number, number>()
  private readonly shares = new Map<number, number>()
  private hopsDone = 0
  private readonly workers = new Set<Worker>()
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
    this.ended = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    this.ended.catch(() => {})
    const count = Math.min(jobs, runs.length)
    for (let i = 0; i < count; i++) this.addWorker(start)
    if (count === 0) this.resolve()
  }

  private addWorker(start: WorkerStart): void {
    const worker = new Worker(program, {
      workerData: start,
      ...(fromSources ? { execArgv: ["--conditions=@rdmakit/source"] } : {}),
    })
    this.workers.add(worker)
    worker.on("message", (message: WorkerMessage) => this.hear(worker, message))
    worker.on("error", (error) => this.fail(error))
    worker.on("exit", (code) => {
      if (this.workers.has(worker)) this.fail(new WorkerEnded(code))
    })
    this.next(worker)
  }

  private next(worker: Worker): void {
    const run = this.queue.shift()
    if (run !== undefined) {
      worker.postMessage(run)
      return
    }
    this.workers.delete(worker)
    void worker.terminate()
    if (this.workers.size === 0) this.resolve()
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
    const workers = [...this.workers]
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
