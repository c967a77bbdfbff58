import { Data } from "effect"

/** Names of errno that calls are refused with. */
export type Errno = "EINVAL" | "ENOMEM" | "EBUSY" | "EFAULT" | "EOPNOTSUPP" | "EHOSTUNREACH" | "ENODEV" | "ENOENT"

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
