import { Context, Effect, type Scope } from "effect"

/** Ctrl-C, for commands that end in an orderly way of their own. */
export class Interrupts extends Context.Service<
  Interrupts,
  {
    /**
     * While the scope is open, the first Ctrl-C no longer interrupts the command: it only calls `asked`. The second
     * ends the process.
     */
    readonly hold: (asked: () => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@rdmakit/cli/Interrupts") {}

/** The part of a process that signals reach. */
export interface Signalled {
  readonly service: typeof Interrupts.Service
  /** A signal has come; true when a command holds it. */
  readonly signal: () => boolean
}

export const makeInterrupts = (): Signalled => {
  let holder: (() => void) | undefined
  const signal = (): boolean => {
    const asked = holder
    holder = undefined
    asked?.()
    return asked !== undefined
  }
  const hold = (asked: () => void) =>
    Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => {
          holder = asked
        }),
        () =>
          Effect.sync(() => {
            holder = undefined
          }),
      ),
    )
  return { service: { hold }, signal }
}
