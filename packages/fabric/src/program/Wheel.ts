import type { Time } from "@rdmakit/protocol"

/** What virtual time runs on: events in order, and an alarm clock among them. */
export interface Wheel {
  /** Of the event that was last, ps. */
  readonly now: Time
  /** Whether nothing is left to happen. */
  readonly isDone: boolean
  /** Executes the next event; false: none is left before `until`. */
  step(until: Time): boolean
  /** Tells devices, and so the program's fibers, what the event has brought. */
  settle(): void
  /** Called at the time asked for, in the course of an event. */
  onAlarm: (now: Time) => void
  /** Asks for `onAlarm` at a time that is not past, in place of the time asked for before; NEVER: no more. */
  alarmAt(time: Time): void
}
