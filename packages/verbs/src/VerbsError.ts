import { type Errno as DeviceErrno, DeviceError } from "@rdmakit/device"
import { hasFields, shown } from "@rdmakit/protocol"
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

/** Refuses a value that no compiler has checked. */
export const wrongType = (verb: string, attribute: string, found: unknown, remedy: string): VerbsError =>
  new VerbsError({ errno: "EINVAL", verb, attribute, problem: `found ${shown(found)}`, remedy })

/** Refuses what is no whole number of its range. */
export const checkWhole = (verb: string, attribute: string, value: number, least: number, most: number): void => {
  if (Number.isInteger(value) && value >= least && value <= most) return
  const grouped = (bound: number): string => bound.toLocaleString("en-US")
  throw wrongType(verb, attribute, value, `give ${grouped(least)} to ${grouped(most)}`)
}

/** Refuses what is no object. @throws VerbsError EINVAL */
export const checkFields = (verb: string, attribute: string, value: unknown, remedy: string): void => {
  if (!hasFields(value)) throw wrongType(verb, attribute, value, remedy)
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
