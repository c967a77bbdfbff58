import { type Errno as DeviceErrno, DeviceError } from "@rdmakit/device"
import { Data, Effect } from "effect"

/** Names of errno that calls are refused with. */
export type Errno = DeviceErrno | "ENODEV" | "ENOENT"

/** A call was refused, and nothing has changed. */
export class VerbsError extends Data.TaggedError("VerbsError")<{
  readonly errno: Errno
  /** The call, as libibverbs names it: `modify_qp`. */
  readonly verb: string
  /** The attribute to blame, as the interfaces here name it; undefined when it is no single one. */
  readonly attribute?: string | undefined
  readonly problem: string
  /** What to do. */
  readonly remedy: string
}> {
  override get message(): string {
    const attribute = this.attribute === undefined ? "" : `${this.attribute}: `
    return `${this.verb}: ${this.errno}: ${attribute}${this.problem}; ${this.remedy}`
  }
}

/** What a call has thrown, as this package says it. A fault of ours stays what it is. */
export const refusalOf = (thrown: unknown): VerbsError => {
  if (thrown instanceof VerbsError) return thrown
  if (!(thrown instanceof DeviceError)) throw thrown
  const { errno, verb, attribute, problem, remedy } = thrown
  return new VerbsError({ errno, verb, attribute, problem, remedy })
}

/** Calls a device. */
export const attempt = <A>(call: () => A): Effect.Effect<A, VerbsError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(call())
    } catch (thrown) {
      return Effect.fail(refusalOf(thrown))
    }
  })
