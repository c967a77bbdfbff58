import { mulDivFloor, NANOSECOND, type Rate, SECOND, serializationPs, type Time } from "@rdmakit/units"
import type { Ports } from "./Ports.ts"
import type { Routes } from "./Routes.ts"
import { TopologyError } from "./TopologyError.ts"

/** Adds up a quantity of ports along the path that takes the first next hop at every node. */
class PathSum {
  /** The sum along the path last asked for. */
  total = 0
  /** The narrowest link of that path, bits per second; 0 when it has no links. */
  narrowestBps = 0
  private readonly routes: Routes
  private readonly ports: Ports
  private readonly terms: Float64Array
  private readonly unitsPerSecond: number

  /** @param terms of each port, a time in some unit @param unitsPerSecond of that unit */
  constructor(routes: Routes, ports: Ports, terms: Float64Array, unitsPerSecond: number) {
    this.routes = routes
    this.ports = ports
    this.terms = terms
    this.unitsPerSecond = unitsPerSecond
  }

  /** Bytes in flight that fill that path, in its total: ⌊total · narrowest rate / 8⌋. */
  get bdpBytes(): number {
    return mulDivFloor(this.total, Math.floor(this.narrowestBps), 8 * this.unitsPerSecond)
  }

  /** The largest total and the largest window of any two hosts. */
  maxima(): { readonly total: number; readonly bdpBytes: number } {
    let total = 0
    let bdpBytes = 0
    this.each(() => {
      total = Math.max(total, this.total)
      bdpBytes = Math.max(bdpBytes, this.bdpBytes)
    })
    return { total, bdpBytes }
  }

  /** False when there is no way. Both nodes are hosts. */
  along(source: number, destination: number): boolean {
    const { start, table, hosts, hostIndex } = this.routes
    const column = hostIndex[destination]!
    let total = 0
    let narrowestBps = Number.POSITIVE_INFINITY
    for (let node = source; node !== destination; ) {
      const entry = node * hosts.length + column
      if (start[entry] === start[entry + 1]) return false
      const port = table[start[entry]!]!
      total += this.terms[port]!
      narrowestBps = Math.min(narrowestBps, this.ports.rateBps[port]!)
      node = this.ports.node[port ^ 1]!
    }
    this.total = total
    this.narrowestBps = source === destination ? 0 : narrowestBps
    return true
  }

  /** Like `along`, for a question from outside. */
  require(source: number, destination: number): void {
    for (const node of [source, destination]) {
      if ((this.routes.hostIndex[node] ?? -1) >= 0) continue
      throw new TopologyError("not-a-host", `node ${node} is not a host`, { node })
    }
    if (this.along(source, destination)) return
    throw new TopologyError("unreachable", `no path from host ${source} to host ${destination}`, { node: source })
  }

  /**
   * Asks about ordered pairs of hosts until every sum and narrowest link that two hosts have has come; `visit` reads
   * `total` and `narrowestBps`. Pairs without a path are left out.
   */
  private each(visit: () => void): void {
    const hosts = this.unlike()
    for (const source of hosts) {
      for (const destination of hosts) if (source !== destination && this.along(source, destination)) visit()
    }
  }

  /** Hosts whose only links are alike and lead to the same node have the same paths: two of them, and all others. */
  private unlike(): ReadonlyArray<number> {
    const { routes, ports, terms } = this
    const counts = new Map<string, number>()
    return [...routes.hosts].filter((host) => {
      const [port, second] = ports.portsOf(host)
      if (port === undefined) return false
      if (second !== undefined) return true
      const there = [terms[port], ports.rateBps[port]]
      const back = [terms[port ^ 1], ports.rateBps[port ^ 1]]
      const key = [ports.node[port ^ 1], routes.isUp(port >> 1), ...there, ...back].join()
      const count = counts.get(key) ?? 0
      counts.set(key, count + 1)
      return count < 2
    })
  }
}

/** What one path between two hosts amounts to, in ns-3's integers. */
export interface Ns3PathDelay {
  /** Round trip, nanoseconds: twice the propagation there, and one payload's serialization at every hop there. */
  readonly rttNs: number
  /** Bytes in flight that fill the path: ⌊rtt · narrowest rate / 8⌋. */
  readonly bdpBytes: number
  /** The narrowest link on the way, bits per second. */
  readonly narrowestBps: Rate
}

