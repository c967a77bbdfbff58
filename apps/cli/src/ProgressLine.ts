import type { RunProgress } from "@rdmakit/scenario"
import { MILLISECOND } from "@rdmakit/units"
import type { Effect } from "effect"
import { grouped, percent, short } from "./Figures.ts"
import type { Surface } from "./Screen.ts"
import { StatusLine, timeLeft } from "./StatusLine.ts"

/** Tells how far a run has come. */
export class ProgressLine {
  readonly clear: Effect.Effect<void>
  private readonly line: StatusLine
  private readonly startMs: number
  private toldHops = 0

  /** @param now milliseconds from any beginning */
  constructor(surface: Surface, now: () => number) {
    this.startMs = now()
    this.line = new StatusLine(surface, now)
    this.clear = this.line.clear
  }

  /** Writes when it is time to. */
  update(progress: RunProgress): Effect.Effect<void> {
    return this.line.update((nowMs, sinceMs) => {
      const hopsPerSecond = ((progress.packetHops - this.toldHops) / sinceMs) * 1000
      this.toldHops = progress.packetHops
      return progressText(progress, hopsPerSecond, nowMs - this.startMs)
    })
  }
}

/** One line: `62.0 %  4,950 of 7,981 flows  at 6.300 ms  2.90 M hops/s  0:03 left`. */
const progressText = (progress: RunProgress, hopsPerSecond: number, elapsedMs: number): string => {
  const { flowsFinished, flowsTotal, finishedShare: share, simulatedPs } = progress
  return [
    percent(share, 1),
    `${grouped(flowsFinished)} of ${grouped(flowsTotal)} flows`,
    `at ${(simulatedPs / MILLISECOND).toFixed(3)} ms`,
    `${short(hopsPerSecond)} hops/s`,
    ...timeLeft(share, elapsedMs),
  ].join("  ")
}
