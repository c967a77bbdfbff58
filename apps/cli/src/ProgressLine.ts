import type { RunProgress } from "@rdmakit/scenario"
import { MILLISECOND } from "@rdmakit/units"
import { Effect } from "effect"
import { grouped, percent, short } from "./Figures.ts"
import type { Surface } from "./Screen.ts"

const TERMINAL_INTERVAL_MS = 100
/** Where nobody watches, a line now and then shows that it goes on. */
const LOG_INTERVAL_MS = 30_000
/** An estimate from less would only jump about. */
const ESTIMATE_MS = 1000
const ESTIMATE_SHARE = 0.02
const CLEAR_LINE = "\r\x1b[K"

/** Tells how far a run has come: one line that changes on a terminal, a line now and then elsewhere. */
export class ProgressLine {
  private readonly surface: Surface
  private readonly columns: number
  private readonly now: () => number
  private readonly startMs: number
  private toldMs: number
  private toldHops = 0
  private shown = false

  /** @param now milliseconds from any beginning */
  constructor(surface: Surface, columns: number, now: () => number) {
    this.surface = surface
    this.columns = columns
    this.now = now
    this.startMs = this.toldMs = now()
  }

  /** Writes when it is time to. */
  update(progress: RunProgress): Effect.Effect<void> {
    const nowMs = this.now()
    const sinceMs = nowMs - this.toldMs
    if (sinceMs < (this.surface.isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS)) return Effect.void
    const hopsPerSecond = ((progress.packetHops - this.toldHops) / sinceMs) * 1000
    this.toldMs = nowMs
    this.toldHops = progress.packetHops
    const text = progressText(progress, hopsPerSecond, nowMs - this.startMs)
    if (!this.surface.isTerminal) return this.surface.write(`${text}\n`)
    this.shown = true
    return this.surface.write(`${CLEAR_LINE}${text.slice(0, this.columns - 1)}`)
  }

  /** Takes the line away. */
  readonly clear: Effect.Effect<void> = Effect.suspend(() => {
    if (!this.shown) return Effect.void
    this.shown = false
    return this.surface.write(CLEAR_LINE)
  })
}

/** One line: `62.0 %  4,950 of 7,981 flows  at 6.300 ms  2.90 M hops/s  0:03 left`. */
const progressText = (progress: RunProgress, hopsPerSecond: number, elapsedMs: number): string => {
  const { flowsFinished, flowsTotal, finishedShare: share, simulatedPs } = progress
  const parts = [
    percent(share, 1),
    `${grouped(flowsFinished)} of ${grouped(flowsTotal)} flows`,
    `at ${(simulatedPs / MILLISECOND).toFixed(3)} ms`,
    `${short(hopsPerSecond)} hops/s`,
  ]
  if (elapsedMs >= ESTIMATE_MS && share >= ESTIMATE_SHARE) {
    parts.push(`${clock((elapsedMs * (1 - share)) / share)} left`)
  }
  return parts.join("  ")
}

/** Milliseconds as 0:03 or 1:02:03. */
const clock = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const two = (value: number): string => String(value).padStart(2, "0")
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`
}
