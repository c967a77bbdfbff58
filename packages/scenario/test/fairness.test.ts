import { TimeSeries } from "@rdmakit/metrics"
import { fairnessByHost, type Recorder, receiverNames } from "@rdmakit/scenario"
import { describe, expect, it } from "vitest"

/** A sample: its time, and rate and window by flow. */
type Sample = readonly [time: number, flows: Readonly<Record<number, readonly [rate: number, window?: number]>>]

/** What a recorder saw of flows that were made at some times to some hosts. */
const seen = (
  samples: ReadonlyArray<Sample>,
  created: ReadonlyArray<number>,
  destination: ReadonlyArray<number>,
  priority: ReadonlyArray<number> = destination.map(() => 3),
) => {
  const flows = new TimeSeries({ columns: 2, samplesMax: 100, rowsMax: 1000 })
  for (const [time, rates] of samples) {
    flows.begin(time)
    for (const [flow, [rate, window]] of Object.entries(rates)) flows.add(Number(flow), rate, window)
  }
  const table = {
    created: Float64Array.from(created),
    destination: Int32Array.from(destination),
    priority: Uint8Array.from(priority),
  }
  // Every host has one link, its port numbered as the host.
  const ports = { portsOf: (host: number) => [host], node: Int32Array.from({ length: 10 }, (_, host) => host) }
  return fairnessByHost({ flows, world: { flows: table, ports } } as unknown as Recorder)
}

describe("fairness at receivers", () => {
  it("is Jain's index of the flows that meet, and the time from the last start until their rates are alike", () => {
    const samples: ReadonlyArray<Sample> = [
      [100, { 0: [8] }],
      [200, { 0: [6], 1: [2] }],
      [300, { 0: [5], 1: [3] }],
      [400, { 0: [4.2], 1: [3.8] }],
      [500, { 0: [3.9], 1: [4.1] }],
      // One of them ends, and what the other does then says nothing of both.
      [600, { 1: [8] }],
    ]
    const [host, ...others] = seen(samples, [50, 150], [7, 7])
    expect(others).toEqual([])
    // (6 + 2)² / (2 · (36 + 4)) = 0.8, 64 / 68, 64 / 64.16, 64 / 64.04
    expect(host).toMatchObject({ host: 7, flows: 2, samples: 4, leastIndex: 0.8, convergencePs: 400 - 150 })
    expect(host!.meanIndex).toBeCloseTo((0.8 + 64 / 68 + 64 / 64.16 + 64 / 64.04) / 4, 12)
  })

  it("counts from the last start, and not beyond the first end", () => {
    const samples: ReadonlyArray<Sample> = [
      [100, { 0: [5], 1: [5] }],
      [200, { 0: [5], 1: [4], 2: [1] }],
      [300, { 0: [4], 1: [4], 2: [2] }],
      [400, { 1: [5], 2: [5] }],
    ]
    expect(seen(samples, [0, 0, 150], [7, 7, 7])).toMatchObject([{ flows: 3, samples: 4, convergencePs: null }])
    const longer: ReadonlyArray<Sample> = [...samples.slice(0, 3), [350, { 0: [3.4], 1: [3.3], 2: [3.3] }]]
    expect(seen(longer, [0, 0, 150], [7, 7, 7])).toMatchObject([{ convergencePs: 350 - 150 }])
  })

  it("parts hosts, those where flows met most often first; and leaves out those where none did", () => {
    const samples: ReadonlyArray<Sample> = [
      [100, { 0: [1], 1: [1], 2: [9], 3: [1], 4: [5] }],
      [200, { 2: [9], 3: [1], 4: [5] }],
    ]
    const hosts = seen(samples, [0, 0, 0, 0, 0], [7, 7, 2, 2, 3])
    expect(hosts.map(({ host, samples, convergencePs }) => [host, samples, convergencePs])).toEqual([
      [2, 2, null],
      [7, 1, 100],
    ])
  })

  it("parts priorities, which are no rivals", () => {
    const samples: ReadonlyArray<Sample> = [[100, { 0: [9], 1: [9], 2: [1], 3: [1], 4: [5] }]]
    const hosts = seen(samples, [0, 0, 0, 0, 0], [7, 7, 7, 7, 7], [3, 3, 1, 1, 2])
    expect(hosts).toMatchObject([
      { host: 7, priority: 1, flows: 2, meanIndex: 1 },
      { host: 7, priority: 3, flows: 2, meanIndex: 1 },
    ])
    expect(receiverNames(hosts)).toEqual(["7 priority 1", "7 priority 3"])
    expect(receiverNames(hosts.slice(1))).toEqual(["7"])
  })

  it("counts from the sample before, of a flow that had begun earlier and was held back", () => {
    const samples: ReadonlyArray<Sample> = [
      [100, { 0: [5] }],
      [200, { 0: [5] }],
      [300, { 0: [5], 1: [1] }],
      [400, { 0: [3], 1: [3] }],
    ]
    expect(seen(samples, [0, 50], [7, 7])).toMatchObject([{ convergencePs: 400 - 200 }])
    expect(seen(samples, [0, 250], [7, 7])).toMatchObject([{ convergencePs: 400 - 250 }])
  })

  it("compares windows where there are no rates", () => {
    const samples: ReadonlyArray<Sample> = [[100, { 0: [Infinity, 3000], 1: [Infinity, 1000] }]]
    expect(seen(samples, [0, 0], [7, 7])).toMatchObject([{ meanIndex: 0.8 }])
  })
})
