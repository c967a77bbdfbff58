/** Errors of the verbs, by the names of errno. */
export type Errno = "EINVAL" | "ENOMEM" | "EBUSY" | "EFAULT" | "EOPNOTSUPP" | "EHOSTUNREACH"

/** A verb was refused, and nothing has changed. */
export class DeviceError extends Error {
  readonly _tag = "DeviceError"
  readonly errno: Errno
  /** The verb, as libibverbs names it: `modify_qp`. */
  readonly verb: string
  /** The attribute that is to blame, as the device's interfaces name it; undefined when it is no single one. */
  readonly attribute: string | undefined
  readonly problem: string
  /** What to do. */
  readonly remedy: string

  constructor(errno: Errno, verb: string, attribute: string | undefined, problem: string, remedy: string) {
    super(`${verb}: ${errno}: ${attribute === undefined ? "" : `${attribute}: `}${problem}; ${remedy}`)
    this.name = "DeviceError"
    this.errno = errno
    this.verb = verb
    this.attribute = attribute
    this.problem = problem
    this.remedy = remedy
  }
}
