import { formatTime, Random } from "@rdmakit/units"
import { STEP_FLOWS, type Steps } from "./Steps.ts"
import { WorkloadError } from "./WorkloadError.ts"

/** What a host is to send: one message, a flow of its own. */
export interface WorkloadFlow {
  /** Hosts, by node number. */
  readonly source: number
  readonly destination: number
  /** Whole, 1 or more. */
  readonly sizeBytes: number
  /** When it is asked for, whole picoseconds. */
  readonly startPs: number
  /** 1 to 7. */
  readonly priority: number
  /** UDP port at the destination: by custom of HPCC's simulator a label, see `labels`. */
  readonly destinationPort: number
}

/** Destination ports by which HPCC's analysis tells flows apart (fct_analysis.py -t). */
export const labels = { normal: 100, incast: 200 } as const

/** What all workloads may say. */
export interface CommonOptions {
  /** When it begins, whole picoseconds. Default 0. */
  readonly startPs?: number
  /** Of every flow, 1 to 7. Default 3. */
  readonly priority?: number
}

export const PRIORITY = 3
/** A list longer than this fills memory before it fills a network. */
export const FLOWS_MAX = 10_000_000
export const NODES_MAX = 65_536

/** Sorts by start, in place; flows of equal start keep their order. */
export const byStart = (flows: Array<WorkloadFlow>): Array<WorkloadFlow> => flows.sort((a, b) => a.startPs - b.startPs)

/** The same in steps: pieces are sorted, and then merged two by two. The list is used up. */
export function* byStartSteps(flows: Array<WorkloadFlow>): Steps<Array<WorkloadFlow>> {
  for (let at = 0; at < flows.length && flows.length > STEP_FLOWS; at += STEP_FLOWS) {
    const piece = byStart(flows.slice(at, at + STEP_FLOWS))
    for (let i = 0; i < piece.length; i++) flows[at + i] = piece[i]!
    yield flows.length
  }
  if (flows.length <= STEP_FLOWS) return byStart(flows)
  let from = flows
  let to: Array<WorkloadFlow> = Array.from(flows)
  for (let width = STEP_FLOWS; width < flows.length; width *= 2) {
    for (let first = 0; first < from.length; first += 2 * width) {
      const middle = Math.min(first + width, from.length)
      const end = Math.min(first + 2 * width, from.length)
      let [left, right] = [first, middle]
      for (let at = first; at < end; at++) {
        // Of equal starts the earlier keeps its place.
        const isLeft = left < middle && (right === end || from[left]!.startPs <= from[right]!.startPs)
        to[at] = isLeft ? from[left++]! : from[right++]!
        if (at % STEP_FLOWS === 0) yield flows.length
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}

/**
 * Several workloads at once, by start; of equal starts the earlier list comes first.
 *
 * @throws WorkloadError "flows" for more than 10 million
 */
export const mergedFlows = (lists: ReadonlyArray<ReadonlyArray<WorkloadFlow>>): Array<WorkloadFlow> => {
  requireFlows(lists.reduce((sum, list) => sum + list.length, 0))
  return byStart(lists.flat())
}

/**
 * Flows of one's own, checked and sorted by start; those of equal start keep their order.
 *
 * @throws WorkloadError "flows[i].…", the first
 */
export const listedFlows = (
  flows: ReadonlyArray<Partial<WorkloadFlow> & Pick<WorkloadFlow, "source" | "destination" | "sizeBytes">>,
): Array<WorkloadFlow> => {
  requireFlows(flows.length)
  return byStart(
    flows.map((flow, i) => {
      const { source, destination, sizeBytes } = flow
      const { startPs = 0, priority = PRIORITY, destinationPort = labels.normal } = flow
      const at = `flows[${i}]`
      requireWhole(`${at}.source`, source, 0, NODES_MAX - 1)
      requireWhole(`${at}.destination`, destination, 0, NODES_MAX - 1)
      if (source === destination) throw new WorkloadError(`${at}.destination`, destination, "another host")
      requireWhole(`${at}.sizeBytes`, sizeBytes, 1)
      requireTime(`${at}.startPs`, startPs, 0)
      requireWhole(`${at}.priority`, priority, 1, 7)
      requireWhole(`${at}.destinationPort`, destinationPort, 0, 65_535)
      return { source, destination, sizeBytes, startPs, priority, destinationPort }
    }),
  )
}

/** Bytes of all flows. */
export const bytesOf = (flows: ReadonlyArray<WorkloadFlow>): number =>
  flows.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

/** Checks that a number is whole and in its range. */
export const requireWhole = (option: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): void => {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least}..${most}`
  throw new WorkloadError(option, value, `a whole number, ${range}`)
}

/** Checks that a time is whole picoseconds and in its range: messages have it with a unit. */
export const requireTime = (option: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): void => {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return
  const range = least > 0 ? `${formatTime(least)} to ${formatTime(most)}` : `at most ${formatTime(most)}`
  throw new WorkloadError(option, value, `a time of ${range}, whole picoseconds`)
}

/** Seeds are words: a larger one would be cut, and two be one. */
const SEED_MAX = 2 ** 32 - 1

/** The numbers of a seed and a stream. Throws a WorkloadError when the seed is no whole number from 0 to 2^32 - 1. */
export const seededRandom = (seed: number, stream: number): Random => {
  requireWhole("seed", seed, 0, SEED_MAX)
  return new Random(seed, stream)
}

/** Checks what all workloads have, and fills it in. */
export const commonOf = ({ startPs = 0, priority = PRIORITY }: CommonOptions): Required<CommonOptions> => {
  requireTime("startPs", startPs, 0)
  requireWhole("priority", priority, 1, 7)
  return { startPs, priority }
}

/** Checks that hosts are `least` or more and different. */
export const requireHosts = (option: string, hosts: ReadonlyArray<number>, least: number): void => {
  for (const host of hosts) requireWhole(option, host, 0, NODES_MAX - 1)
  if (hosts.length < least) throw new WorkloadError(option, hosts.length, `${least} hosts or more`)
  const seen = new Set<number>()
  for (const host of hosts) {
    if (seen.has(host)) throw new WorkloadError(option, `${host} twice`, "each host once")
    seen.add(host)
  }
}

/** Checks how many flows there will be, before there are. */
export const requireFlows = (count: number, hint?: string): void => {
  if (!(count <= FLOWS_MAX)) throw new WorkloadError("flows", Math.round(count), `at most ${FLOWS_MAX} in all`, hint)
}
