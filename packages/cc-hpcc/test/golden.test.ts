import { describe, expect, it } from "vitest"
import type { HpccNs3Options } from "../src/HpccOptions.ts"
import { hpcc } from "../src/index.ts"
import { ack, type Hop, path } from "./feedback.ts"

/**
 * 600 acknowledgements over three hops (100, 400 and 25 Gb/s), drawn from the 32-bit generator of Numerical Recipes, in
 * turns of 60 busy and 60 calm ones; time stamps and byte counts start just below where they wrap. The expected lines are the
 * rate (bit/s), the window (bytes) and U after every fiftieth, from a separate C++ program with 64-bit integers.
 */
const replay = (options: Partial<HpccNs3Options>): ReadonlyArray<readonly [number, number, number]> => {
  let state = 1
  const draw = (bound: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) % bound
  }
  const rates = [100e9, 400e9, 25e9]
  const times = [16_777_000, 5, 9_000_000]
  const bytes = [1_048_000, 77, 500_000]
  const controller = hpcc({
    variant: "ns3",
    eta: 0.95,
    maxStage: 0,
    additiveIncreaseBps: 50e6,
    minRateBps: 1e9,
    ...options,
  }).make(0, path)
  const lines: Array<readonly [number, number, number]> = []
  for (let i = 0; i < 600; i++) {
    const sequence = 1000 * (i + 1)
    const sent = sequence + 20_000 + 1000 * draw(40)
    const calm = Math.floor(i / 60) % 2 === 1
    const hops = rates.map((rate, k): Hop => {
      times[k] = (times[k]! + 80 + draw(400)) % 2 ** 24
      bytes[k] = (bytes[k]! + draw(calm ? 2 : k === 2 ? 3 : k === 0 ? 9 : 30)) % 2 ** 20
      const queue = draw(4) > 0 ? draw(120) : 0
      return [times[k]!, bytes[k]! * 512, calm ? 0 : queue * 320, rate]
    })
    controller.onAck(0, ack(sequence, sent, hops))
    if (i % 50 === 49) lines.push([controller.rate, controller.window, controller.metrics().utilisation ?? Number.NaN])
  }
  return lines
}

describe("hpcc/ns3, golden sequences", () => {
  it("MI_THRESH 0", () => {
    expect(replay({})).toEqual([
      [57193848656, 57193, 1.2411070327698781],
      [100000000000, 100000, 0.69564846661023105],
      [98367277259, 98367, 0.96625946779661653],
      [100000000000, 100000, 0.79216639838515823],
      [100000000000, 100000, 0.69410656790295244],
      [72246875631, 72246, 1.165517729295366],
      [100000000000, 100000, 0.59895754769313425],
      [95648611317, 95648, 0.97341455970197832],
      [100000000000, 100000, 0.72074709713716267],
      [100000000000, 100000, 0.82395302096974532],
      [100000000000, 100000, 0.85708971077245644],
      [100000000000, 100000, 0.53940649560107112],
    ])
  })

  it("MI_THRESH 3", () => {
    expect(replay({ maxStage: 3 })).toEqual([
      [57193848656, 57193, 1.2411070327698781],
      [74754349944, 74754, 0.69564846661023105],
      [73546441497, 73546, 0.96625946779661653],
      [65175171637, 65175, 0.79216639838515823],
      [65225171637, 65225, 0.69410656790295244],
      [47118630266, 47118, 1.165517729295366],
      [57846655862, 57846, 0.59895754769313425],
      [55323394482, 55323, 0.97341455970197832],
      [56735712583, 56735, 0.72074709713716267],
      [65522697570, 65522, 0.82395302096974532],
      [53869352018, 53869, 0.85708971077245644],
      [53869352018, 53869, 0.53940649560107112],
    ])
  })

  it("SAMPLE_FEEDBACK", () => {
    expect(replay({ sampleFeedback: true })).toEqual([
      [61164769991, 61164, 1.1914167173487975],
      [100000000000, 100000, 0.3168419245052026],
      [100000000000, 100000, 0.82530823684255505],
      [100000000000, 100000, 0.90893993926696137],
      [100000000000, 100000, 0.43286129472227325],
      [82673761640, 82673, 1.1497903038296278],
      [100000000000, 100000, 0.3042996440179539],
      [100000000000, 100000, 0.81294939915851239],
      [100000000000, 100000, 0.64846909552053034],
      [100000000000, 100000, 0.80757599860827467],
      [100000000000, 100000, 0.91043138444962735],
      [100000000000, 100000, 0.91043138444962735],
    ])
  })

  it("MULTI_RATE", () => {
    expect(replay({ multiRate: true, maxStage: 1 }).map(([rate]) => rate)).toEqual([
      98538989156, 100000000000, 100000000000, 100000000000, 100000000000, 100000000000, 100000000000, 100000000000,
      100000000000, 100000000000, 100000000000, 100000000000,
    ])
  })

  it("MULTI_RATE with SAMPLE_FEEDBACK", () => {
    expect(replay({ multiRate: true, sampleFeedback: true, maxStage: 2 }).map(([rate]) => rate)).toEqual([
      70409755725, 83394293901, 100000000000, 90628674654, 90678674654, 77264061304, 100000000000, 100000000000,
      100000000000, 100000000000, 100000000000, 100000000000,
    ])
  })
})
