import { expect, it } from "vitest"
import { dcqcn, dcqcnPresets } from "../src/index.ts"
import { Clockwork, path } from "./feedback.ts"

/**
 * 200 ms of marked acknowledgements, in bursts of about ten within 6 µs and about 1 ms of quiet between them, drawn from
 * the 32-bit generator of Numerical Recipes. The expected lines are the rate and the target (bit/s), the stage and α
 * after every 10 ms, from a separate C++ program with 64-bit integers and an event list. In two places of it a cut and
 * an increase are due at one moment.
 */
it("dcqcn/ns3, golden sequence", () => {
  let state = 1
  const draw = (bound: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) % bound
  }
  const clock = new Clockwork(dcqcn(dcqcnPresets.simulation).make(0, path))
  const lines: Array<ReadonlyArray<number | undefined>> = []
  let nowNs = 0
  while (lines.length < 20) {
    nowNs += draw(10) === 0 ? draw(2_000_000) : 100 + draw(900)
    while (nowNs >= 10e6 * (lines.length + 1) && lines.length < 20) {
      clock.runTo(10e9 * (lines.length + 1))
      const { targetRateBps, stage, alpha } = clock.controller.metrics()
      lines.push([clock.controller.rate, targetRateBps, stage, alpha])
    }
    clock.mark(nowNs * 1000)
  }
  expect(lines).toEqual([
    [82478925158, 84448003626, 2, 0.0028551176365978481],
    [77987970285, 78187055812, 3, 0.00027921578469807451],
    [74450783584, 75269060490, 2, 0.0011296222632305787],
    [75295337637, 75618586325, 0, 0.003571792191172248],
    [75342856279, 75390602648, 2, 0.00033373348381079488],
    [74105412866, 75591491746, 0, 0.013820650664342142],
    [74503860802, 74733786650, 0, 0.0045166641441578862],
    [75191177795, 75513651910, 4, 0.00024928311737234046],
    [77586911952, 77777370899, 6, 1.8162341181877734e-6],
    [78032499782, 78195039344, 4, 1.624908401827316e-5],
    [71433432028, 73045916738, 2, 0.0025835958264562114],
    [68744872418, 74058580695, 1, 0.02065096724555469],
    [72835326728, 73276217585, 3, 0.00095366621590598562],
    [70985282489, 71641257697, 1, 0.0059796458622446876],
    [63861766876, 63994477159, 3, 0.00012883481232872014],
    [62291725495, 63478842117, 2, 0.0019848479224128003],
    [63282308903, 63568015674, 2, 0.0010972879776235287],
    [62266950898, 62881730056, 0, 0.0041684626304515793],
    [63902869999, 64039176719, 3, 0.0001524484310195341],
    [64056433094, 64738093971, 0, 0.0051885445506555071],
  ])
})
