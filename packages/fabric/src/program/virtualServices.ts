import type { Time } from "@rdmakit/protocol"
import { Random } from "@rdmakit/units"
import { type Clock, Duration, Effect, type Random as EffectRandom } from "effect"
import type { Sleepers } from "./Sleepers.ts"
import type { VirtualScheduler } from "./VirtualScheduler.ts"

const PS_PER_NS = 1000
const PS_PER_MS = 1e9

/** Keeps the draws of a program's `Random` apart from those of the network, which has the same seed. */
const RANDOM_STREAM = 0x50524f47

/** The clock of virtual time: it starts at 0, and stands still while fibers run. */
export const virtualClock = (now: () => Time, sleepers: Sleepers, scheduler: VirtualScheduler): Clock.Clock => {
  const millis = (): number => now() / PS_PER_MS
  const nanos = (): bigint => BigInt(Math.floor(now() / PS_PER_NS))
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => {
      if (!Duration.isFinite(duration)) return Effect.never
      const spanPs = Math.max(0, Number(Duration.toNanosUnsafe(duration)) * PS_PER_NS)
      // Who sleeps for no time lets others go first, and no more: time must be able to move on past those who poll so.
      if (spanPs === 0) return Effect.yieldNow
      return Effect.callback<void>((resume) => {
        const sleeper = sleepers.add(now() + spanPs, () => scheduler.post(() => resume(Effect.void)))
        return Effect.sync(() => sleepers.remove(sleeper))
      })
    },
  }
}

/** Effect's source of randomness, from a seed. */
export const seededRandom = (seed: number): (typeof EffectRandom.Random)["Service"] => {
  const random = new Random(seed, RANDOM_STREAM)
  const span = Number.MAX_SAFE_INTEGER - Number.MIN_SAFE_INTEGER + 1
  return {
    nextDoubleUnsafe: () => random.next(),
    nextIntUnsafe: () => Math.floor(random.next() * span) + Number.MIN_SAFE_INTEGER,
  }
}
