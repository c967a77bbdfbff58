import { NANOSECOND, type Random, SECOND } from "@rdmakit/units"
import type { SizeDistribution } from "./SizeDistribution.ts"
import { finished, STEP_FLOWS, type Steps } from "./Steps.ts"
import { INCASTS, ONE_INCAST } from "./streams.ts"
import { WorkloadError } from "./WorkloadError.ts"
import {
  byStart,
  byStartSteps,
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

export interface IncastOptions extends CommonOptions {
  readonly senders: ReadonlyArray<number>
  /** None of the senders. */
  readonly receiver: number
  /** Of each sender's flow. */
  readonly sizes: SizeDistribution
  /**
   * Each sender starts at a moment of its own within this time, picoseconds: the jitter that applications add so that
   * answers do not come all at once (Alizadeh et al., "Data Center TCP", 2010, §2.3.2). Default 0: all at once.
   */
  readonly jitterPs?: number
  /** Of sizes and jitter, 32 bits. Default 0. */
  readonly seed?: number
}

/**
 * Many hosts send to one at the same time. Starts are whole nanoseconds when the beginning is.
 *
 * @throws WorkloadError
 */
export const incastFlows = (options: IncastOptions): Array<WorkloadFlow> => {
  const { senders, receiver, sizes, jitterPs = 0, seed = 0 } = options
  const { startPs, priority } = commonOf(options)
  requireHosts("senders", senders, 1)
  requireHosts("receiver", [receiver], 1)
  if (senders.includes(receiver)) throw new WorkloadError("receiver", receiver, "a host that is no sender")
  requireTime("jitterPs", jitterPs, 0, Number.MAX_SAFE_INTEGER - startPs)
  const flows: Array<WorkloadFlow> = []
  const random = seededRandom(seed, ONE_INCAST)
  for (const source of senders) {
    const begin = startPs + jitter(random, jitterPs)
    flows.push(flowOf(source, receiver, sizes.bytesAt(random.next()), begin, priority))
  }
  return byStart(flows)
}

/** How much later than its incast a flow starts, whole nanoseconds. It draws without jitter too: sizes stay the same. */
const jitter = (random: Random, jitterPs: number): number =>
  Math.floor((random.next() * jitterPs) / NANOSECOND) * NANOSECOND

const flowOf = (
  source: number,
  destination: number,
  sizeBytes: number,
  startPs: number,
  priority: number,
): WorkloadFlow => ({ source, destination, sizeBytes, startPs, priority, destinationPort: labels.incast })

/** Who takes part in an incast. */
export interface IncastMembers {
  readonly receiver: number
  readonly senders: ReadonlyArray<number>
}

/**
 * Draws a receiver and its different senders, for the `event`-th incast of a seed: the draw depends on nothing else.
 *
 * @param fanIn whole, 1 to hosts − 1
 * @param receiver when it is settled already
 * @throws WorkloadError "hosts", "fanIn", "receiver"
 */
export const incastMembers = (
  hosts: ReadonlyArray<number>,
  fanIn: number,
  seed: number,
  event = 0,
  receiver?: number,
): IncastMembers => {
  requireHosts("hosts", hosts, 2)
  requireWhole("fanIn", fanIn, 1, hosts.length - 1)
  const random = seededRandom(seed, INCASTS).fork(event)
  const position = receiver === undefined ? random.int(hosts.length) : hosts.indexOf(receiver)
  if (position < 0) throw new WorkloadError("receiver", receiver, "one of the hosts")
  const order = Int32Array.from(hosts.keys())
  return { receiver: hosts[position]!, senders: drawOthers(order, position, fanIn, random).map((i) => hosts[i]!) }
}

/** The first `count` of a random order of all positions but one; `order` is put back as it was. */
const drawOthers = (order: Int32Array, except: number, count: number, random: Random): Array<number> => {
  const last = order.length - 1
  const swaps = new Int32Array(count + 1)
  const swap = (a: number, b: number): void => {
    const held = order[a]!
    order[a] = order[b]!
    order[b] = held
  }
  swap(except, last)
  for (let i = 0; i < count; i++) {
    swaps[i] = i + random.int(last - i)
    swap(i, swaps[i]!)
  }
  const drawn = Array.from(order.subarray(0, count))
  for (let i = count - 1; i >= 0; i--) swap(i, swaps[i]!)
  swap(except, last)
  return drawn
}

export interface RandomIncastOptions extends CommonOptions {
  /** Node numbers, more than `fanIn`. */
  readonly hosts: ReadonlyArray<number>
  /** Senders of each incast. */
  readonly fanIn: number
  /** Of each sender's flow. */
  readonly sizes: SizeDistribution
  /** Payload of all incasts together, bit/s, above 0: see `networkLoadBps`. */
  readonly payloadBps: number
  /** Incasts begin in [startPs, startPs + durationPs), picoseconds. */
  readonly durationPs: number
  /** As in `IncastOptions`. Default 0. */
  readonly jitterPs?: number
  /** 32 bits. */
  readonly seed: number
}

/**
 * Incasts at random moments, a Poisson process whose rate gives the load: each has a receiver and `fanIn` different
 * senders drawn anew. HPCC §5.3 puts 60 senders of 500 KB each, 2 % of the network's capacity in all, on top of its
 * 30 % of other flows. Starts are whole nanoseconds.
 *
 * @throws WorkloadError
 */
export const randomIncastFlows = (options: RandomIncastOptions): Array<WorkloadFlow> =>
  finished(randomIncastSteps(options))

/** The same in steps. */
export function* randomIncastSteps(options: RandomIncastOptions): Steps<Array<WorkloadFlow>> {
  const { hosts, fanIn, sizes, payloadBps, durationPs, jitterPs = 0, seed } = options
  const { startPs, priority } = commonOf(options)
  requireHosts("hosts", hosts, 2)
  requireWhole("fanIn", fanIn, 1, hosts.length - 1)
  if (!(payloadBps > 0 && payloadBps < Number.POSITIVE_INFINITY)) {
    throw new WorkloadError("payloadBps", payloadBps, "above 0 bit/s")
  }
  requireTime("jitterPs", jitterPs, 0, Number.MAX_SAFE_INTEGER - startPs)
  requireTime("durationPs", durationPs, 1, Number.MAX_SAFE_INTEGER - startPs - jitterPs)
  const meanGapPs = ((fanIn * sizes.meanBytes * 8) / payloadBps) * SECOND
  requireFlows((durationPs / meanGapPs) * fanIn, "a shorter time or a lower load has fewer")
  if (meanGapPs === Number.POSITIVE_INFINITY) return []
  const arrivals = seededRandom(seed, INCASTS)
  const order = Int32Array.from(hosts.keys())
  const flows: Array<WorkloadFlow> = []
  let event = 0
  let stepped = 0
  for (let atPs = arrivals.exponential(meanGapPs); atPs < durationPs; atPs += arrivals.exponential(meanGapPs)) {
    if (flows.length > stepped + STEP_FLOWS) {
      stepped = flows.length
      yield flows.length
    }
    const random = arrivals.fork(event++)
    const position = random.int(hosts.length)
    const beginPs = startPs + Math.floor(atPs / NANOSECOND) * NANOSECOND
    for (const sender of drawOthers(order, position, fanIn, random)) {
      const begin = beginPs + jitter(random, jitterPs)
      flows.push(flowOf(hosts[sender]!, hosts[position]!, sizes.bytesAt(random.next()), begin, priority))
    }
  }
  return yield* byStartSteps(flows)
}
