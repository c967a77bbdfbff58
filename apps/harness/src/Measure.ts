import type { RunOutcome } from "@rdmakit/fabric"
import { jainIndex, quantile } from "@rdmakit/metrics"
import { NEVER } from "@rdmakit/protocol"
import { parseRate, parseTime, SECOND } from "@rdmakit/units"
import { labels } from "@rdmakit/workload"
import type { FlowFilter, Metric, Statistic } from "./Claim.ts"
import type { Samples } from "./Samples.ts"

/** A run at its end. */
export interface Finished {
  readonly outcome: RunOutcome
  readonly samples: Samples
  readonly slowdowns: Float64Array
  /** Of all flows together, of those that have not finished too. */
  readonly acknowledgedBytes: number
  /** Flows that start before it do not count, ps: the network has yet to fill. */
  readonly countedFrom: number
  /** Numbers that the controller and the switches' marking are set by. */
  readonly parameters: number
}

/** A metric of a run, in the base unit of its kind; NaN where there is nothing to measure. */
export const measure = (metric: Metric, finished: Finished): number => {
  const { outcome, samples, slowdowns } = finished
  const { flows } = outcome
  switch (metric.kind) {
    case "slowdown":
      return statistic(
        chosen(finished, metric, (flow) => slowdowns[flow]!),
        metric.at,
      )
    case "completion":
      return statistic(
        chosen(finished, metric, (flow) => flows.completionTime(flow) / SECOND),
        metric.at,
      )
    case "delay":
      return statistic(
        chosen(finished, metric, (flow) => (flows.completionTime(flow) - outcome.idealPs[flow]!) / SECOND),
        metric.at,
      )
    case "queue":
      return queueOf(metric, samples)
    case "drained":
      return drained(metric, samples)
    case "throughput":
      return throughput(metric, samples)
    case "goodput":
      return goodput(samples, metric.flow, metric)
    case "total-goodput":
      return samples.acknowledged.reduce((sum, _, index) => sum + goodput(samples, index, metric), 0)
    case "rates":
      return rates(metric, samples)
    case "link-loads":
      return statistic(sharesOfMean(samples.linkBytes), metric.at)
    case "fairness":
      return jainIndex(metric.flows.map((index) => goodput(samples, index, metric)))
    case "paused":
      return samples.pausedShare
    case "finished":
      return outcome.flowsFinished / outcome.flowsTotal
    case "delivered":
      return delivered(metric, outcome)
    case "carried":
      return (finished.acknowledgedBytes * 8 * SECOND) / (outcome.simulatedPs * parseRate(metric.of))
    case "parameters":
      return finished.parameters
    case "bench":
      throw new TypeError("a bench gives its numbers itself")
    case "octets":
      throw new TypeError("octets are a metric of formats, not of runs")
  }
}

/** Of values in any order; NaN of none. A share p stands for the value at index ⌊n·p⌋, as in HPCC's fct_analysis.py. */
export const statistic = (values: ReadonlyArray<number> | Float64Array, at: Statistic): number => {
  if (values.length === 0) return Number.NaN
  const sorted = Float64Array.from(values).sort()
  if (at === "max") return sorted.at(-1)!
  if (at === "min") return sorted[0]!
  if (at === "mean") return sorted.reduce((sum, value) => sum + value, 0) / sorted.length
  return quantile(sorted, at)
}

/** Whether a flow is of these. Incasts of workloads go to a port of their own. */
const isChosen = ({ flows }: RunOutcome, flow: number, { traffic, sizes }: FlowFilter): boolean => {
  const bytes = flows.bytes[flow]!
  if (sizes !== undefined && !(bytes > sizes[0] && bytes <= sizes[1])) return false
  return traffic === undefined || (flows.destinationPort[flow] === labels.incast) === (traffic === "incast")
}

/** A value of each finished flow that is chosen. */
export const chosen = (
  { outcome, countedFrom }: Finished,
  filter: FlowFilter,
  valueIn: (flow: number) => number,
): ReadonlyArray<number> => {
  const values: Array<number> = []
  for (let flow = 0; flow < outcome.flows.count; flow++) {
    if (outcome.flows.finished[flow] === NEVER || outcome.flows.start[flow]! < countedFrom) continue
    if (isChosen(outcome, flow, filter)) values.push(valueIn(flow))
  }
  return values
}

