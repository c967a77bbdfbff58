import { Context, Effect, type Scope } from "effect"

/** Signals that end a command: what they are called, and what the shell is told. */
export const signals = {
  SIGINT: { name: "Ctrl-C", code: 130 },
  SIGTERM: { name: "SIGTERM", code: 143 },
  SIGHUP: { name: "SIGHUP", code: 129 },
} as const
export type SignalName = keyof typeof signals

/** Ctrl-C and its like, for commands that end in an orderly way of their own. */
export class Interrupts extends Context.Service<
  Interrupts,
  {
    /**
     * While the scope is open, the first signal no longer interrupts the command: it only calls `asked`. The second
     * ends the process.
     */
    readonly hold: (asked: () => void) => Effect.Effect<void, never, Scope.Scope>
    /** The signal that came; SIGINT before any. */
    readonly received: () => SignalName
  }
>()("@rdmakit/cli/Interrupts") {}

/** The part of a process that signals reach. */
export interface Signalled {
  readonly service: typeof Interrupts.Service
  /** A signal has come; true when a command holds it. */
  readonly signal: (name?: SignalName) => boolean
}

export const makeInterrupts = (): Signalled => {
  let holder: (() => void) | undefined
  let received: SignalName = "SIGINT"
  const signal = (name: SignalName = "SIGINT"): boolean => {
    received = name
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
  return { service: { hold, received: () => received }, signal }
}
