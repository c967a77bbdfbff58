import { expect, it } from "vitest"
import { srdConfig } from "../src/index.ts"
import { timeoutsOn } from "../src/Timeouts.ts"
import { fixedWindow, path } from "./connection.ts"

const US = 1e6
const controller = fixedWindow(20_000)
const onPath = (lineRateBps: number, baseRttPs: number, options: Partial<Parameters<typeof srdConfig>[0]> = {}) => {
  const { initialTimeoutPs, leastTimeoutPs, mostTimeoutPs, unresponsiveAfterPs } = timeoutsOn(
    srdConfig(srdConfig({ controller, ...options })),
    { ...path, lineRateBps, baseRttPs, mtuBytes: 4096 },
  )
  return [initialTimeoutPs, leastTimeoutPs, mostTimeoutPs, unresponsiveAfterPs].map((time) => time / US)
}

it("timeouts are those of hardware up to a base RTT of which they are 5, 32 and 256", () => {
  expect(onPath(100e9, 12 * US)).toEqual([100, 10, 4000, 1e6])
  expect(onPath(100e9, 20 * US)).toEqual([100, 10, 4000, 1e6])
  expect(onPath(100e9, 125 * US)).toEqual([625, 10, 4000, 1e6])
})

it("grow with the time that packets take on slow links, but for those that are given", () => {
  // 4,186 bytes at 1 Mb/s are 33,488 µs: 16 of them are 535,808.
  expect(onPath(1e6, 70_000 * US)).toEqual([350_000, 535_808, 2_240_000, 17_920_000])
  const given = { initialTimeoutPs: 1 * US, leastTimeoutPs: 2 * US, mostTimeoutPs: 3 * US, unresponsiveAfterPs: 4 * US }
  expect(onPath(1e6, 70_000 * US, given)).toEqual([1, 2, 3, 4])
  expect(onPath(1e6, 70_000 * US, { mostTimeoutPs: 5000 * US })).toEqual([350_000, 535_808, 5000, 17_920_000])
})

it("are what the config says at an end that sends nothing of its own", () => {
  const config = srdConfig({ controller })
  expect(timeoutsOn(config, undefined)).toMatchObject({ initialTimeoutPs: 100 * US, unresponsiveAfterPs: 1e12 })
})
