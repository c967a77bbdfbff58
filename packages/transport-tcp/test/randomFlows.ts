import { randomPath, restlessWindow, runRandomFlows, SeededDraws } from "@rdmakit/conformance"
import { endsOf } from "./connection.ts"

const US = 1e6

/**
 * One connection of a random kind, through a random network, with messages both ways at random times: everything that the
 * seed decides. Returns what is wrong, in words.
 */
export const runSeed = (seed: number): ReadonlyArray<string> => {
  const draws = new SeededDraws(seed, 0x7463)
  const ends = endsOf(
    0,
    {
      controller: restlessWindow(),
      mtuBytes: draws.pick([536, 1000, 1448, 8949]),
      lossDetection: draws.pick(["rack-tlp", "rack-tlp", "sack"]),
      leastTimeoutPs: draws.pick([100, 5000, 200_000]) * US,
      initialTimeoutPs: draws.pick([5000, 1_000_000]) * US,
      ackEvery: draws.pick([1, 2, 2, 8]),
      delayedAckPs: draws.pick([0, 500, 40_000]) * US,
      quickAcks: draws.pick([0, 16]),
      rateReduction: draws.pick([true, true, false]),
      probesInRecovery: draws.pick([true, false]),
      offloadSegments: draws.pick([1, 1, 7]),
      processingPs: draws.pick([0, 1, 20]) * US,
      retryCount: 60,
      mostTimeoutPs: 2e12,
    },
    seed,
  )
  return runRandomFlows({
    draws,
    ends,
    path: randomPath(draws),
    sizes: [0, 1, 7, 64, 1000, 1448, 1449, 50_000, 300_000],
    received: (end) => ends[end].bytesReceived,
  })
}
