import { type Crossing, restlessWindow, runRandomFlows, SeededDraws } from "@rdmakit/conformance"
import { endsOf } from "./connection.ts"

const US = 1e6

/** It halves with each timeout and grows with each acknowledgement, between one packet and a hundred. */
const controller = restlessWindow(() => ({
  start: 30_000,
  step: 500,
  most: 1e5,
  lost: (window, timeout) => (timeout ? Math.max(1000, window / 2) : window),
}))

/** Ways that fail together, of 16: which, from when to when, and how: for good, or down and up again all the time. */
interface Failure {
  readonly ways: number
  readonly from: number
  readonly to: number
  readonly flapPs: number
}

/**
 * A network of 16 ways, by port: each its own delay; losses, corrupted packets, which are dropped where they arrive, and
 * duplicates by chance; black holes and flapping links for a time; and times at which nothing comes through at all.
 */
const networkOf = (draws: SeededDraws, portOf: () => number) => {
  const flightPs = draws.pick([1, 6, 50, 400]) * US
  const loss = [draws.pick([0, 0.001, 0.01, 0.1, 0.3]), draws.pick([0, 0.001, 0.01, 0.1, 0.3])]
  const corrupt = draws.pick([0, 0, 0.001, 0.05])
  const duplicate = draws.pick([0, 0, 0.01, 0.2])
  const jitter = draws.pick([0, 0, 0.1, 1, 5])
  const skew = draws.pick([0, 0, 0.5, 10])
  const failures = Array.from({ length: draws.below(5) }, (): Failure => {
    const from = draws.below(20_000) * US
    const ways = draws.pick([0xffff, 0x0001, 0x0f0f, 0x7fff, draws.below(0x10000)])
    const flapPs = draws.pick([Number.POSITIVE_INFINITY, 50 * US, 500 * US])
    return { ways, from, to: from + draws.pick([5, 100, 5000, 100_000]) * US, flapPs }
  })
  const isDown = (time: number, way: number): boolean =>
    failures.some(
      ({ ways, from, to, flapPs }) =>
        time >= from && time < to && (ways & (1 << way)) !== 0 && Math.floor((time - from) / flapPs) % 2 === 0,
    )
  return ({ time, from }: Crossing): ReadonlyArray<number> => {
    const way = portOf() & 15
    const delay = (): number => Math.floor(flightPs * (1 + draws.next() * jitter + (way / 16) * skew))
    if (isDown(time, way) || draws.next() < loss[from]! || draws.next() < corrupt) return []
    return draws.next() < duplicate ? [delay(), delay()] : [delay()]
  }
}

/**
 * One context of random options, through a random network, with messages both ways at random times: everything that the
 * seed decides. Returns what is wrong, in words.
 */
export const runSeed = (seed: number): ReadonlyArray<string> => {
  const draws = new SeededDraws(seed, 0x737264)
  const ends = endsOf(0, {
    controller,
    paths: draws.pick([1, 2, 16, 64]),
    renewAfterPackets: draws.pick([1, 16, 1000]),
    windowPackets: draws.pick([1, 8, 100, 4096]),
  })
  let port = 0
  return runRandomFlows({
    draws,
    ends,
    onWay: (packet) => {
      port = packet.udpPorts & 0xffff
    },
    path: networkOf(draws, () => port),
    sizes: [0, 1, 7, 64, 1000, 1001, 5000, 50_000, 300_000],
    received: (end) => ends[end].bytesReceived,
    ordered: false,
  })
}
