/** What the charts of a report show, as numbers. */
import type { RunOutcome } from "@rdmakit/fabric"
import { type Histogram, linkUse, quantile, type TimeSeries } from "@rdmakit/metrics"
import type { Time } from "@rdmakit/protocol"
import { type HostFairness, indexSeries, receiverNames } from "../Fairness.ts"
import { bytesOnLink } from "../linkFigures.ts"
import { nodeWords } from "../portNames.ts"
import type { Recorder } from "../Recorder.ts"

/** Points that a line has at most. */
const POINTS_MAX = 300
/** Things that have a line of their own. */
const LINES_MAX = 6
const ROWS_MAX = 10

/** A point; a y of NaN breaks the line. */
export type Point = readonly [x: number, y: number]

export interface Line {
  readonly name: string
  readonly points: ReadonlyArray<Point>
}

/** Samples `from` to `to`, both included, that one point of a line stands for. */
interface Group {
  readonly from: number
  readonly to: number
}

/** Samples of a series in groups of equal size, as many as a line may have points. */
const groupsOf = (series: TimeSeries): ReadonlyArray<Group> => {
  const size = Math.max(1, Math.ceil(series.samples / POINTS_MAX))
  return Array.from({ length: Math.ceil(series.samples / size) }, (_, index) => ({
    from: index * size,
    to: Math.min(series.samples, (index + 1) * size) - 1,
  }))
}

/** A line over time, ps after the start: a value for each group, a break where nobody looked for a while. */
const overTime = (recorder: Recorder, series: TimeSeries, measure: (group: Group) => number): ReadonlyArray<Point> => {
  const points: Array<Point> = []
  const groups = groupsOf(series)
  const gap = (groups[0] === undefined ? 1 : groups[0].to + 2) * recorder.period
  let last = recorder.start
  for (const group of groups) {
    const time = series.timeOf(group.to)
    if (points.length > 0 && time - last > gap) points.push([last - recorder.start, Number.NaN])
    points.push([time - recorder.start, measure(group)])
    last = time
  }
  return points
}

/** Those of some keys that have most, most first; of equals the lower key. */
const largest = (keys: ReadonlyArray<number>, sizeOf: (key: number) => number, count: number): ReadonlyArray<number> =>
  keys
    .filter((key) => sizeOf(key) > 0)
    .sort((a, b) => sizeOf(b) - sizeOf(a) || a - b)
    .slice(0, count)

const portsOf = ({ world }: Recorder): ReadonlyArray<number> =>
  Array.from({ length: world.ports.count }, (_, port) => port)

/** `switch 17 → host 16`: the port of a node to another; with its number where the nodes share several links. */
export const portName = ({ world }: Recorder, port: number): string => {
  const { ports, parts } = world
  const [node, peer] = [ports.node[port]!, ports.peerNode(port)]
  const words = `${nodeWords(node, parts.graph)} → ${nodeWords(peer, parts.graph)}`
  const parallel = [...ports.portsOf(node)].filter((other) => ports.peerNode(other) === peer).length
  return `${words}${parallel > 1 ? ` (port ${ports.iface[port]})` : ""}`
}

/** The queues of the ports that held most, bytes over time: in each stretch the longest. */
export const queueLines = (recorder: Recorder): ReadonlyArray<Line> => {
  const { queues, peakBytes } = recorder
  return largest(portsOf(recorder), (port) => peakBytes[port]!, LINES_MAX).map((port) => {
    const bytes = queues.seriesOf(port, 0, 0)
    const longest = ({ from, to }: Group): number => bytes.subarray(from, to + 1).reduce((a, b) => Math.max(a, b), 0)
    return { name: portName(recorder, port), points: overTime(recorder, queues, longest) }
  })
}

/** For how much of the time a queue was at most so long: bytes, and shares from 0 to 1. */
export const cumulative = (name: string, histogram: Histogram): Line => {
  const points: Array<Point> = [[0, 0]]
  const width = Math.max(1, histogram.max / POINTS_MAX)
  let below = 0
  for (const { to, weight } of histogram.buckets()) {
    below += weight
    const point: Point = [to, below / histogram.weight]
    // Of the points too near to be told apart the last one stays, and the first of all.
    if (points.length > 2 && to - points.at(-2)![0] < width) points[points.length - 1] = point
    else points.push(point)
  }
  return { name, points }
}

