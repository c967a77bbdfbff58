/** Controllers from elsewhere: what a module exports is looked at, and what it makes is watched. */
import { nearestWord } from "@rdmakit/ns3"
import {
  type Ack,
  type Controller,
  type ControllerFactory,
  ControllerFault,
  type Feedback,
  type PathInfo,
  type Time,
  type Timers,
} from "@rdmakit/protocol"

const feedbacks: ReadonlyArray<Feedback> = ["rtt", "ecn", "cnp", "int", "pint"]
const methods = ["onSent", "onAck", "onCnp", "onLoss", "onTimer", "metrics"] as const
const quantities = ["window", "rate", "nextTimer"] as const

/** Names stand in tables and messages. */
const NAME = /^\P{C}{1,64}$/u
/** Longest value that a message shows. */
const SHOWN_MAX = 80

/** Timers that fire more often than this are taken for a loop that never ends. */
const TIMER_CALLS = 1000
const TIMER_PERIOD_MIN_PS = 1000

/** A module that gives no controller; the message says where, what was found and what was expected. */
export class ControllerModuleError extends Error {
  readonly _tag = "ControllerModuleError"
  /** What to do about it. */
  readonly hint: string | undefined
  constructor(message: string, hint?: string) {
    super(message)
    this.name = "ControllerModuleError"
    this.hint = hint
  }
}

/**
 * The factory that a user's module exports: a `ControllerFactory` as its default export or as the module itself, or a
 * function of options that makes one, as its default export or as `make`. Its controllers are watched: one that throws,
 * sets a rate or a window that cannot be, or a timer that never lets time pass, ends its run with a `ControllerFault`.
 *
 * @param file as the user names it, for messages
 * @param options what a function of options is called with
 * @throws ControllerModuleError
 */
export const userController = (
  module: Readonly<Record<string, unknown>>,
  file: string,
  options: Readonly<Record<string, unknown>> = {},
): ControllerFactory => {
  try {
    return factoryOf(module, file, options)
  } catch (error) {
    if (error instanceof ControllerModuleError) throw error
    throw new ControllerModuleError(`${file}: reading what it exports threw ${thrown(error, file)}`, MODULE)
  }
}

const factoryOf = (
  module: Readonly<Record<string, unknown>>,
  file: string,
  options: Readonly<Record<string, unknown>>,
): ControllerFactory => {
  const { name, needs, pintBase, ...factory } = exported(module, file, options)
  const refuse = (field: string, found: unknown, expected: string, hint?: string): never => {
    throw new ControllerModuleError(`${file}: ${field}: found ${shown(found)}, expected ${expected}`, hint)
  }
  if (typeof name !== "string" || !NAME.test(name))
    return refuse("name", name, "the name of the controller, a text of at most 64 printable characters")
  if (!Array.isArray(needs)) return refuse("needs", needs, `a list of ${feedbacks.join(", ")}`)
  for (const need of needs) {
    if (feedbacks.includes(need)) continue
    const near = typeof need === "string" ? nearestWord(need, feedbacks) : undefined
    return refuse("needs", need, feedbacks.join(", "), near === undefined ? undefined : `did you mean ${near}?`)
  }
  if (pintBase !== undefined && !(typeof pintBase === "number" && pintBase > 1 && pintBase < Number.POSITIVE_INFINITY))
    return refuse("pintBase", pintBase, "a number above 1")
  return {
    name,
    needs: [...(needs as ReadonlyArray<Feedback>)],
    ...(pintBase === undefined ? {} : { pintBase: pintBase as number }),
    make: (now, path) => new WatchedController(factory.make, file, now, path),
  }
}

interface Exported {
  readonly name: unknown
  readonly needs: unknown
  readonly pintBase: unknown
  readonly make: ControllerFactory["make"]
}

