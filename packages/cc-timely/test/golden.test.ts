import { expect, it } from "vitest"
import { timely } from "../src/index.ts"
import { ack, path } from "./feedback.ts"

/**
 * 2,000 acknowledgements whose RTT wanders between 20 and 119 µs, with one in 300 above 600 µs, drawn from the 32-bit
 * generator of Numerical Recipes. The expected lines are the rate (bit/s), the stage and the smoothed RTT difference
 * (ns) after every hundredth, from a separate C++ program with 64-bit integers.
 */
it("timely/ns3, golden sequence", () => {
  let state = 1
  const draw = (bound: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) % bound
  }
  const controller = timely({ variant: "ns3", alpha: 0.875, beta: 0.8, additiveIncreaseBps: 100e6 }).make(0, path)
  const lines: Array<ReadonlyArray<number | undefined>> = []
  let baseNs = 30_000
  for (let i = 0; i < 2000; i++) {
    const sequence = 1000 * (i + 1)
    const sent = sequence + 1000 * draw(12)
    if (i % 100 === 0) baseNs = 20_000 + draw(90_000)
    const rttNs = baseNs + draw(9000) + (draw(300) === 0 ? 600_000 : 0)
    controller.onAck(0, ack(sequence, sent, rttNs))
    const { stage, rttDiffNs } = controller.metrics()
    if (i % 100 === 99) lines.push([controller.rate, stage, rttDiffNs])
  }
  expect(lines).toEqual([
    [44449664546, 0, 3968.6263608582262],
    [19149206377, 2, -3808.5517196754413],
    [8158102577, 0, 2317.1203761407728],
    [3803132054, 0, 2154.2207375300522],
    [8803132054, 14, 1202.6511873279417],
    [17303132054, 31, 1067.4961491873528],
    [1040447763, 0, 2674.7545168495585],
    [6040447763, 14, 5624.8794585690093],
    [4572288187, 1, -3866.3207381069592],
    [1100000000, 1, -1951.027486715077],
    [1327561738, 1, -450.8208758424496],
    [1189464133, 0, 586.64313362120845],
    [1030302018, 0, 1584.045030417903],
    [1198718061, 1, -3309.1081300092746],
    [6598718061, 15, 1156.0072979424665],
    [1300000000, 3, -1763.4289384562453],
    [1235771718, 0, 1782.9633073002792],
    [7735771718, 17, -3511.9168689026574],
    [15235771718, 32, 2960.1127760801473],
    [22235771718, 46, 691.73796768487205],
  ])
})
