import { describe, expect, test } from "vitest"
import { TimeSeries } from "../src/index.ts"

/** Every sample as `[time, [key, …values], …]`. */
const listed = (series: TimeSeries) =>
  Array.from({ length: series.samples }, (_, sample) => [
    series.timeOf(sample),
    ...Array.from({ length: series.endOf(sample) - series.firstOf(sample) }, (_, index) => {
      const row = series.firstOf(sample) + index
      return [series.keyOf(row), ...Array.from({ length: series.columns }, (_, column) => series.valueOf(row, column))]
    }),
  ])

describe("a time series", () => {
  test("keeps rows with their samples", () => {
    const series = new TimeSeries({ columns: 2, samplesMax: 10, rowsMax: 10 })
    series.begin(100)
    series.add(7, 1, 2)
    series.add(9, 3, 4)
    series.begin(110)
    series.begin(120)
    series.add(9, 5)
    expect(listed(series)).toEqual([[100, [7, 1, 2], [9, 3, 4]], [110], [120, [9, 5, Number.NaN]]])
    expect([...series.seriesOf(9)]).toEqual([3, Number.NaN, 5])
    expect([...series.seriesOf(9, 1, 0)]).toEqual([4, 0, Number.NaN])
    expect(series.full).toBe(false)
  })

  test("thins to the moments of a coarser grid, whatever is missing from the finer one", () => {
    const series = new TimeSeries({ columns: 1, samplesMax: 4, rowsMax: 100 })
    for (const [index, time] of [100, 110, 130, 140, 160].entries()) {
      series.begin(time)
      for (let key = 0; key <= index; key++) series.add(key, time + key)
    }
    expect(series.full).toBe(true)
    series.thin(100, 20)
    expect(listed(series)).toEqual([
      [100, [0, 100]],
      [140, [0, 140], [1, 141], [2, 142], [3, 143]],
      [160, [0, 160], [1, 161], [2, 162], [3, 163], [4, 164]],
    ])
    expect(series.rows).toBe(10)
    series.begin(180)
    series.add(5, 1)
    expect([...series.seriesOf(5)]).toEqual([Number.NaN, Number.NaN, Number.NaN, 1])
  })

  test("refuses room for nothing, and more numbers than a row has", () => {
    const options = { columns: 1, samplesMax: 2, rowsMax: 1 }
    expect(new TimeSeries(options).full).toBe(false)
    for (const [option, values] of [
      ["columns", [0, 3, Number.NaN]],
      ["samplesMax", [1, Number.NaN]],
      ["rowsMax", [0, Number.NaN]],
    ] as const) {
      for (const value of values)
        expect(() => new TimeSeries({ ...options, [option]: value })).toThrow(`${option} is ${value}, expected`)
    }
  })

  test("is full with too many rows as well; a single sample may have any number", () => {
    const series = new TimeSeries({ columns: 1, samplesMax: 100, rowsMax: 3 })
    series.begin(0)
    for (let key = 0; key < 1000; key++) series.add(key, key)
    expect(series.full).toBe(false)
    series.begin(1)
    expect(series.full).toBe(true)
    series.thin(0, 2)
    expect(series).toMatchObject({ full: false, samples: 1, rows: 1000 })
    expect(series.seriesOf(999)[0]).toBe(999)
  })
})
