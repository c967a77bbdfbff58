/**
 * Work that takes long, in steps: between two of them whoever runs it may hear of a signal, or stop. Each step
 * gives how many flows there are by then; the steps of a workload throw what the function of the same name throws.
 */
export type Steps<A> = Generator<number, A>

/** Flows that are made in one step. */
export const STEP_FLOWS = 100_000

/** Every step, one after another. */
export const finished = <A>(steps: Steps<A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
