import { NANOSECOND, SECOND } from "@rdmakit/units"
import type { SizeDistribution } from "./SizeDistribution.ts"
import { finished, STEP_FLOWS, type Steps } from "./Steps.ts"
import { WorkloadError } from "./WorkloadError.ts"
import {
  byStartSteps,
  type CommonOptions,
  commonOf,
  labels,
  requireFlows,
  requireHosts,
  requireTime,
  seededRandom,
  type WorkloadFlow,
} from "./WorkloadFlow.ts"

export interface PoissonOptions extends CommonOptions {
  /** Node numbers, two or more. */
  readonly hosts: ReadonlyArray<number>
  readonly sizes: SizeDistribution
  /**
   * Payload that a host sends, bit/s: one number for all, or one for each of `hosts`; a host of 0 only receives. See
   * `hostLoadBps`, `bisectionLoadBps`.
   */
  readonly payloadBps: number | ReadonlyArray<number>
  /** Flows start in [startPs, startPs + durationPs), picoseconds. */
  readonly durationPs: number
  /** 32 bits. */
  readonly seed: number
}

/**
 * Flows as HPCC's evaluation has them: each host starts flows at random moments, a Poisson process whose rate gives
 * the load, of random sizes, to other hosts chosen at random (Li et al. 2019, §5.1). Starts are whole nanoseconds.
 * Every host has the random stream of its number: the same seed gives the same flows, on any machine.
 *
 * One difference from the public generator: there each host's last flow before the end is left out.
 *
 * @throws WorkloadError
 */
export const poissonFlows = (options: PoissonOptions): Array<WorkloadFlow> => finished(poissonSteps(options))

/** The same in steps. */
export function* poissonSteps(options: PoissonOptions): Steps<Array<WorkloadFlow>> {
  const { hosts, sizes, payloadBps, durationPs, seed } = options
  const { startPs, priority } = commonOf(options)
  requireHosts("hosts", hosts, 2)
  requireTime("durationPs", durationPs, 1, Number.MAX_SAFE_INTEGER - startPs)
  const payloads = typeof payloadBps === "number" ? hosts.map(() => payloadBps) : payloadBps
  if (payloads.length !== hosts.length) {
    throw new WorkloadError("payloadBps", `${payloads.length} rates`, `one for each of ${hosts.length} hosts`)
  }
  for (const rateBps of payloads) {
    if (!(rateBps >= 0 && rateBps < Number.POSITIVE_INFINITY)) {
      throw new WorkloadError("payloadBps", rateBps, "0 bit/s or more")
    }
  }
  const meanGapsPs = payloads.map((rateBps) => ((sizes.meanBytes * 8) / rateBps) * SECOND)
  requireFlows(
    meanGapsPs.reduce((sum, meanGapPs) => sum + durationPs / meanGapPs, 0),
    "a shorter time or a lower load has fewer",
  )
  const flows: Array<WorkloadFlow> = []
  for (const [position, source] of hosts.entries()) {
    const meanGapPs = meanGapsPs[position]!
    if (meanGapPs === Number.POSITIVE_INFINITY) continue
    const random = seededRandom(seed, source)
    for (let atPs = random.exponential(meanGapPs); atPs < durationPs; atPs += random.exponential(meanGapPs)) {
      const other = random.int(hosts.length - 1)
      const destination = hosts[other < position ? other : other + 1]!
      const sizeBytes = sizes.bytesAt(random.next())
      const wholePs = Math.floor(atPs / NANOSECOND) * NANOSECOND
      const start = startPs + wholePs
      flows.push({ source, destination, sizeBytes, startPs: start, priority, destinationPort: labels.normal })
      if (flows.length % STEP_FLOWS === 0) yield flows.length
    }
  }
  return yield* byStartSteps(flows)
}