const exported = (
  module: Readonly<Record<string, unknown>>,
  file: string,
  options: Readonly<Record<string, unknown>>,
): Exported => {
  const own = isFactory(module.default) ? module.default : "needs" in module && isFactory(module) ? module : undefined
  if (own !== undefined) return fieldsOf(own)
  const [field, make] = typeof module.default === "function" ? ["default", module.default] : ["make", module.make]
  if (typeof make !== "function") {
    if (module.default !== undefined) {
      throw new ControllerModuleError(
        `${file}: export default: found ${shown(module.default)}, expected a controller`,
        MODULE,
      )
    }
    const names = Object.keys(module)
    throw new ControllerModuleError(
      `${file}: found ${names.length === 0 ? "no exports" : `the exports ${names.map(exportName).join(", ")}`}, expected a controller`,
      MODULE,
    )
  }
  let made: unknown
  try {
    made = make(options)
  } catch (error) {
    throw new ControllerModuleError(`${file}: ${field}(options) threw ${thrown(error, file)}`)
  }
  if (isFactory(made)) return fieldsOf(made)
  throw new ControllerModuleError(
    `${file}: ${field}(options) returned ${shown(made)}, expected { name, needs, make(now, path) }`,
    isPromise(made) ? NOT_ASYNC : undefined,
  )
}

const MODULE = "export default { name, needs, make(now, path) }, or a function make(options) that returns one"
const NOT_ASYNC = "nothing here waits for it: write the function without async"

const isPromise = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"

const isFactory = (value: unknown): value is ControllerFactory =>
  typeof value === "object" && value !== null && "make" in value && typeof value.make === "function"

const fieldsOf = (factory: ControllerFactory): Exported => ({
  name: factory.name,
  needs: factory.needs,
  pintBase: factory.pintBase,
  make: (now, path) => factory.make(now, path),
})

/** An export may have any text for a name. */
const exportName = (name: string): string => (NAME.test(name) ? name : shown(name))

const shown = (value: unknown): string => {
  if (value === undefined) return "nothing"
  if (typeof value === "function") return "a function"
  if (typeof value === "number") return String(value)
  if (isPromise(value)) return "a Promise"
  try {
    const text = JSON.stringify(value) ?? typeof value
    return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
  } catch {
    return `a value of type ${typeof value}`
  }
}

/** What was thrown, and where in the user's file. */
const thrown = (error: unknown, file: string): string => {
  if (!(error instanceof Error)) return shown(error)
  const place = placeIn(error.stack ?? "", file)
  return `${error.name}: ${error.message}${place === undefined ? "" : ` (${place})`}`
}

/** `mine.ts:12:5`, the first line of a stack that is in the file. */
const placeIn = (stack: string, file: string): string | undefined => {
  const name = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1)
  for (const line of stack.split("\n")) {
    const match = /[/\\]([^/\\]+?)(?:\?[^:]*)?:(\d+):(\d+)\)?$/.exec(line)
    if (match?.[1] === name) return `${name}:${match[2]}:${match[3]}`
  }
  return undefined
}

/** A user's controller: whatever is wrong with it becomes a fault that names the flow, the moment and the place. */
class WatchedController implements Controller {
  /** What it had set when it was last looked at: after each callback. */
  window = 0
  rate = 0
  nextTimer: Time = 0
  readonly timers: Timers | undefined

  private readonly inner: Controller
  private readonly file: string
  private readonly flow: number
  private timerCalls = 0
  private timerSince: Time
  /** Its own copy of an acknowledgement: what it writes there is nobody else's. */
  private readonly lent = {} as Ack

  /** @throws ControllerFault */
  constructor(make: ControllerFactory["make"], file: string, now: Time, path: PathInfo) {
    this.file = file
    this.flow = path.flow
    this.timerSince = now
    try {
      this.inner = make(now, path)
    } catch (error) {
      throw this.fault(`make threw ${thrown(error, file)}`, now)
    }
    try {
      this.look(now)
      this.timers = this.inner.timers
    } catch (error) {
      throw this.failed("what make returned", error, now)
    }
  }

  /** What a controller has to have. */
  private look(now: Time): void {
    const inner: unknown = this.inner
    if (typeof inner !== "object" || inner === null) {
      throw this.fault(`make returned ${shown(inner)}, expected a controller`, now)
    }
    if (isPromise(inner)) throw this.fault(`make returned a Promise, expected a controller; ${NOT_ASYNC}`, now)
    for (const name of methods) {
      if (typeof (inner as Record<string, unknown>)[name] === "function") continue
      throw this.fault(`it has no ${name}, expected a function`, now)
    }
    this.check(now)
  }