/**
 * Round trips and windows of host pairs as the public HPCC simulator for ns-3 reckons them: whole nanoseconds,
 * rtt = 2·Σ delay + Σ ⌊payload · 8·10⁹ / rate⌋ (the payload alone, one way: neither headers nor the acknowledgement),
 * bdp = ⌊rtt · narrowest rate / 10⁹ / 8⌋.
 *
 * The simulator adds up along the predecessor that its breadth-first search finds first; here it is the first next
 * hop. With routes in the order "breadth-first" that is the same one; else it need not be, and where equal-cost paths
 * have different links, so may the answers.
 */
export class Ns3Delays {
  private readonly sum: PathSum
  private longest: { readonly rttNs: number; readonly bdpBytes: number } | undefined

  /** @param payloadBytes payload of a full data packet, whole; 1,000 in the simulator's own runs */
  constructor(routes: Routes, ports: Ports, payloadBytes: number) {
    const terms = ports.delayPs.map((delayPs, port) => {
      // ns-3 keeps delays in whole nanoseconds and rates in whole bits per second.
      const rateBps = Math.max(1, Math.floor(ports.rateBps[port]!))
      return 2 * Math.floor(delayPs / NANOSECOND) + mulDivFloor(payloadBytes, 8e9, rateBps)
    })
    this.sum = new PathSum(routes, ports, terms, SECOND / NANOSECOND)
  }

  /**
   * Along the path as it is now; all zero between a host and itself.
   *
   * @throws TopologyError "not-a-host", "unreachable"
   */
  pair(source: number, destination: number): Ns3PathDelay {
    this.sum.require(source, destination)
    const { total, bdpBytes, narrowestBps } = this.sum
    return { rttNs: total, bdpBytes, narrowestBps }
  }

  /**
   * The largest round trip and the largest window of any two hosts; not always of the same two. Found when first asked
   * for and kept from then on: the simulator finds them once, before any link fails.
   */
  maxima(): { readonly rttNs: number; readonly bdpBytes: number } {
    if (this.longest === undefined) {
      const { total, bdpBytes } = this.sum.maxima()
      this.longest = { rttNs: total, bdpBytes }
    }
    return this.longest
  }

  /** The largest round trip of any two hosts, nanoseconds. */
  get maxRttNs(): number {
    return this.maxima().rttNs
  }

  /** The largest window of any two hosts, bytes. */
  get maxBdpBytes(): number {
    return this.maxima().bdpBytes
  }
}

/** What one path between two hosts amounts to, exactly. */
export interface ExactPathDelay {
  /** Round trip, picoseconds: a data packet stored and forwarded at every hop there, its acknowledgement back. */
  readonly rttPs: Time
  /** Bytes in flight that fill the path: ⌊rtt · narrowest rate / 8⌋. */
  readonly bdpBytes: number
  /** The narrowest link on the way, bits per second. */
  readonly narrowestBps: Rate
}

/**
 * Round trips and windows of host pairs in exact picoseconds, on an idle network:
 * rtt = 2·Σ delay + Σ serialization of a data packet + Σ serialization of its acknowledgement, which goes back by the
 * same links. The path is the one of the first next hops, as in `Ns3Delays`.
 */
export class ExactDelays {
  private readonly sum: PathSum

  /** Wire sizes in bytes, all headers and framing included. */
  constructor(routes: Routes, ports: Ports, wire: { readonly dataBytes: number; readonly ackBytes: number }) {
    const terms = ports.delayPs.map((delayPs, port) => {
      const rateBps = ports.rateBps[port]!
      return 2 * delayPs + serializationPs(wire.dataBytes, rateBps) + serializationPs(wire.ackBytes, rateBps)
    })
    this.sum = new PathSum(routes, ports, terms, SECOND)
  }

  /**
   * Along the path as it is now; all zero between a host and itself.
   *
   * @throws TopologyError "not-a-host", "unreachable"
   */
  pair(source: number, destination: number): ExactPathDelay {
    this.sum.require(source, destination)
    const { total, bdpBytes, narrowestBps } = this.sum
    return { rttPs: total, bdpBytes, narrowestBps }
  }

  /** The largest round trip and the largest window of any two connected hosts, as they are now. */
  maxima(): { readonly rttPs: Time; readonly bdpBytes: number } {
    const { total, bdpBytes } = this.sum.maxima()
    return { rttPs: total, bdpBytes }
  }
}
