/** Results that are shown as they come, those of a program in virtual time too. */
import { type Cause, Effect, Fiber, Queue } from "effect"
import { Exit, exitCodes } from "../Exit.ts"
import { Screen } from "../Screen.ts"

/** Hands lines over to be written. It never waits, so that a program in virtual time may call it. */
export type Show = (...lines: ReadonlyArray<string>) => Effect.Effect<void>

/** How often it is looked whether anybody reads still. */
const LOOK_MS = 50

/**
 * Runs what has lines to show, and ends when all of them are written. When their reader has gone, as `head` does when it has
 * enough, what runs is interrupted, and the command has ended well.
 */
export const withLiveLines = <A, E, R>(run: (show: Show) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { out, readerGone } = yield* Screen
    const lines = yield* Queue.unbounded<string, Cause.Done>()
    const writer = yield* Effect.forkChild(
      Effect.forever(Effect.flatMap(Queue.take(lines), (line) => out.write(`${line}\n`))),
    )
    const written = Effect.andThen(Queue.end(lines), Fiber.await(writer))
    const abandoned = Effect.gen(function* () {
      while (!readerGone()) yield* Effect.sleep(LOOK_MS)
      return yield* new Exit({ code: exitCodes.fine })
    })
    const show: Show = (...all) =>
      Effect.sync(() => {
        for (const line of all) Queue.offerUnsafe(lines, line)
      })
    return yield* Effect.raceFirst(run(show), abandoned).pipe(Effect.ensuring(written))
  })
