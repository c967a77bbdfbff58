import { quantile, type SizeBucket, sizeEnds, slowdownBySize } from "@rdmakit/metrics"
import type { Picture } from "./Claim.ts"
import { chosen, type Finished, rateBps, ratesOver, sampleAt } from "./Measure.ts"

/** Points of one system's line in a picture. Infinity, the end of the last range of sizes, is 0. */
export type Curve = ReadonlyArray<readonly [x: number, y: number]>

const POINTS_MAX = 200

/** What a picture shows of a run: times in s, bytes, bit/s. */
export const curvesOf = (picture: Picture, finished: Finished): Curve => {
  const { samples } = finished
  switch (picture.kind) {
    case "queue":
      return overTime(picture, finished, samples.queueBytes.length, (from, to) =>
        samples.queueBytes.slice(from, to).reduce((most, bytes) => Math.max(most, bytes), 0),
      )
    case "throughput":
      return overTime(picture, finished, samples.sentBytes.length - 1, (from, to) =>
        rateBps(samples.sentBytes, from, to, samples.every),
      )
    case "goodput":
      return overTime(picture, finished, samples.acknowledged[0]!.length - 1, (from, to) =>
        rateBps(samples.acknowledged[0]!, from, to, samples.every),
      )
    case "queue-distribution":
      return distributionOf(picture, finished)
    case "completion-distribution":
      return completions(finished)
    case "goodputs":
      return goodputs(picture, finished)
    case "link-loads":
      return samples.linkBytes.map((bytes, link): readonly [number, number] => [link, bytes])
    case "by-point":
      throw new TypeError("values by point are a picture of sweeps, not of one run")
    case "bench":
      throw new TypeError("a bench draws its pictures itself")
    case "overhead-by-size":
      throw new TypeError("overhead by size is a picture of formats, not of runs")
    case "slowdown-by-size":
      return bySize(finished).map((row): readonly [number, number] => [
        Number.isFinite(row.endBytes) ? row.endBytes : 0,
        row[picture.at],
      ])
  }
}

const overTime = (
  { from, to }: { readonly from?: string; readonly to?: string },
  { samples }: Finished,
  count: number,
  valueIn: (from: number, to: number) => number,
): Curve => {
  const first = from === undefined ? 0 : sampleAt(samples, from)
  const end = Math.min(count, to === undefined ? count : sampleAt(samples, to) + 1)
  const step = Math.max(1, Math.ceil((end - first) / POINTS_MAX))
  const points: Array<readonly [number, number]> = []
  for (let sample = first; sample + step <= end; sample += step) {
    points.push([(sample * samples.every) / 1e12, valueIn(sample, sample + step)])
  }
  return points
}

const distributionOf = ({ from }: { readonly from?: string }, { samples }: Finished): Curve => {
  const { distribution, queueBytes } = samples
  const points: Array<readonly [number, number]> = []
  if (queueBytes.length > 0) {
    const sorted = Float64Array.from(queueBytes.slice(from === undefined ? 0 : sampleAt(samples, from))).sort()
    for (let i = 0; i <= 100; i++) points.push([quantile(sorted, i / 100), i / 100])
    return points
  }
  for (let i = 0; i <= 100; i++) points.push([distribution.quantile(i / 100), i / 100])
  return points
}

const completions = (finished: Finished): Curve => {
  const times = Float64Array.from(
    chosen(finished, {}, (flow) => finished.outcome.flows.completionTime(flow) / 1e12),
  ).sort()
  return Array.from(times, (time, flow): readonly [number, number] => [(flow + 1) / times.length, time])
}

/** One flow after another; where a line ends and the next begins there is no number. */
const goodputs = ({ every, to }: Picture & { kind: "goodputs" }, { samples }: Finished): Curve => {
  const step = sampleAt(samples, every)
  return samples.acknowledged.flatMap((bytes) => [
    ...ratesOver(bytes, [0, sampleAt(samples, to), step], samples.every).map(
      (rate, index): readonly [number, number] => [((index + 0.5) * step * samples.every) / 1e12, rate],
    ),
    [0, Number.NaN] as const,
  ])
}

/** Of ordinary flows. */
const bySize = (finished: Finished): ReadonlyArray<SizeBucket> => {
  const { outcome, slowdowns } = finished
  const ordinary = chosen(finished, { traffic: "ordinary" }, (flow) => flow)
  return slowdownBySize(
    ordinary.map((flow) => outcome.flows.bytes[flow]!),
    ordinary.map((flow) => slowdowns[flow]!),
    { ends: sizeEnds },
  ).filter(({ count }) => count > 0)
}
