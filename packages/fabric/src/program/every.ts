import { Clock, Duration, Effect, Schedule } from "effect"

/**
 * Recurs at whole multiples of an interval since it began, for ever; the output counts from 0. What takes longer than an
 * interval skips the turns that it missed.
 *
 * In place of `Schedule.fixed` and `Schedule.windowed`, which reckon in milliseconds as floating-point numbers and miss
 * intervals below one by a rounding: this one is exact to the nanosecond, in any clock.
 *
 * @param interval at least a nanosecond
 */
export const every = (interval: Duration.Input): Schedule.Schedule<number> => {
  const nanos = Duration.toNanosUnsafe(Duration.fromInputUnsafe(interval))
  if (nanos < 1n) throw new RangeError(`every(${String(interval)}): expected at least a nanosecond`)
  return Schedule.fromStep(
    Effect.sync(() => {
      let turn = 0
      let start = 0n
      return () =>
        Effect.map(Clock.currentTimeNanos, (now) => {
          if (turn === 0) start = now
          return [turn++, Duration.nanos(nanos - ((now - start) % nanos))] as [number, Duration.Duration]
        })
    }),
  )
}
