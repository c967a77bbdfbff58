import { expect, it } from "vitest"
import { type TcpTransportOptions, tcpConfig } from "../src/index.ts"
import { timeoutsOn } from "../src/Timeouts.ts"
import { connect, fixedWindow, path } from "./connection.ts"

const US = 1e6
const MS = 1e9
const onPath = (lineRateBps: number, baseRttPs: number, options: Partial<TcpTransportOptions> = {}) => {
  const config = tcpConfig(tcpConfig({ controller: fixedWindow(20_000), ...options }))
  return timeoutsOn(config, { ...path, lineRateBps, baseRttPs })
}

it("timeouts are those of Linux up to a base RTT of which they are 8 and 256", () => {
  expect(onPath(10e9, 125 * MS)).toMatchObject({ initialTimeoutPs: 1000 * MS, mostTimeoutPs: 120_000 * MS })
})

it("grow with the time that segments take on slow links, but for those that are given", () => {
  // 1,538 bytes at 1 kb/s are 12,304 ms: 16 of them are 196,864.
  const queuePs = 196_864 * MS
  const followed = { granularityPs: queuePs, initialTimeoutPs: 208_000 * MS, mostTimeoutPs: 6_656_000 * MS }
  expect(onPath(1e3, 26_000 * MS)).toEqual({ ...followed, leastProbePs: queuePs })
  const given = { granularityPs: 1, initialTimeoutPs: 2 * MS, mostTimeoutPs: 300 * MS }
  expect(onPath(1e3, 26_000 * MS, given)).toMatchObject(given)
  expect(onPath(1e3, 26_000 * MS, { initialTimeoutPs: 2 * MS })).toMatchObject({
    ...followed,
    initialTimeoutPs: 2 * MS,
  })
})

it("follow the path where they are told to, be they given or not", () => {
  expect(onPath(1e3, 26_000 * MS, { followsPath: ["initialTimeoutPs"], initialTimeoutPs: 2 * MS })).toMatchObject({
    granularityPs: 0,
    initialTimeoutPs: 208_000 * MS,
    mostTimeoutPs: 120_000 * MS,
  })
})

it.each([
  [1000, 40],
  // 16 frames of 8,090 bytes at 10 Gb/s take longer than two round trips.
  [8000, 16 * 6.472],
])("a tail of segments of %i bytes is probed after %d µs", (mtuBytes, probeUs) => {
  const { pair, ends } = connect({
    options: { mtuBytes, controller: fixedWindow(1e6) },
    // The last of twenty is lost the first time.
    path: ({ from, ordinal }) => (from === 0 && ordinal === 19 ? [] : [10 * US]),
  })
  pair.command(0, { message: 0, writeBytes: 20 * mtuBytes })
  pair.run()
  const acknowledged = pair.sent.filter(({ from }) => from === 1).at(-2)!.time + 10 * US
  expect(pair.sent.filter(({ from }) => from === 0).at(-1)!.time - acknowledged).toBeCloseTo(probeUs * US, -6)
  expect(ends[0]).toMatchObject({ probes: 1, timeouts: 0, retransmissions: 1 })
})
