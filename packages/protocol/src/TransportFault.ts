import type { Time } from "./Time.ts"

/** A transport broke its contract: an end of a flow that is none, or events that make no sense or have no end. */
export class TransportFault extends Error {
  readonly _tag = "TransportFault"
  override readonly name = "TransportFault"
  /** Undefined where queue pairs carry no flows. */
  readonly flow: number | undefined
  /** When, ps. */
  readonly time: Time

  /** @param what it did, and what was expected @param whose what it carries, if that is no flow */
  constructor(what: string, flow: number | undefined, time: Time, whose = `flow ${flow}`) {
    super(`transport of ${whose}, at ${time / 1e6} us: ${what}`)
    this.flow = flow
    this.time = time
  }
}

/** Events an engine may have in a row: more than a queue pair has work requests. What comes to more has no end. */
export const EVENTS_MAX: number = 1 << 20

/** That an engine had more events in a row; see `TransportFault`. */
export const endlessEvents = (flow: number | undefined, time: Time, whose?: string): TransportFault => {
  const what = `its pollEvent gave more than ${EVENTS_MAX} events in a row, expected undefined when there is none left`
  return new TransportFault(what, flow, time, whose)
}
