/** Who sends to whom by a rule: permutations, all to all, rings. */

import type { Random } from "@rdmakit/units"
import type { SizeDistribution } from "./SizeDistribution.ts"
import { finished, STEP_FLOWS, type Steps } from "./Steps.ts"
import { PATTERN_SIZES, PERMUTATIONS } from "./streams.ts"
import {
  type CommonOptions,
  commonOf,
  labels,
  requireFlows,
  requireHosts,
  requireTime,
  requireWhole,
  seededRandom,
  type WorkloadFlow,
} from "./WorkloadFlow.ts"

export interface PatternOptions extends CommonOptions {
  /** Node numbers, two or more. */
  readonly hosts: ReadonlyArray<number>
  readonly sizes: SizeDistribution
  /** From the start of one round to that of the next, whole picoseconds. Default 0: all start at once. */
  readonly gapPs?: number
  /** Of sizes and permutations, 32 bits. Default 0. */
  readonly seed?: number
}

export interface RoundOptions extends PatternOptions {
  /** Default 1. */
  readonly rounds?: number
}

/** One flow of every host a round: in round r the host at position i sends to the one at position `target(i, r)`. */
function* roundsOf(
  options: PatternOptions,
  rounds: number,
  target: (i: number, round: number) => number,
): Steps<Array<WorkloadFlow>> {
  const { hosts, sizes, gapPs = 0, seed = 0 } = options
  const { startPs, priority } = commonOf(options)
  requireWhole("rounds", rounds, 1)
  requireFlows(hosts.length * rounds)
  requireTime("gapPs", gapPs, 0, Math.floor((Number.MAX_SAFE_INTEGER - startPs) / rounds))
  const random = seededRandom(seed, PATTERN_SIZES)
  const flows: Array<WorkloadFlow> = []
  for (let round = 0; round < rounds; round++) {
    for (const [i, source] of hosts.entries()) {
      flows.push({
        source,
        destination: hosts[target(i, round)]!,
        sizeBytes: sizes.bytesAt(random.next()),
        startPs: startPs + round * gapPs,
        priority,
        destinationPort: labels.normal,
      })
      if (flows.length % STEP_FLOWS === 0) yield flows.length
    }
  }
  return flows
}

/**
 * Every host sends to one other host and hears from one, at random: all such assignments are equally likely, and each
 * round draws its own.
 *
 * @throws WorkloadError
 */
export const permutationFlows = (options: RoundOptions): Array<WorkloadFlow> => finished(permutationSteps(options))

/** The same in steps. */
export const permutationSteps = (options: RoundOptions): Steps<Array<WorkloadFlow>> => {
  const { hosts, rounds = 1, seed = 0 } = options
  requireHosts("hosts", hosts, 2)
  const permutations = seededRandom(seed, PERMUTATIONS)
  let current: ReadonlyArray<number> = []
  return roundsOf(options, rounds, (i, round) => {
    if (i === 0) current = derangement(hosts.length, permutations.fork(round))
    return current[i]!
  })
}

/** An order in which nothing keeps its place. About one shuffle in e is one; drawing again keeps all equally likely. */
const derangement = (count: number, random: Random): ReadonlyArray<number> => {
  const order = Array.from({ length: count }, (_, i) => i)
  do random.shuffle(order)
  while (order.some((target, i) => target === i))
  return order
}

/**
 * Every host sends to every other: n(n − 1) flows. In round r, from 1, each host sends to the r-th after it, so with
 * a gap no two hosts send to the same one in a round.
 *
 * @throws WorkloadError
 */
export const allToAllFlows = (options: PatternOptions): Array<WorkloadFlow> => finished(allToAllSteps(options))

/** The same in steps. */
export const allToAllSteps = (options: PatternOptions): Steps<Array<WorkloadFlow>> => {
  const { hosts } = options
  requireHosts("hosts", hosts, 2)
  return roundsOf(options, hosts.length - 1, (i, round) => (i + round + 1) % hosts.length)
}

/**
 * Every host sends to the next, the last to the first: the neighbours of a ring all-reduce. Its steps wait for each
 * other; rounds here start by the clock.
 *
 * @throws WorkloadError
 */
export const ringFlows = (options: RoundOptions): Array<WorkloadFlow> => finished(ringSteps(options))

/** The same in steps. */
export const ringSteps = (options: RoundOptions): Steps<Array<WorkloadFlow>> => {
  const { hosts, rounds = 1 } = options
  requireHosts("hosts", hosts, 2)
  return roundsOf(options, rounds, (i) => (i + 1) % hosts.length)
}
