import { NEVER, type Time } from "@rdmakit/protocol"
import type { NicQueuePair } from "./Endpoints.ts"
import { HostNic, type HostNicOptions } from "./HostNic.ts"
import { PaceHeap } from "./PaceHeap.ts"

const PRIORITIES = 8
/** Where a queue pair is. */
const Idle = 0
const Ready = 1
const Paced = 2

/** One port's queue pairs: those that may send now, by priority and in turn; and those whose pacing time is to come. */
class PortList<Q> {
  readonly ready: Array<Array<Q>> = Array.from({ length: PRIORITIES }, () => [])
  readonly readyAt = new Int32Array(PRIORITIES)
  /** Bit p: `ready[p]` is not empty. */
  mask = 0
  readonly paced = new PaceHeap<Q>()

  push(priority: number, endpoint: Q): void {
    this.ready[priority]!.push(endpoint)
    this.mask |= 1 << priority
  }

  shift(priority: number): Q {
    const list = this.ready[priority]!
    const at = this.readyAt[priority]!
    const endpoint = list[at]!
    if (at + 1 === list.length) {
      list.length = 0
      this.readyAt[priority] = 0
      this.mask &= ~(1 << priority)
    } else if (at >= 1023) {
      list.splice(0, at + 1)
      this.readyAt[priority] = 0
    } else {
      this.readyAt[priority] = at + 1
    }
    return endpoint
  }
}

/**
 * The ideal NIC: a queue pair that may send stands in its priority's list and takes its turn; one that is paced waits
 * in a heap by its pacing time; one without data or window is in neither. The port wakes exactly when the first paced
 * queue pair may send. The higher priority goes first; a paused one waits.
 */
export class ReadyListNic<Command, Event> extends HostNic<Command, Event> {
  private readonly lists: Array<PortList<NicQueuePair<Command, Event>>>
  /** Where each endpoint is, by flow index. */
  private place = new Uint8Array(64)

  constructor(options: HostNicOptions<Command, Event>) {
    super(options)
    this.lists = options.portIds.map(() => new PortList<NicQueuePair<Command, Event>>())
  }

  add(now: Time, endpoint: NicQueuePair<Command, Event>): void {
    if (endpoint.flow >= this.place.length) {
      const grown = new Uint8Array(Math.max(endpoint.flow + 1, this.place.length * 2))
      grown.set(this.place)
      this.place = grown
    }
    this.drain(now, endpoint)
    this.ports.kick(now, endpoint.port)
  }

  protected touched(now: Time, endpoint: NicQueuePair<Command, Event>): void {
    const index = endpoint.flow
    if (index >= this.place.length) return
    const place = this.place[index]!
    const list = this.lists[this.portIds.length === 1 ? 0 : this.indexOf.get(endpoint.port)!]!
    if (endpoint.rateChanged) {
      endpoint.rateChanged = false
      if (place === Paced) list.paced.update(endpoint, endpoint.paceTime)
    }
    if (place === Idle && endpoint.hasData && !endpoint.windowBound) this.queue(now, list, endpoint)
  }

  protected dataQuiet(index: number): boolean {
    const list = this.lists[index]!
    return list.mask === 0 && list.paced.size === 0
  }

  private queue(now: Time, list: PortList<NicQueuePair<Command, Event>>, endpoint: NicQueuePair<Command, Event>): void {
    if (endpoint.paceTime > now) {
      this.place[endpoint.flow] = Paced
      list.paced.push(endpoint, endpoint.paceTime)
    } else {
      this.place[endpoint.flow] = Ready
      list.push(endpoint.priority, endpoint)
    }
  }

  protected pullData(now: Time, index: number, port: number, paused: number): number {
    const list = this.lists[index]!
    while (list.paced.size > 0 && list.paced.least <= now) {
      const endpoint = list.paced.pop()
      this.place[endpoint.flow] = Ready
      list.push(endpoint.priority, endpoint)
    }
    let open = list.mask & ~paused
    while (open !== 0) {
      const priority = 31 - Math.clz32(open)
      const endpoint = list.shift(priority)
      const handle = this.tryTake(now, list, endpoint)
      if (handle >= 0) return handle
      open = list.mask & ~paused
    }
    const wake = list.paced.size > 0 ? list.paced.least : NEVER
    if (wake < this.ports.wakeTime(port)) this.ports.wakeAt(port, wake)
    return -1
  }

  /** The endpoint left the ready list: its packet, or -1 when its window or pacing has closed since; it is put back. */
  private tryTake(
    now: Time,
    list: PortList<NicQueuePair<Command, Event>>,
    endpoint: NicQueuePair<Command, Event>,
  ): number {
    this.place[endpoint.flow] = Idle
    let handle = -1
    if (endpoint.hasData && !endpoint.windowBound && endpoint.paceTime <= now) handle = this.take(now, endpoint)
    if (endpoint.hasData && !endpoint.windowBound) this.queue(now, list, endpoint)
    return handle
  }
}
