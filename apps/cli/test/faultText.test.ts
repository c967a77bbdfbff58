import { expect, test } from "vitest"
import { parseFaults } from "../src/verbs/FaultText.ts"

test("faults in words", () => {
  expect(parseFaults("loss=2%,dup=0.02, reorder=5 %,hold=50us,corrupt=.1%,delay=1us..3us")).toEqual({
    ...{ loss: 0.02, duplication: 0.02, reordering: 0.05, reorderPs: 50e6, corruption: 0.001, delayPs: [1e6, 3e6] },
  })
  expect(parseFaults("hole=50%,slow=10Gbps")).toEqual({ blackHole: 0.5, serverBps: 10e9 })
  expect(parseFaults("delay=1us")).toEqual({ delayPs: [1e6, 1e6] })
})

test.each([
  ["loss", /found "loss", expected NAME=VALUE: loss, dup/],
  ["losses=2%", /^found "losses", expected loss, dup, reorder/],
  ["loss=101%", /^loss: found "101%", expected a share such as 2% or 0\.02, at most 100%$/],
  ["loss=2", /^loss: found "2", expected a share/],
  ["loss=-1%", /^loss: found "-1%"/],
  ["delay=3us..1us", /^delay: found "3us..1us", expected the shorter time first$/],
  ["hold=3", /^hold: /],
  ["slow=fast", /^slow: /],
])("%s is refused", (text, reason) => {
  expect(parseFaults(text)).toMatch(reason)
})
