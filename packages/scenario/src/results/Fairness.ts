import type { RunOutcome } from "@rdmakit/fabric"
import { convergenceTime, jainIndex, type TimeSeries } from "@rdmakit/metrics"
import { NEVER, type Time } from "@rdmakit/protocol"
import type { Recorder } from "./Recorder.ts"

/** Hosts that are told of: those where flows met at most samples. */
const HOSTS_MAX = 20
/** How far from the mean a rate may be, as a part of it, when flows are said to have converged. */
const TOLERANCE = 0.1

/** How flows to one host shared its link: at the samples at which two or more of them were under way. */
export interface HostFairness {
  readonly host: number
  /** Most flows at a time. */
  readonly flows: number
  readonly samples: number
  /** Jain's index of the rates that controllers were set to (Jain, Chiu and Hawe 1984), its mean and its least, 1/n to 1. */
  readonly meanIndex: number
  readonly leastIndex: number
  /**
   * From the last start of one of them, while others were under way, to the first sample from which on each rate stays
   * within a tenth of the mean of all, until one of them ends; ps. Null: they had no such sample before that.
   */
  readonly convergencePs: Time | null
}

/**
 * Fairness where it can be told from outside: flows to one host share its link, and each should have as much of it. Flows
 * that met elsewhere may have different shares and be fair. Where controllers have no rate their windows are compared.
 * Most samples first, at most twenty hosts; none where no flows met.
 */
export const fairnessByHost = ({ flows: series }: Recorder, { flows }: RunOutcome): ReadonlyArray<HostFairness> => {
  const receivers = new Map<number, Receiver>()
  for (let sample = 0; sample < series.samples; sample++) {
    const shares = sharesAt(series, sample, flows.destination)
    for (const [host, own] of shares) {
      if (own.size > 1 && !receivers.has(host)) receivers.set(host, new Receiver(host))
    }
    for (const receiver of receivers.values()) {
      receiver.see(series.timeOf(sample), shares.get(receiver.host) ?? NOBODY, flows.created)
    }
  }
  return [...receivers.values()]
    .sort((a, b) => b.samples - a.samples || a.host - b.host)
    .slice(0, HOSTS_MAX)
    .map((receiver) => receiver.fairness())
}

type Shares = ReadonlyMap<number, number>
const NOBODY: Shares = new Map()

/** What each flow has at a sample, by its destination. */
const sharesAt = (series: TimeSeries, sample: number, destination: Int32Array): ReadonlyMap<number, Shares> => {
  const shares = new Map<number, Map<number, number>>()
  const end = series.endOf(sample)
  for (let row = series.firstOf(sample); row < end; row++) {
    const share = [series.valueOf(row, 0), series.valueOf(row, 1)].find(Number.isFinite)
    if (share === undefined) continue
    const flow = series.keyOf(row)
    const host = destination[flow]!
    const own = shares.get(host)
    if (own === undefined) shares.set(host, new Map([[flow, share]]))
    else own.set(flow, share)
  }
  return shares
}

/** One host, sample by sample. */
class Receiver {
  readonly host: number
  samples = 0
  private flows = 0
  private sum = 0
  private least = 1
  private last = NOBODY
  /** Since the last start: its time, and what there was at each sample until a flow ended. */
  private since: Time = 0
  private isWhole = false
  private times: Array<Time> = []
  private seen: Array<Shares> = []

  constructor(host: number) {
    this.host = host
  }

  see(time: Time, shares: Shares, created: Float64Array): void {
    const started = [...shares.keys()].filter((flow) => !this.last.has(flow))
    const isOneGone = [...this.last.keys()].some((flow) => !shares.has(flow))
    this.last = shares
    if (shares.size < 2) {
      this.isWhole = false
      return
    }
    const index = jainIndex([...shares.values()])
    this.samples++
    this.sum += index
    this.least = Math.min(this.least, index)
    this.flows = Math.max(this.flows, shares.size)
    if (started.length > 0) {
      this.since = started.reduce((latest, flow) => Math.max(latest, created[flow]!), 0)
      this.times = []
      this.seen = []
      this.isWhole = true
    } else if (isOneGone) this.isWhole = false
    if (!this.isWhole) return
    this.times.push(time)
    this.seen.push(shares)
  }

  fairness(): HostFairness {
    const { flows, host, samples, sum } = this
    const converged = this.convergence()
    return {
      host,
      flows,
      samples,
      meanIndex: sum / samples,
      leastIndex: this.least,
      convergencePs: converged === NEVER ? null : converged,
    }
  }

  private convergence(): Time {
    const { seen, since, times } = this
    const means = seen.map((shares) => [...shares.values()].reduce((sum, share) => sum + share, 0) / shares.size)
    const flows = [...(seen[0] ?? NOBODY).keys()]
    const parts = flows.map((flow) => seen.map((shares, sample) => shares.get(flow)! / means[sample]!))
    const alike = flows.map(() => 1)
    return convergenceTime(times, parts, alike, { tolerance: TOLERANCE, from: since })
  }
}
