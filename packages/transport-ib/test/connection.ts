import type { Ack, Controller, ControllerFactory, Feedback, PathInfo, Time } from "@rdmakit/protocol"
import { NEVER } from "@rdmakit/protocol"

/** 8 Gb/s: a byte takes a nanosecond. */
export const LINE_RATE_BPS = 8e9

export const path: PathInfo = {
  lineRateBps: LINE_RATE_BPS,
  baseRttPs: 2e6,
  windowBytes: 0,
  mtuBytes: 1000,
  timeModulusPs: Number.POSITIVE_INFINITY,
  bytesModulus: Number.POSITIVE_INFINITY,
  flow: 0,
  seed: 1,
}

/** A controller that does what a test says, and keeps a list of what it was told. */
export class ScriptedController implements Controller {
  window: number
  rate: number
  nextTimer: Time = NEVER
  /** Answer to the next call that may set the rate. */
  acts = false
  readonly calls: Array<string> = []
  readonly acks: Array<Ack> = []

  constructor(window: number, rate: number) {
    this.window = window
    this.rate = rate
  }

  onSent(now: Time, bytes: number): void {
    this.calls.push(`${now} sent ${bytes}`)
  }
  onAck(now: Time, ack: Ack): boolean {
    this.calls.push(`${now} ack ${ack.sequence}`)
    this.acks.push({ ...ack, telemetry: ack.telemetry.slice() })
    return this.acts
  }
  onCnp(now: Time): boolean {
    this.calls.push(`${now} cnp`)
    return this.acts
  }
  onLoss(now: Time, timeout: boolean): boolean {
    this.calls.push(`${now} loss ${timeout ? "timeout" : "nak"}`)
    return this.acts
  }
  onTimer(now: Time): boolean {
    this.calls.push(`${now} timer`)
    this.nextTimer = NEVER
    return this.acts
  }
  metrics(): Readonly<Record<string, number>> {
    return {}
  }
}

export interface FixedOptions {
  readonly window?: number
  readonly rate?: number
  readonly needs?: ReadonlyArray<Feedback>
}

/** Controllers of a fixed window and rate; the last one made is at hand. */
export const fixedController = ({
  window = Number.POSITIVE_INFINITY,
  rate = LINE_RATE_BPS,
  needs = [],
}: FixedOptions): ControllerFactory & { readonly made: Array<ScriptedController> } => {
  const made: Array<ScriptedController> = []
  return {
    name: "fixed",
    needs,
    made,
    make: () => {
      const controller = new ScriptedController(window, rate)
      made.push(controller)
      return controller
    },
  }
}
