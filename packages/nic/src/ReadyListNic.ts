import type { Time } from "@rdmakit/protocol"
import type { NicQueuePair } from "./Endpoints.ts"
import { HostNic, type HostNicOptions } from "./HostNic.ts"
import { PaceHeap } from "./PaceHeap.ts"
import { NOWHERE, type Placed } from "./Placed.ts"
import { Ring } from "./Ring.ts"
import { rehearse } from "./rehearse.ts"

const PRIORITIES = 8

/** `place` of a queue pair that stands in a ready list; one that is paced has its index in the heap. */
const READY = -2

/** One port's queue pairs: those that may send now, by priority and in turn; and those whose pacing time is to come. */
class PortList<Q extends Placed> {
  /** Bit p: somebody of priority p is ready. */
  mask = 0
  readonly paced = new PaceHeap<Q>()
  private readonly ready: ReadonlyArray<Ring<Q>> = Array.from({ length: PRIORITIES }, () => new Ring<Q>())

  push(priority: number, endpoint: Q): void {
    endpoint.place = READY
    this.ready[priority]!.push(endpoint)
    this.mask |= 1 << priority
  }

  /** Takes out the next in turn; there must be one. */
  shift(priority: number): Q {
    const ring = this.ready[priority]!
    const endpoint = ring.shift()
    endpoint.place = NOWHERE
    if (ring.isEmpty) this.mask &= ~(1 << priority)
    return endpoint
  }

  /** Lets all of them go. */
  clear(): void {
    while (this.mask !== 0) this.shift(31 - Math.clz32(this.mask))
    while (this.paced.size > 0) this.paced.pop()
  }
}

/**
 * The ideal NIC: a queue pair that may send stands in its priority's list and takes its turn; one that is paced waits
 * in a heap by its pacing time; one without data or window is in neither. The port wakes exactly when the first paced
 * queue pair may send. The higher priority goes first; a paused one waits.
 *
 * No step looks at all queue pairs: a packet costs at most the logarithm of how many are paced.
 */
export class ReadyListNic<Command, Event> extends HostNic<Command, Event> {
  private readonly lists: ReadonlyArray<PortList<NicQueuePair<Command, Event>>>

  constructor(options: HostNicOptions<Command, Event>) {
    super(options)
    rehearse()
    // Ports of switches have none; a hole would be another kind of array.
    const nobody = new PortList<NicQueuePair<Command, Event>>()
    const lists = Array.from(
      { length: options.portIds.reduce((most, port) => Math.max(most, port), -1) + 1 },
      () => nobody,
    )
    for (const port of options.portIds) lists[port] = new PortList()
    this.lists = lists
  }

  clear(port: number): void {
    this.lists[port]!.clear()
  }

  protected readonly touched = (now: Time, endpoint: NicQueuePair<Command, Event>): void => {
    if (endpoint.rateChanged) {
      endpoint.rateChanged = false
      // In a ready list it is found out at its turn.
      if (endpoint.place >= 0) this.lists[endpoint.port]!.paced.update(endpoint, endpoint.paceTime)
    }
    if (endpoint.place === NOWHERE && endpoint.hasData && !endpoint.windowBound) {
      this.queue(now, this.lists[endpoint.port]!, endpoint)
    }
  }

  protected readonly dataQuiet = (port: number): boolean => {
    const list = this.lists[port]!
    return list.mask === 0 && list.paced.size === 0
  }

  private readonly queue = (
    now: Time,
    list: PortList<NicQueuePair<Command, Event>>,
    endpoint: NicQueuePair<Command, Event>,
  ): void => {
    if (endpoint.paceTime > now) list.paced.push(endpoint, endpoint.paceTime)
    else list.push(endpoint.priority, endpoint)
  }

  protected readonly pullData = (now: Time, port: number, paused: number): number => {
    const list = this.lists[port]!
    while (list.paced.least <= now) {
      const endpoint = list.paced.pop()
      list.push(endpoint.priority, endpoint)
    }
    // One expression tells what is open, the first time and the next: what only a second turn ran would be new to the compiler.
    const allowed = ~paused
    for (;;) {
      const open = list.mask & allowed
      if (open === 0) break
      const handle = this.tryTake(now, list, list.shift(31 - Math.clz32(open)))
      if (handle >= 0) return handle
    }
    const wake = list.paced.least
    if (wake < this.ports.wakeTime(port)) this.ports.wakeAt(port, wake)
    return -1
  }

  /** The endpoint left the ready list: its packet, or -1 when it has none or may not send it now; it goes where it belongs. */
  private tryTake(
    now: Time,
    list: PortList<NicQueuePair<Command, Event>>,
    endpoint: NicQueuePair<Command, Event>,
  ): number {
    if (!endpoint.hasData || endpoint.windowBound) return -1
    if (endpoint.paceTime > now) {
      list.paced.push(endpoint, endpoint.paceTime)
      return -1
    }
    const handle = this.take(now, endpoint)
    // An engine that has nothing after all is left alone until something happens to it.
    if (handle >= 0 && endpoint.hasData && !endpoint.windowBound) this.queue(now, list, endpoint)
    return handle
  }
}
