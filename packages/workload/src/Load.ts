/**
 * What a load means, as payload in bits per second. Headers and telemetry come on top: with HPCC's 90 B a packet of
 * 1,000 B, a load of 50 % takes 54.5 % of the wire.
 */
import { WorkloadError } from "./WorkloadError.ts"

/** More is a slip: a share, not a percentage. */
const LOAD_MAX = 10

const requireLoad = (load: number): void => {
  if (load > 0 && load <= LOAD_MAX) return
  const hint = load > LOAD_MAX && load <= 100 ? "a share, not a percentage" : undefined
  throw new WorkloadError("load", load, `above 0, at most ${LOAD_MAX}`, hint)
}

const requireRate = (option: string, rateBps: number): void => {
  if (!(rateBps > 0 && rateBps < Number.POSITIVE_INFINITY)) throw new WorkloadError(option, rateBps, "above 0 bit/s")
}

/**
 * Payload that a host sends at a load of its link, bit/s: the definition of HPCC's traffic generator (traffic_gen.py:
 * mean gap = mean size · 8 / (bandwidth · load)) and so of HPCC §5.1. Above 1 a host asks for more than it can send.
 *
 * @param load share, above 0, at most 10
 * @param rateBps of the host's links together
 * @throws WorkloadError "load", "rateBps"
 */
export const hostLoadBps = (load: number, rateBps: number): number => {
  requireLoad(load)
  requireRate("rateBps", rateBps)
  return rateBps * load
}

/**
 * Payload that each of `hosts` hosts sends so that the traffic from one half to the other is a share of what the
 * network can carry that way, bit/s. Destinations are drawn among all other hosts, so of n hosts, h = ⌊n / 2⌋ in one
 * half, each sends the part (n − h) / (n − 1) across: r = load · bisection · (n − 1) / (h · (n − h)). Where the
 * bisection is not oversubscribed, this is about twice the host's share.
 *
 * @param load share, above 0, at most 10
 * @param bisectionBps from one half to the other, one way
 * @param hosts two or more
 * @throws WorkloadError "load", "bisectionBps", "hosts"
 */
export const bisectionLoadBps = (load: number, bisectionBps: number, hosts: number): number => {
  requireLoad(load)
  requireRate("bisectionBps", bisectionBps)
  if (!(Number.isInteger(hosts) && hosts >= 2)) throw new WorkloadError("hosts", hosts, "two or more")
  const half = Math.floor(hosts / 2)
  return (load * bisectionBps * (hosts - 1)) / (half * (hosts - half))
}

/**
 * Payload of a load of the whole network, bit/s: of the capacity of all hosts' links together, as HPCC §5.3 counts
 * its incasts.
 *
 * @param load share, above 0, at most 10
 * @param ratesBps of each host's links together
 * @throws WorkloadError "load", "ratesBps"
 */
export const networkLoadBps = (load: number, ratesBps: ReadonlyArray<number>): number => {
  requireLoad(load)
  for (const rateBps of ratesBps) requireRate("ratesBps", rateBps)
  return load * ratesBps.reduce((sum, rateBps) => sum + rateBps, 0)
}
