import { Worker } from "node:worker_threads"
import type { Figure, Scale } from "./Claim.ts"
import { runSystem } from "./Experiment.ts"
import type { Measured } from "./Measured.ts"

/** One run: a system of a figure. */
export interface Job {
  readonly figure: string
  readonly system: string
  readonly scale: Scale
}

export interface JobOptions {
  readonly scale: Scale
  /** Worker threads; 0: this thread. */
  readonly workers: number
  /** The worker's module. */
  readonly worker: URL
  /** Options of Node for it. */
  readonly execArgv?: ReadonlyArray<string>
  readonly onDone?: (measured: Measured, done: number, total: number) => void
  readonly signal?: AbortSignal
}

/** Every run of some figures. */
export const jobsOf = (figures: ReadonlyArray<Figure>, scale: Scale): ReadonlyArray<Job> =>
  figures.flatMap(({ id, systems }) => systems.map(({ name }) => ({ figure: id, system: name, scale })))

/**
 * Carries out every run of some figures. What comes back is in the order of the figures and their systems, whichever run
 * ended first: the number of threads changes nothing. After an abort, what had ended.
 */
export const runFigures = async (
  figures: ReadonlyArray<Figure>,
  { scale, workers, worker, execArgv, onDone, signal }: JobOptions,
): Promise<ReadonlyArray<Measured>> => {
  const jobs = jobsOf(figures, scale)
  const results: Array<Measured | undefined> = jobs.map(() => undefined)
  // The large networks first: no thread is left with one of them at the end.
  const isLarge = ({ figure }: Job): boolean => largeFigures.has(figure)
  const largeFigures = new Set(figures.filter(isFabric).map(({ id }) => id))
  const turns = [...jobs.keys()].sort((a, b) => Number(isLarge(jobs[b]!)) - Number(isLarge(jobs[a]!)) || a - b)
  let next = 0
  let done = 0
  const take = (): number | undefined => (signal?.aborted === true ? undefined : turns[next++])
  const keep = (index: number, measured: Measured): void => {
    results[index] = measured
    onDone?.(measured, ++done, jobs.length)
  }
  if (workers === 0) {
    for (let index = take(); index !== undefined; index = take()) {
      const { figure: id, system: name } = jobs[index]!
      const figure = figures.find((each) => each.id === id)!
      keep(index, await runSystem(figure, figure.systems.find((each) => each.name === name)!, scale))
    }
  } else {
    await Promise.all(
      Array.from({ length: Math.min(workers, jobs.length) }, () =>
        serve(
          new Worker(worker, {
            workerData: { role: "claims" },
            ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
          }),
          jobs,
          take,
          keep,
          signal,
        ),
      ),
    )
  }
  return results.filter((measured) => measured !== undefined)
}

const isFabric = ({ scenario }: Figure): boolean =>
  (scenario.topology as { readonly builder?: string } | undefined)?.builder === "hpcc-fabric"

/** One thread, a run at a time until none is left. */
const serve = (
  worker: Worker,
  jobs: ReadonlyArray<Job>,
  take: () => number | undefined,
  keep: (index: number, measured: Measured) => void,
  signal: AbortSignal | undefined,
): Promise<void> =>
  new Promise((resolve, reject) => {
    let index: number | undefined
    const end = (): void => void worker.terminate().then(() => resolve())
    const send = (): void => {
      index = take()
      if (index === undefined) end()
      else worker.postMessage(jobs[index])
    }
    worker.on("message", (measured: Measured) => {
      keep(index!, measured)
      send()
    })
    worker.on("error", reject)
    signal?.addEventListener("abort", end, { once: true })
    send()
  })
