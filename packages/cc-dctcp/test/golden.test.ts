import { expect, it } from "vitest"
import { dctcp, dctcpPresets } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

/**
 * 3,000 acknowledgements with up to 59 packets out, marked one in four or one in forty, in turns of 500, drawn from the
 * 32-bit generator of Numerical Recipes. The expected lines are the rate (bit/s) and α after every two hundredth, from a
 * separate C++ program with 64-bit integers.
 */
it("dctcp/ns3, golden sequence", () => {
  let state = 1
  const draw = (bound: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) % bound
  }
  const controller = dctcp(dctcpPresets.simulation).make(0, path)
  const lines: Array<ReadonlyArray<number | undefined>> = []
  for (let i = 0; i < 3000; i++) {
    const sequence = 1000 * (i + 1)
    const sent = sequence + 1000 * draw(60)
    const marked = draw(Math.floor(i / 500) % 2 === 1 ? 40 : 4) === 0
    controller.onAck(0, ack(sequence, sent, marked))
    if (i % 200 === 199) lines.push([controller.rate, controller.metrics().alpha])
  }
  expect(lines).toEqual([
    [5696433013, 0.73607374248124724],
    [1000000000, 0.48866334139861406],
    [1045282687, 0.36920621183483537],
    [1424688587, 0.29427885028857043],
    [2766502725, 0.17810804406890079],
    [1983882664, 0.17203674717769929],
    [1435910083, 0.18593844176634597],
    [2262177740, 0.17634971952271805],
    [2953001004, 0.11956871787415702],
    [3642762782, 0.086821127552424715],
    [2717906299, 0.12989903586139814],
    [1975073231, 0.15335705992296356],
    [3082706381, 0.15528526185506122],
    [4975262746, 0.10114785765391747],
    [7478323126, 0.077280324445265391],
  ])
})
