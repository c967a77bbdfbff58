import { NEVER, type Time } from "@rdmakit/protocol"
import type { NicQueuePair } from "./Endpoints.ts"
import { HostNic, type HostNicOptions } from "./HostNic.ts"
import { NOWHERE } from "./Placed.ts"
import { Scan } from "./Scan.ts"

/** The word of a port's policy words, after HostNic's, that has the index of the queue pair served last. */
const LAST = 2

/** `place` of a queue pair that its port scans. */
const LISTED = 0

/**
 * The NIC of the public HPCC simulator (RdmaEgressQueue, QbbNetDevice), quirks and all: a round robin that scans every
 * queue pair of the port; a finished one is dropped only when a scan meets it; and one wake-up at a time, set for the
 * least pacing time of all queue pairs with data, those held back by their window included, so that a queue pair can
 * miss its turn until the next acknowledgement.
 */
export class RoundRobinNic<Command, Event> extends HostNic<Command, Event> {
  // Rates that a timer changes show with the next packet: the reference looks for none to send.
  protected override readonly timersKick = false
  /** Flow indices of each port's queue pairs, by port. */
  private readonly lists: ReadonlyArray<Array<number>>

  constructor(options: HostNicOptions<Command, Event>) {
    super(options)
    this.lists = Array.from({ length: Math.max(...options.portIds) + 1 }, () => [])
    for (const port of options.portIds) options.ports.policyWords[options.ports.policyAt(port) + LAST] = 0
  }

  protected override enlist(endpoint: NicQueuePair<Command, Event>): void {
    if (endpoint.place !== NOWHERE) return
    endpoint.place = LISTED
    this.lists[endpoint.port]!.push(endpoint.flow)
  }

  clear(port: number): void {
    const list = this.lists[port]!
    for (const flow of list) {
      const endpoint = this.endpoints.at(flow)
      if (endpoint !== undefined) endpoint.place = NOWHERE
    }
    list.length = 0
  }

  protected readonly touched = (now: Time, endpoint: NicQueuePair<Command, Event>): void => {
    this.endpoints.note(endpoint)
    if (!endpoint.rateChanged) return
    endpoint.rateChanged = false
    const { port, paceTime } = endpoint
    // The pending wake-up moves forward, never back.
    const wake = this.ports.wakeTime(port)
    if (wake !== NEVER && paceTime < wake) this.ports.wakeAt(port, paceTime > now ? paceTime : now)
  }

  protected readonly dataQuiet = (port: number): boolean => {
    return this.lists[port]!.length === 0
  }

  protected readonly pullData = (now: Time, port: number, paused: number): number => {
    const list = this.lists[port]!
    const count = list.length
    if (count === 0) return -1
    const { paceTimes, scan } = this.endpoints
    const { policyWords } = this.ports
    const lastAt = this.ports.policyAt(port) + LAST
    const last = policyWords[lastAt]!
    let chosen = -1
    let finished = count
    for (let step = 1; step <= count; step++) {
      const at = (step + last) % count
      const flow = list[at]!
      const seen = scan[flow]!
      if (
        (seen & (Scan.HasData | Scan.WindowBound)) === Scan.HasData &&
        ((paused >> (seen >> Scan.PRIORITY_SHIFT)) & 1) === 0
      ) {
        if (paceTimes[flow]! > now) continue
        chosen = at
        break
      } else if (at < finished && (seen & Scan.Finished) !== 0) finished = at
    }
    if (finished < count) chosen = this.compact(list, finished, chosen)
    if (chosen < 0) {
      this.sleep(now, list, port)
      return -1
    }
    policyWords[lastAt] = chosen
    const endpoint = this.endpoints.at(list[chosen]!)!
    const handle = this.take(now, endpoint)
    this.endpoints.note(endpoint)
    return handle
  }

  private readonly sleep = (now: Time, list: ReadonlyArray<number>, port: number): void => {
    const { paceTimes, scan } = this.endpoints
    let time = NEVER
    for (let i = 0; i < list.length; i++) {
      const flow = list[i]!
      if ((scan[flow]! & Scan.HasData) !== 0 && paceTimes[flow]! < time) time = paceTimes[flow]!
    }
    if (time !== NEVER && time > now && this.ports.wakeTime(port) === NEVER) this.ports.wakeAt(port, time)
  }

  /** Drops the finished queue pairs from index `from` on, which is one; returns where `chosen` moved to. */
  private compact(list: Array<number>, from: number, chosen: number): number {
    const { endpoints } = this
    let to = from
    let moved = chosen
    for (let i = from; i < list.length; i++) {
      const flow = list[i]!
      if ((endpoints.scan[flow]! & Scan.Finished) !== 0) {
        // One that has left the world has no place to be told of.
        const endpoint = endpoints.at(flow)
        if (endpoint !== undefined) endpoint.place = NOWHERE
        continue
      }
      if (i === chosen) moved = to
      list[to++] = flow
    }
    list.length = to
    return moved
  }
}
