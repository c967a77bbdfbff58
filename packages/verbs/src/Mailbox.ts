import { Effect } from "effect"

/** Resumes a fiber that waits, in a turn of the scheduler's: a device's events never run a program on their own stack. */
export type Resume<A, E> = (next: () => Effect.Effect<A, E> | undefined) => void

/**
 * Waits until something resumes it. What `next` returns is decided in the fiber's turn; undefined: it goes on waiting.
 * @param register returns what is to be done when the wait is interrupted
 */
export const waitFor = <A, E>(
  register: (resume: Resume<A, E>) => (() => void) | Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  Effect.callback<A, E>(function (resume) {
    const dispatcher = this.makeDispatcher()
    const cancel = register((next) =>
      dispatcher.scheduleTask(() => {
        const effect = next()
        if (effect !== undefined) resume(effect)
      }, 0),
    )
    if (typeof cancel === "function") return Effect.sync(cancel)
    resume(cancel)
    return
  })

interface Taker {
  /** A turn is coming in which it takes. */
  woken: boolean
  readonly wake: () => void
}

/** Things for fibers that wait for them, oldest first. It may end with a failure, after the last thing. */
export class Mailbox<A, E = never> {
  /** Somebody waits, and there is nothing. */
  onWait: (() => void) | undefined
  /** Something has been taken. */
  onTaken: (() => void) | undefined
  private items: Array<A> = []
  private head = 0
  private takers: Array<Taker> = []
  private failure: E | undefined

  get length(): number {
    return this.items.length - this.head
  }
  /** Whether fibers wait. */
  get isAwaited(): boolean {
    return this.takers.length > 0
  }

  offer(item: A): void {
    this.items.push(item)
    this.wakeOne()
  }

  /** No more comes. Those who wait fail, and those who ask later. */
  fail(failure: E): void {
    this.failure ??= failure
    for (const taker of this.takers) this.wake(taker)
  }

  shift(): A | undefined {
    if (this.head === this.items.length) return undefined
    const item = this.items[this.head]
    this.head += 1
    if (this.head === this.items.length) {
      this.items = []
      this.head = 0
    }
    this.onTaken?.()
    return item
  }

  /** Throws away what nobody has taken. */
  drop(isUseless: (item: A) => boolean): void {
    this.items = this.items.slice(this.head).filter((item) => !isUseless(item))
    this.head = 0
  }

  /** The oldest thing, as soon as there is one. Who asked first is served first. */
  readonly take: Effect.Effect<A, E> = Effect.suspend(() => {
    // Those who have been woken have a claim already.
    const claims = this.takers.reduce((count, taker) => count + (taker.woken ? 1 : 0), 0)
    if (this.length > claims) return Effect.succeed(this.shift() as A)
    if (this.failure !== undefined && this.length === 0) return Effect.fail(this.failure)
    return this.wait
  })

  private readonly wait = waitFor<A, E>((resume) => {
    const taker: Taker = { woken: false, wake: () => resume(() => this.serve(taker)) }
    this.takers.push(taker)
    this.onWait?.()
    return () => {
      this.remove(taker)
      if (taker.woken) this.wakeOne()
    }
  })

  private serve(taker: Taker): Effect.Effect<A, E> | undefined {
    if (!this.takers.includes(taker)) return undefined
    const item = this.shift()
    if (item !== undefined) {
      this.remove(taker)
      return Effect.succeed(item)
    }
    if (this.failure !== undefined) {
      this.remove(taker)
      return Effect.fail(this.failure)
    }
    // Somebody has polled what it was woken for.
    taker.woken = false
    this.onWait?.()
    return undefined
  }

  private wakeOne(): void {
    if (this.length === 0) return
    const taker = this.takers.find((each) => !each.woken)
    if (taker !== undefined) this.wake(taker)
  }

  private wake(taker: Taker): void {
    if (taker.woken) return
    taker.woken = true
    taker.wake()
  }

  private remove(taker: Taker): void {
    const at = this.takers.indexOf(taker)
    if (at >= 0) this.takers.splice(at, 1)
  }
}

/** Something that happens once, for all who wait for it. */
export class Signal<E> {
  private outcome: Effect.Effect<void, E> | undefined
  private readonly waiting = new Set<Resume<void, E>>()

  fire(outcome: Effect.Effect<void, E>): void {
    if (this.outcome !== undefined) return
    this.outcome = outcome
    for (const resume of this.waiting) resume(() => outcome)
    this.waiting.clear()
  }

  readonly wait: Effect.Effect<void, E> = Effect.suspend(
    () =>
      this.outcome ??
      waitFor<void, E>((resume) => {
        this.waiting.add(resume)
        return () => this.waiting.delete(resume)
      }),
  )
}
