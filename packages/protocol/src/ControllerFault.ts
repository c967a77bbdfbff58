import type { Controller } from "./Controller.ts"
import { shown } from "./OptionChecks.ts"
import type { Time } from "./Time.ts"

/**
 * A controller broke its contract: a rate that is no finite positive number, a window below one byte, a timer that is no
 * time, or lets time pass no more.
 */
export class ControllerFault extends Error {
  readonly _tag = "ControllerFault"
  override readonly name = "ControllerFault"
  readonly flow: number
  /** When, ps. */
  readonly time: Time

  constructor(what: string, flow: number, time: Time) {
    super(`controller of flow ${flow}, at ${time / 1e6} us: ${what}`)
    this.flow = flow
    this.time = time
  }
}

/**
 * Looks at what a controller has set.
 *
 * @param flow the flow's number, for the message
 * @throws ControllerFault
 */
export function checkController(controller: Controller, flow: number, now: Time): void {
  if (typeof controller !== "object" || controller === null) {
    throw new ControllerFault(`make returned ${shown(controller)}, expected a controller`, flow, now)
  }
  const { rate, window, nextTimer } = controller
  if (!(rate > 0 && rate < Number.POSITIVE_INFINITY)) {
    throw new ControllerFault(`its rate is ${rate} bit/s, expected a finite number above 0`, flow, now)
  }
  if (!(window >= 1)) throw new ControllerFault(`its window is ${window} bytes, expected at least 1`, flow, now)
  if (Number.isNaN(nextTimer)) throw new ControllerFault("its nextTimer is NaN, expected a time, or NEVER", flow, now)
}