/** Payload of the flows that ended until then, bit/s. */
const delivered = ({ to }: Metric & { kind: "delivered" }, { flows }: RunOutcome): number => {
  const end = (flows.start[0] ?? 0) + parseTime(to)
  let bytes = 0
  for (let flow = 0; flow < flows.count; flow++) if (flows.finished[flow]! <= end) bytes += flows.bytes[flow]!
  return (bytes * 8 * SECOND) / parseTime(to)
}

/** The sample at a moment, the last one before it where there is none. */
export const sampleAt = ({ every }: Samples, text: string): number => Math.floor(parseTime(text) / every)

const queueOf = ({ at, from, to }: Metric & { kind: "queue" }, samples: Samples): number => {
  const { queueBytes, distribution } = samples
  if (queueBytes.length === 0) {
    if (distribution.weight === 0) return Number.NaN
    if (at === "max") return distribution.max
    if (at === "mean") return distribution.mean
    return distribution.quantile(at === "min" ? 0 : at)
  }
  const first = from === undefined ? 0 : sampleAt(samples, from)
  const end = to === undefined ? queueBytes.length : sampleAt(samples, to) + 1
  return statistic(queueBytes.slice(first, end), at)
}

const drained = ({ below }: Metric & { kind: "drained" }, { queueBytes, every }: Samples): number => {
  const peak = queueBytes.indexOf(queueBytes.reduce((most, bytes) => Math.max(most, bytes), 0))
  const end = queueBytes.findIndex((bytes, sample) => sample > peak && bytes < below)
  return end < 0 ? Number.NaN : ((end - peak) * every) / SECOND
}

const throughput = ({ at, from, to, every }: Metric & { kind: "throughput" }, samples: Samples): number => {
  const first = sampleAt(samples, from)
  const last = sampleAt(samples, to)
  const step = every === undefined || at === "mean" ? last - first : sampleAt(samples, every)
  const rates: Array<number> = []
  for (let sample = first; sample + step <= last; sample += step) {
    rates.push(rateBps(samples.sentBytes, sample, sample + step, samples.every))
  }
  return statistic(rates, at)
}

const goodput = (samples: Samples, flow: number, { from, to }: { readonly from: string; readonly to: string }) =>
  rateBps(samples.acknowledged[flow]!, sampleAt(samples, from), sampleAt(samples, to), samples.every)

const rates = ({ at, from, to, every }: Metric & { kind: "rates" }, samples: Samples): number => {
  const values = samples.acknowledged.flatMap((bytes) =>
    ratesOver(bytes, [sampleAt(samples, from), sampleAt(samples, to), sampleAt(samples, every)], samples.every),
  )
  if (at !== "deviation") return statistic(values, at)
  const mean = statistic(values, "mean")
  return (
    Math.sqrt(
      statistic(
        values.map((value) => (value - mean) ** 2),
        "mean",
      ),
    ) / mean
  )
}

/** Bit/s in each stretch of `step` samples. */
export const ratesOver = (
  bytes: ReadonlyArray<number>,
  [from, to, step]: readonly [from: number, to: number, step: number],
  everyPs: number,
): ReadonlyArray<number> => {
  const values: Array<number> = []
  for (let sample = from; sample + step <= to; sample += step) {
    values.push(rateBps(bytes, sample, sample + step, everyPs))
  }
  return values
}

const sharesOfMean = (values: ReadonlyArray<number>): ReadonlyArray<number> => {
  const mean = statistic(values, "mean")
  return values.map((value) => value / mean)
}

/** Bit/s between two samples of a count of bytes. */
export const rateBps = (bytes: ReadonlyArray<number>, from: number, to: number, everyPs: number): number => {
  const last = bytes.length - 1
  const [first, end] = [Math.min(from, last), Math.min(to, last)]
  return ((bytes[end]! - bytes[first]!) * 8 * SECOND) / ((to - from) * everyPs)
}
