/** How a program of verbs ends when it does not end well. */
import { PerfSettingError, PingpongSettingError, RpingSettingError } from "@rdmakit/perftest"
import { Effect } from "effect"
import { Exit, exitCodes, Refused } from "../Exit.ts"
import { paintOf } from "../Paint.ts"
import { print, Screen } from "../Screen.ts"
import { inOneLine } from "../Shown.ts"

/** Flags that are not called as the setting is. */
const FLAGS: Readonly<Record<string, string>> = {
  bytes: "size",
  iterations: "iters",
  queuePairs: "qp",
  mtuBytes: "mtu",
  txDepth: "tx-depth",
  rxDepth: "rx-depth",
  moderation: "cq-mod",
  rounds: "count",
  inlineBytes: "inline",
  gidIndex: "gid-index",
}
/** As ibv_srq_pingpong and its like call theirs. */
const PINGPONG_FLAGS: Readonly<Record<string, string>> = { ...FLAGS, queuePairs: "num-qp", gidIndex: "gid-idx" }

interface Told {
  readonly _tag: string
  readonly message: string
  readonly doThis?: string | undefined
}

/** A setting that cannot be is refused; whatever else goes wrong is told, and the exit code is 1. */
export const endingWell =
  (json: boolean) =>
  <A, E extends Told, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Exit | Refused | Passed<E>, R | Screen> =>
    Effect.catch(effect, (error): Effect.Effect<never, Exit | Refused | Passed<E>, Screen> => {
      if (
        error instanceof PerfSettingError ||
        error instanceof PingpongSettingError ||
        error instanceof RpingSettingError
      ) {
        const { option, found, expected } = error
        const flags = error instanceof PingpongSettingError ? PINGPONG_FLAGS : FLAGS
        const flag = flags[option] ?? option
        return Effect.fail(new Refused({ message: `--${flag}: found ${found}, expected ${expected}` }))
      }
      if (PASSED.has(error._tag)) return Effect.fail(error as Passed<E>)
      return Effect.gen(function* () {
        const { err } = yield* Screen
        const { message, doThis } = error
        const hint = doThis === undefined ? {} : { hint: doThis }
        if (json) yield* print(JSON.stringify({ ok: false, faults: [{ message, ...hint }], notes: [] }))
        yield* err.write(`${paintOf(err).red("error:")} ${inOneLine(message)}\n`)
        if (doThis !== undefined) yield* err.write(`${doThis}\n`)
        return yield* new Exit({ code: exitCodes.notWell })
      })
    })

/** What the command line itself knows to tell. */
const PASSED: ReadonlySet<string> = new Set(["Exit", "Refused", "InputsRefused", "PlatformError"])
type Passed<E> = Extract<E, { readonly _tag: "Exit" | "Refused" | "InputsRefused" | "PlatformError" }>
