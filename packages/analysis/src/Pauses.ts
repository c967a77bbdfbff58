import { nodeOf } from "@rdmakit/wire/decode"
import type { Sighting } from "./Sighting.ts"
import { Tally } from "./Tally.ts"

/** Pauses of one priority, as one port asks for them. */
export interface PauseSeries {
  /** The port that asks. */
  readonly source: number
  /** 0 to 7; undefined for PAUSE of the whole link. */
  readonly priority: number | undefined
  readonly frames: Tally
  /** Times the link was stopped. */
  pauses: number
  /** From a stop to the go; what was never ended is not in it. */
  pausedNs: number
  longestNs: number
  /** Stops that ended by themselves, or were not over when the capture ended. */
  unended: number
  sinceNs: number
  lastNs: number
  lastQuanta: number
}

/** A quantum is 512 bit times; at 1 Gb/s, the slowest link with PFC, this many nanoseconds. */
const QUANTUM_NS_MAX = 512
const SERIES_MAX = 4096

/** Follows PAUSE and PFC frames: who stops whom, and for how long. */
export class Pauses {
  readonly #series = new Map<string, PauseSeries>()

  get series(): ReadonlyArray<PauseSeries> {
    return [...this.#series.values()]
  }

  take(sighting: Sighting): void {
    const pfc = sighting.nodes === undefined ? undefined : nodeOf(sighting.nodes, "pfc")
    if (pfc === undefined) return
    const { value } = pfc
    if (value.kind === "pause") this.#take(sighting, undefined, value.quanta)
    else {
      value.quanta.forEach((quanta, priority) => {
        if (quanta !== undefined) this.#take(sighting, priority, quanta)
      })
    }
  }

  /** Says that the capture has ended. */
  end(): void {
    for (const series of this.#series.values()) if (!Number.isNaN(series.sinceNs)) series.unended++
  }

  #take({ source, frame, timeNs }: Sighting, priority: number | undefined, quanta: number): void {
    const key = `${source}:${priority}`
    let series = this.#series.get(key)
    if (series === undefined) {
      if (this.#series.size === SERIES_MAX) return
      series = {
        source,
        priority,
        frames: new Tally(),
        pauses: 0,
        pausedNs: 0,
        longestNs: 0,
        unended: 0,
        sinceNs: Number.NaN,
        lastNs: Number.NaN,
        lastQuanta: 0,
      }
      this.#series.set(key, series)
    }
    series.frames.add(frame)
    const isOn = !Number.isNaN(series.sinceNs)
    if (isOn && timeNs - series.lastNs > series.lastQuanta * QUANTUM_NS_MAX) {
      // No link is so slow: it ran out in between.
      series.unended++
      series.sinceNs = Number.NaN
    }
    if (quanta > 0) {
      if (Number.isNaN(series.sinceNs)) {
        series.pauses++
        series.sinceNs = timeNs
      }
      series.lastNs = timeNs
      series.lastQuanta = quanta
    } else if (!Number.isNaN(series.sinceNs)) {
      const pausedNs = timeNs - series.sinceNs
      series.pausedNs += pausedNs
      series.longestNs = Math.max(series.longestNs, pausedNs)
      series.sinceNs = Number.NaN
    }
  }
}
