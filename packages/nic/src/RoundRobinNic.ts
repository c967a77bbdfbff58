import { NEVER, type Time } from "@rdmakit/protocol"
import type { NicQueuePair } from "./Endpoints.ts"
import { HostNic, type HostNicOptions } from "./HostNic.ts"
import { NOWHERE } from "./Placed.ts"

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
  private readonly lists: ReadonlyArray<Array<NicQueuePair<Command, Event>>>
  private readonly last: Int32Array

  constructor(options: HostNicOptions<Command, Event>) {
    super(options)
    this.lists = options.portIds.map(() => [])
    this.last = new Int32Array(options.portIds.length)
  }

  add(now: Time, endpoint: NicQueuePair<Command, Event>): void {
    if (endpoint.place === NOWHERE) {
      endpoint.place = LISTED
      endpoint.lendTimers()
      this.lists[this.portIndex(endpoint.port)]!.push(endpoint)
    }
    this.drain(now, endpoint)
    this.ports.kick(now, endpoint.port)
  }

  protected touched(now: Time, endpoint: NicQueuePair<Command, Event>): void {
    if (!endpoint.rateChanged) return
    endpoint.rateChanged = false
    const { port, paceTime } = endpoint
    // The pending wake-up moves forward, never back.
    const wake = this.ports.wakeTime(port)
    if (wake !== NEVER && paceTime < wake) this.ports.wakeAt(port, paceTime > now ? paceTime : now)
  }

  protected dataQuiet(index: number): boolean {
    return this.lists[index]!.length === 0
  }

  protected pullData(now: Time, index: number, port: number, paused: number): number {
    const list = this.lists[index]!
    const count = list.length
    if (count === 0) return -1
    const last = this.last[index]!
    let chosen = -1
    let finished = count
    for (let step = 1; step <= count; step++) {
      const at = (step + last) % count
      const endpoint = list[at]!
      if (endpoint.hasData && !endpoint.windowBound && ((paused >> endpoint.priority) & 1) === 0) {
        if (endpoint.paceTime > now) continue
        chosen = at
        break
      } else if (at < finished && endpoint.finished) finished = at
    }
    if (finished < count) chosen = compact(list, finished, chosen)
    if (chosen < 0) {
      this.sleep(now, list, port)
      return -1
    }
    this.last[index] = chosen
    return this.take(now, list[chosen]!)
  }

  private sleep(now: Time, list: ReadonlyArray<NicQueuePair<Command, Event>>, port: number): void {
    let time = NEVER
    for (let i = 0; i < list.length; i++) {
      const endpoint = list[i]!
      if (endpoint.hasData && endpoint.paceTime < time) time = endpoint.paceTime
    }
    if (time !== NEVER && time > now && this.ports.wakeTime(port) === NEVER) this.ports.wakeAt(port, time)
  }
}

/** Drops the finished queue pairs from index `from` on, which is one; returns where `chosen` moved to. */
function compact<Command, Event>(list: Array<NicQueuePair<Command, Event>>, from: number, chosen: number): number {
  let to = from
  let moved = chosen
  for (let i = from; i < list.length; i++) {
    const endpoint = list[i]!
    if (endpoint.finished) {
      endpoint.place = NOWHERE
      continue
    }
    if (i === chosen) moved = to
    list[to++] = endpoint
  }
  list.length = to
  return moved
}
