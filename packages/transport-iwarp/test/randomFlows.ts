import { randomPath, restlessWindow, runRandomFlows, SeededDraws } from "@rdmakit/conformance"
import { endsOf } from "./flows.ts"
import { MESSAGE_BYTES_MAX, overTcp } from "./overTcp.ts"

const US = 1e6

/** Options of TCP, at random. */
const streamOptions = (draws: SeededDraws) => ({
  controller: restlessWindow(),
  lossDetection: draws.pick(["rack-tlp", "rack-tlp", "sack"] as const),
  leastTimeoutPs: draws.pick([100, 5000, 200_000]) * US,
  initialTimeoutPs: draws.pick([5000, 1_000_000]) * US,
  ackEvery: draws.pick([1, 2, 2, 8]),
  delayedAckPs: draws.pick([0, 500, 40_000]) * US,
  retryCount: 60,
  mostTimeoutPs: 2e12,
})

/**
 * One connection of a random kind, through a random network, with messages both ways at random times: everything that the
 * seed decides. Returns what is wrong, in words.
 */
export const runSeed = (seed: number): ReadonlyArray<string> => {
  const draws = new SeededDraws(seed, 0x6977)
  const ends = endsOf(0, { ...streamOptions(draws), ipMtuBytes: draws.pick([576, 1500, 1500, 9000]) }, seed)
  return runRandomFlows({
    draws,
    ends,
    path: randomPath(draws),
    sizes: [0, 1, 7, 64, 1000, 1428, 1429, 50_000, 300_000],
    received: (end) => ends[end].bytesReceived,
  })
}

/**
 * The same of two queue pairs, whose octets TCP carries: what has arrived is looked at octet by octet. A packet has room for
 * 4,096.
 */
export const runQueuePairSeed = (seed: number): ReadonlyArray<string> => {
  const draws = new SeededDraws(seed, 0x7170)
  const ends = overTcp(
    0,
    { ...streamOptions(draws), mtuBytes: draws.pick([64, 536, 1448, 1448, 4096]) },
    { seed, ready: true },
  )
  const wrong = runRandomFlows({
    draws,
    ends,
    path: randomPath(draws),
    sizes: [0, 1, 7, 64, 1000, 1428, 1429, 20_000, MESSAGE_BYTES_MAX],
    received: (end) => ends[end].memory.remoteBytes,
  })
  return [
    ...wrong,
    ...ends.flatMap((end, index) => (end.isRight() ? [] : [`end ${index} has other octets than were sent`])),
  ]
}
