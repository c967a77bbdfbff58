import { Effect } from "effect"
import type { Surface } from "./Screen.ts"
import { CLEAR_LINE, inOneLine } from "./Shown.ts"

const TERMINAL_INTERVAL_MS = 100
/** Where nobody watches, a line now and then shows that it goes on. */
const LOG_INTERVAL_MS = 30_000

/** A line that says how far something has come: one that changes on a terminal, a new one now and then elsewhere. */
export class StatusLine {
  private readonly surface: Surface
  private readonly now: () => number
  private shownMs: number
  private shown = false

  /** @param now milliseconds from any beginning */
  constructor(surface: Surface, now: () => number) {
    this.surface = surface
    this.now = now
    this.shownMs = now()
  }

  /** Writes when it is time to; the text is asked for only then, with the time since the last. */
  update(text: (nowMs: number, sinceMs: number) => string): Effect.Effect<void> {
    const nowMs = this.now()
    const sinceMs = nowMs - this.shownMs
    if (sinceMs < (this.surface.isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS)) return Effect.void
    this.shownMs = nowMs
    const line = inOneLine(text(nowMs, sinceMs))
    if (!this.surface.isTerminal) return this.surface.write(`${line}\n`)
    this.shown = true
    return this.surface.write(`${CLEAR_LINE}${line.slice(0, this.surface.columns - 1)}`)
  }

  /** Takes the line away. */
  readonly clear: Effect.Effect<void> = Effect.suspend(() => {
    if (!this.shown) return Effect.void
    this.shown = false
    return this.surface.write(CLEAR_LINE)
  })
}

/** An estimate from less would only jump about. */
const ESTIMATE_MS = 1000
const ESTIMATE_SHARE = 0.02

/** What is left when a share is done after so many milliseconds: "0:03 left"; nothing when that is too early to say. */
export const timeLeft = (share: number, elapsedMs: number): ReadonlyArray<string> =>
  elapsedMs >= ESTIMATE_MS && share >= ESTIMATE_SHARE ? [`${clock((elapsedMs * (1 - share)) / share)} left`] : []

/** Milliseconds as 0:03 or 1:02:03. */
const clock = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const two = (value: number): string => String(value).padStart(2, "0")
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`
}
