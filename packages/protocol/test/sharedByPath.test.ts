import { expect, it } from "vitest"
import { type PathInfo, sharedByPath } from "../src/index.ts"

const path: PathInfo = {
  lineRateBps: 100e9,
  baseRttPs: 8e6,
  windowBytes: 100_000,
  mtuBytes: 1000,
  timeModulusPs: Infinity,
  bytesModulus: Infinity,
  flow: 0,
  seed: 0,
}

it("makes what flows on paths that are alike share once", () => {
  let made = 0
  const lawOf = sharedByPath(({ baseRttPs }) => ({ number: ++made, baseRttPs }))
  const first = lawOf(path)
  expect(lawOf({ ...path, flow: 7 })).toBe(first)
  for (const other of [
    { lineRateBps: 25e9 },
    { baseRttPs: 9e6 },
    { windowBytes: 0 },
    { mtuBytes: 4096 },
    { timeModulusPs: 2 ** 24 },
    { bytesModulus: 2 ** 20 },
    { seed: 3 },
  ]) {
    const before = made
    lawOf({ ...path, ...other })
    lawOf(path)
    expect(made).toBe(before + 2)
  }
})

it("sees that one object for all paths has changed", () => {
  const lawOf = sharedByPath(({ baseRttPs }) => baseRttPs)
  const one = { ...path }
  expect(lawOf(one)).toBe(8e6)
  Object.assign(one, { baseRttPs: 9e6 })
  expect(lawOf(one)).toBe(9e6)
})