/** Which share of some values, 0 to 1, is at most so large. */
export const shareUpTo = (name: string, values: Float64Array): Line => {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort()
  const size = Math.max(1, Math.ceil(sorted.length / POINTS_MAX))
  const points: Array<Point> = sorted.length === 0 ? [] : [[sorted[0]!, 0]]
  for (let rank = sorted.length; rank > 0; rank -= size) points.splice(1, 0, [sorted[rank - 1]!, rank / sorted.length])
  return { name, points }
}

/** What the largest flows' controllers were set to, bit/s over time, while the flows were under way. */
export const rateLines = (recorder: Recorder): ReadonlyArray<Line> => {
  const { flows, world } = recorder
  const { bytes, source, destination } = world.flows
  const seen = new Set<number>()
  for (let row = 0; row < flows.rows; row++) seen.add(flows.keyOf(row))
  return largest([...seen], (flow) => bytes[flow]!, LINES_MAX).map((flow) => {
    const rates = flows.seriesOf(flow)
    return {
      name: `flow ${flow}: host ${source[flow]} → host ${destination[flow]}`,
      points: overTime(recorder, flows, ({ from, to }) => lastOf(rates.subarray(from, to + 1))),
    }
  })
}

/** The last that is a number. */
const lastOf = (values: Float64Array): number => {
  for (let i = values.length - 1; i >= 0; i--) if (!Number.isNaN(values[i]!)) return values[i]!
  return Number.NaN
}

/** Of all flows under way at a moment the highest, the middle and the lowest rate, bit/s over time. */
export const rateRange = (recorder: Recorder): ReadonlyArray<Line> => {
  const { flows } = recorder
  const sorted = new Map<number, Float64Array>()
  for (const { to } of groupsOf(flows)) {
    const rates: Array<number> = []
    for (let row = flows.firstOf(to); row < flows.endOf(to); row++) rates.push(flows.valueOf(row))
    sorted.set(to, Float64Array.from(rates).sort())
  }
  return (
    [
      ["highest", 1],
      ["median", 0.5],
      ["lowest", 0],
    ] as const
  ).map(([name, share]) => ({
    name,
    points: overTime(recorder, flows, ({ to }) => quantile(sorted.get(to)!, share, "nearest-rank")),
  }))
}

/** Jain's index over time of the flows to each of the first of some hosts, 1/n to 1; breaks where no two are under way. */
export const fairnessLines = (recorder: Recorder, hosts: ReadonlyArray<HostFairness>): ReadonlyArray<Line> => {
  const told = hosts.slice(0, LINES_MAX)
  const names = receiverNames(told)
  return indexSeries(recorder, told).map((indices, line) => ({
    name: `to host ${names[line]}`,
    points: overTime(recorder, recorder.flows, ({ from, to }) => lastOf(indices.subarray(from, to + 1))),
  }))
}

/** The share of all ports' time that was paused, 0 to 1, over time. */
export const pausedLine = (recorder: Recorder): Line => {
  const { paused, world, start } = recorder
  let before: Time = start
  let total = 0
  const share = ({ to }: Group): number => {
    const time = paused.timeOf(to)
    const sum = paused.valueOf(paused.firstOf(to))
    const value = (sum - total) / ((time - before) * world.ports.count)
    before = time
    total = sum
    return value
  }
  return { name: "paused", points: overTime(recorder, paused, share) }
}

/** The ports that were paused for longest, until `end` (ps after the start). */
export const pausedPorts = (recorder: Recorder, end: Time) => {
  const { pauses, start, world } = recorder
  const now = start + end
  return largest(portsOf(recorder), (port) => pauses.count(port), Number.POSITIVE_INFINITY)
    .map((port) => ({
      port: portName(recorder, port),
      node: world.ports.node[port]!,
      interface: world.ports.iface[port]!,
      pauses: pauses.count(port),
      pausedPs: pauses.paused(port, now),
      fraction: pauses.fraction(port, now),
    }))
    .sort((a, b) => b.pausedPs - a.pausedPs)
    .slice(0, ROWS_MAX)
}

/** The links that were used most in the simulated time, each way apart. */
export const linkUses = (recorder: Recorder, { simulatedPs }: RunOutcome) => {
  const { ports } = recorder.world
  const sent = portsOf(recorder).map((port) => bytesOnLink(recorder.world, port, simulatedPs))
  const use = (port: number): number => linkUse(sent[port]!, ports.rateBps[port]!, simulatedPs)
  return largest(portsOf(recorder), use, ROWS_MAX).map((port) => ({
    port: portName(recorder, port),
    node: ports.node[port]!,
    interface: ports.iface[port]!,
    rateBps: ports.rateBps[port]!,
    sentBytes: sent[port]!,
    use: use(port),
  }))
}
