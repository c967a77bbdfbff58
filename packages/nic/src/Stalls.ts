import { ControllerFault, type Time } from "@rdmakit/protocol"

/**
 * Times in a row that a timer may be due again, at once or in the past, when it has just fired. Several deadlines of one
 * moment may well follow each other; what comes to this many lets time pass no more.
 */
const STALLS_MAX = 1000

/** Finds endpoints whose timers no longer let time pass. Nothing is kept of others. */
export class Stalls {
  /** By index of the endpoint: how often in a row it was due again at once. */
  private readonly counts = new Map<number, number>()

  /**
   * A timer of an endpoint has just fired, and is due again.
   * @param index its index among the endpoints
   * @param due when, ps; NEVER or a later time is well
   * @throws ControllerFault
   */
  fired(now: Time, index: number, due: Time): void {
    if (!(due <= now)) {
      if (this.counts.size > 0) this.counts.delete(index)
      return
    }
    const count = (this.counts.get(index) ?? 0) + 1
    this.counts.set(index, count)
    if (count >= STALLS_MAX) refuse(index, now, due, `, as it was ${STALLS_MAX} times in a row when it had just fired`)
  }
}

/**
 * A timer is due at a time that is none, or again and again.
 * @param index of the endpoint: those of flow f are 2f and 2f + 1
 * @param often "" or how often that came about
 * @throws ControllerFault
 */
export const refuse = (index: number, now: Time, due: Time, often = ""): never => {
  const found = Number.isNaN(due) ? "NaN" : `${due} ps, ${due === now ? "which is now" : `${now - due} ps ago`}`
  throw new ControllerFault(`its timer is due at ${found}${often}: expected a later time, or NEVER`, index >> 1, now)
}
