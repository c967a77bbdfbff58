import { type End, randomPath, restlessWindow, runRandomFlows, SeededDraws } from "@rdmakit/conformance"
import { endsOf } from "./connection.ts"

/** It halves with each loss and grows with each acknowledgement, between a small packet and a hundred. */
const controller = restlessWindow(() => ({
  start: 100_000,
  step: 1000,
  most: 1e6,
  lost: (window) => Math.max(1000, window / 2),
}))

/**
 * One connection of a random kind, through a random network, with messages both ways at random times: everything that the
 * seed decides. Returns what is wrong, in words.
 */
export const runSeed = (seed: number): ReadonlyArray<string> => {
  const draws = new SeededDraws(seed, 0x6572)
  const ends = endsOf(0, {
    controller,
    underlayMtuBytes: draws.pick([1000, 1550, 4200, 8550]),
    overlay: draws.pick(["vxlan", "none"]),
    ackEvery: draws.pick([1, 1, 2, 8]),
    retryCount: 40,
  })
  return runRandomFlows({
    draws,
    ends,
    path: randomPath(draws),
    sizes: [0, 1, 7, 64, 1000, 8428, 8429, 50_000, 300_000],
    received: (end: End) => (ends[end] as unknown as { readonly bytesReceived: number }).bytesReceived,
  })
}
