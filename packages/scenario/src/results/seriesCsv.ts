import { jainIndex, type TimeSeries } from "@rdmakit/metrics"
import { interfaceOf, sharesByLink } from "./Fairness.ts"
import type { Recorder } from "./Recorder.ts"

/** What is written as a series, each to a file of its own. */
export const seriesNames = ["rate", "window", "queue", "fairness"] as const
export type SeriesName = (typeof seriesNames)[number]

export const seriesFile = (name: SeriesName): string => `${name}.csv`

/**
 * A time series as a table with units in its header, a line for each flow or port at each sample, in order of time.
 *
 * - `rate`: the rate each flow's controller was set to, while the flow was under way.
 * - `window`: its window; empty where there is none.
 * - `queue`: bytes waiting at each port of a switch; 0 at the samples before and after some wait, and no line otherwise.
 * - `fairness`: Jain's index of the flows of each priority to each host at the samples at which several were under way,
 *   1/n to 1, as `fairnessByHost` has its mean; `interface` is empty where the host has one link.
 */
export const seriesCsv = (recorder: Recorder, name: SeriesName): string => {
  switch (name) {
    case "rate":
      return flowsText(recorder.flows, "time_ps,flow,rate_bps\n", 0)
    case "window":
      return flowsText(recorder.flows, "time_ps,flow,window_bytes\n", 1)
    case "queue":
      return queuesText(recorder)
    case "fairness":
      return fairnessText(recorder)
  }
}

const flowsText = (series: TimeSeries, header: string, column: number): string => {
  const lines = [header]
  for (let sample = 0; sample < series.samples; sample++) {
    const time = series.timeOf(sample)
    const end = series.endOf(sample)
    for (let row = series.firstOf(sample); row < end; row++) {
      const value = series.valueOf(row, column)
      lines.push(`${time},${series.keyOf(row)},${Number.isFinite(value) ? value : ""}\n`)
    }
  }
  return lines.join("")
}

const queuesText = ({ queues, world }: Recorder): string => {
  const { node, iface } = world.ports
  const lines = ["time_ps,node,interface,queue_bytes\n"]
  const at = (sample: number): Map<number, number> => {
    const bytes = new Map<number, number>()
    if (sample < 0 || sample >= queues.samples) return bytes
    const end = queues.endOf(sample)
    for (let row = queues.firstOf(sample); row < end; row++) bytes.set(queues.keyOf(row), queues.valueOf(row))
    return bytes
  }
  let before = at(-1)
  let now = at(0)
  for (let sample = 0; sample < queues.samples; sample++) {
    const after = at(sample + 1)
    const ports = [...new Set([...before.keys(), ...now.keys(), ...after.keys()])].sort((a, b) => a - b)
    for (const port of ports) {
      lines.push(`${queues.timeOf(sample)},${node[port]},${iface[port]},${now.get(port) ?? 0}\n`)
    }
    before = now
    now = after
  }
  return lines.join("")
}

const fairnessText = (recorder: Recorder): string => {
  const { world } = recorder
  const lines = ["time_ps,host,interface,priority,flows,jain_index\n"]
  for (const { time, port, priority, shares } of sharesByLink(recorder)) {
    if (shares.size < 2) continue
    const index = jainIndex([...shares.values()]).toFixed(6)
    const link = `${world.ports.node[port]},${interfaceOf(world, port) ?? ""}`
    lines.push(`${time},${link},${priority},${shares.size},${index}\n`)
  }
  return lines.join("")
}
