import type { Ack, Controller } from "./Controller.ts"
import { NEVER, type Time } from "./Time.ts"

/**
 * A controller that goes by acknowledgements alone: it has no timer, and nothing to do when packets leave, nor when a CNP
 * or a loss is heard of. One that has overrides what it needs.
 */
export abstract class AckController implements Controller {
  abstract readonly window: number
  abstract readonly rate: number
  // No field: a flow would carry a box with this number.
  get nextTimer(): Time {
    return NEVER
  }

  abstract onAck(now: Time, ack: Ack): boolean
  abstract metrics(): Readonly<Record<string, number>>

  onSent(_now: Time, _bytes: number): void {}

  onCnp(_now: Time): boolean {
    return false
  }

  onLoss(_now: Time, _timeout: boolean): boolean {
    return false
  }

  onTimer(_now: Time, _timer: number): boolean {
    return false
  }
}
