import { flowsOf, type Ns3Flow, type Ns3Flows } from "@rdmakit/ns3"
import { NANOSECOND, Random, SECOND } from "@rdmakit/units"
import type { SizeDistribution } from "./SizeDistribution.ts"

export interface PoissonOptions {
  /** The hosts are nodes 0 to hosts - 1; two or more. */
  readonly hosts: number
  readonly sizes: SizeDistribution
  /** Payload that a host sends, as a share of its rate, above 0. */
  readonly load: number
  /** Bits per second of each host. */
  readonly rateBps: number
  /** When flows may start, picoseconds. */
  readonly startPs: number
  readonly durationPs: number
  readonly seed: number
  /** Priority group of every flow. Default 3. */
  readonly priority?: number
}

/** UDP port of ordinary flows, by custom. */
const DPORT = 100

/**
 * Flows as HPCC's evaluation has them: each host starts flows at random moments, a Poisson process whose rate gives
 * the load, of random sizes, to other hosts chosen at random (Li et al. 2019, §5.1). Starts are whole nanoseconds.
 * Every host has a random stream of its own: the same seed gives the same flows, on any machine.
 */
export const poissonFlows = (options: PoissonOptions): Ns3Flows => {
  const { hosts, sizes, load, rateBps, startPs, durationPs, seed, priority = 3 } = options
  const meanGapPs = ((sizes.meanBytes * 8) / (rateBps * load)) * SECOND
  const flows: Array<Ns3Flow> = []
  for (let src = 0; src < hosts; src++) {
    const random = new Random(seed, src)
    for (let atPs = random.exponential(meanGapPs); atPs < durationPs; atPs += random.exponential(meanGapPs)) {
      const other = random.int(hosts - 1)
      const dst = other < src ? other : other + 1
      const sizeBytes = sizes.bytesAt(random.next())
      const wholePs = Math.floor(atPs / NANOSECOND) * NANOSECOND
      flows.push({ src, dst, pg: priority, dport: DPORT, sizeBytes, startPs: startPs + wholePs })
    }
  }
  return flowsOf(flows)
}