  private fault(what: string, now: Time): ControllerFault {
    return new ControllerFault(what, this.flow, now)
  }

  /** Whether what was set can be. */
  private check(now: Time): void {
    const { window, rate, nextTimer } = this.inner
    if (typeof window !== "number" || typeof rate !== "number" || typeof nextTimer !== "number") {
      const name = quantities.find((quantity) => typeof this.inner[quantity] !== "number")!
      throw this.fault(`its ${name} is ${shown(this.inner[name])}, expected a number`, now)
    }
    if (!(rate > 0 && rate < Number.POSITIVE_INFINITY)) {
      throw this.fault(`its rate is ${rate} bit/s, expected a finite number above 0`, now)
    }
    if (!(window >= 1)) throw this.fault(`its window is ${window} bytes, expected at least 1`, now)
    if (!(nextTimer >= 0)) {
      throw this.fault(`its nextTimer is ${nextTimer} ps, expected a time, or Infinity for none`, now)
    }
    this.window = window
    this.rate = rate
    this.nextTimer = nextTimer
  }

  /** Passes an answer on when it is one, and what was set can be. */
  private answered(now: Time, callback: string, acted: boolean): boolean {
    this.check(now)
    if (typeof acted === "boolean") return acted
    const advice = isPromise(acted) ? `; ${NOT_ASYNC}` : ""
    const expected = `expected true when it set rate or window, else false${advice}`
    throw this.fault(`${callback} returned ${shown(acted)}, ${expected}`, now)
  }

  /** What a callback threw; faults of our own pass. */
  private failed(callback: string, error: unknown, now: Time): Error {
    if (error instanceof ControllerFault) return error
    return this.fault(`${callback} threw ${thrown(error, this.file)}`, now)
  }

  onSent(now: Time, bytes: number): void {
    try {
      const answer: unknown = this.inner.onSent(now, bytes)
      // Nothing is asked of it, but what it does later nobody sees.
      if (isPromise(answer)) throw this.fault(`onSent returned a Promise, expected nothing; ${NOT_ASYNC}`, now)
      this.check(now)
    } catch (error) {
      throw this.failed("onSent", error, now)
    }
  }

  onAck(now: Time, ack: Ack): boolean {
    try {
      return this.answered(now, "onAck", this.inner.onAck(now, Object.assign(this.lent, ack)))
    } catch (error) {
      throw this.failed("onAck", error, now)
    }
  }

  onCnp(now: Time): boolean {
    try {
      return this.answered(now, "onCnp", this.inner.onCnp(now))
    } catch (error) {
      throw this.failed("onCnp", error, now)
    }
  }

  onLoss(now: Time, timeout: boolean): boolean {
    try {
      return this.answered(now, "onLoss", this.inner.onLoss(now, timeout))
    } catch (error) {
      throw this.failed("onLoss", error, now)
    }
  }

  onTimer(now: Time, timer: number): boolean {
    this.countTimer(now)
    try {
      const acted = this.answered(now, "onTimer", this.inner.onTimer(now, timer))
      const { nextTimer } = this
      if (nextTimer < now) throw this.fault(`its nextTimer is ${nextTimer} ps, ${now - nextTimer} ps ago`, now)
      return acted
    } catch (error) {
      throw this.failed("onTimer", error, now)
    }
  }

  private countTimer(now: Time): void {
    if (this.timerCalls === 0) this.timerSince = now
    if (++this.timerCalls < TIMER_CALLS) return
    const sincePs = now - this.timerSince
    if (sincePs < (TIMER_CALLS - 1) * TIMER_PERIOD_MIN_PS) {
      const expected = "expected a timer that is set to a later time, or to Infinity, and at most once a nanosecond"
      throw this.fault(`its timer fired ${TIMER_CALLS} times within ${sincePs} ps, ${expected}`, now)
    }
    this.timerCalls = 0
  }

  metrics(): Readonly<Record<string, number>> {
    return this.inner.metrics()
  }
}
