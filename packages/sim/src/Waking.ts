import { NEVER, type Nic, type Time } from "@rdmakit/protocol"
import type { EventNodes } from "./EventNodes.ts"
import type { ExactKernelOptions } from "./ExactKernelOptions.ts"
import { NicWatch } from "./NicWatch.ts"
import { PacketWatch } from "./PacketWatch.ts"
import { Pausing } from "./Pausing.ts"
import { ARGUMENT_BITS, CALLS, TARGETS_MAX, TIMER_BITS, TIMERS, WAKES } from "./TieOrder.ts"
import { leastDelayPs } from "./Turns.ts"

/** Codes of the events that are not a port's own: kind in the low bits, target above them. */
const KIND_BITS = 2
const Kind = { Wake: 0, Timer: 1, Call: 2, Note: 3 } as const

/** A timer's event names its node and its number in one word. */
const TIMER_SHIFT = 16
const NODES_MAX = 1 << TIMER_SHIFT

/** Events that are asked for: a NIC's wake-ups and timers, a world's calls and notes. */
export abstract class Waking extends Pausing {
  /** Set by the world: what runs at `callAt`. */
  onCall: (now: Time, target: number, argument: number) => void = () => {}
  /** Set by the world: what runs at `noteAt`. */
  onNote: (now: Time, note: number) => void = () => {}
  /** The shortest delay of any link, ps: what happens at a node is unknown at all others for so long. */
  readonly leastDelayPs: Time

  /** Of each port: its pending wake-up's event, and its time (ps, or NEVER). */
  private readonly wakeEvent: Int32Array
  private readonly wakeTimes: Float64Array

  constructor(options: ExactKernelOptions) {
    super(options)
    const { network } = options
    this.leastDelayPs = leastDelayPs(network)
    this.wakeEvent = new Int32Array(network.ports)
    this.wakeTimes = new Float64Array(network.ports).fill(NEVER)
  }

  /** Time of the event that is executed, or was last. */
  abstract get now(): Time

  /** Asks for `onCall(time, target, argument)`: targets below 64, arguments below 2^24. */
  callAt(time: Time, target: number, argument: number): void {
    if (!(target < TARGETS_MAX && argument >>> ARGUMENT_BITS === 0))
      throw new RangeError(`call ${target} with argument ${argument}, expected below ${TARGETS_MAX} and 2^24`)
    const order = CALLS | (target << ARGUMENT_BITS) | argument
    this.push(this.switches.length, time, Kind.Call | (target << KIND_BITS), argument, order)
  }

  /**
   * Asks for `onNote(time, note)`, which is about one node: it reads and changes nothing that another node sees before a
   * packet could have told it. Notes are below 2^24. From an event of another node, `time` is at least `leastDelayPs` away.
   */
  noteAt(node: number, time: Time, note: number): void {
    this.push(node, time, Kind.Note, note, CALLS | note)
  }

  wakeTime(port: number): Time {
    return this.wakeTimes[port]!
  }
  wakeAt(port: number, time: Time): void {
    if (this.wakeTimes[port] !== NEVER) this.cancelTimer(this.wakeEvent[port]!)
    this.wakeTimes[port] = time
    this.wakeEvent[port] = this.push(~this.nodeOf[port]!, time, Kind.Wake | (port << KIND_BITS), 0, WAKES | port)
  }
  timerAt(node: number, endpoint: number, timer: number, time: Time): number {
    const order = TIMERS + ((endpoint << TIMER_BITS) | timer)
    return this.push(node, time, Kind.Timer | (endpoint << KIND_BITS), node | (timer << TIMER_SHIFT), order)
  }
  cancelTimer(event: number): void {
    const { turns } = this
    if (turns === undefined) this.queue.cancel(event)
    else turns.own.cancel(event)
  }

  /** @param node of the network; one more than there are: the world's; @param order among events of a time, with canonical ties */
  private readonly push = (node: number, time: Time, code: number, argument: number, order: number): number => {
    const { queue, turns } = this
    if (turns !== undefined) return turns.own.push(node, time, code, argument, order)
    return queue.push(time, code, argument, this.canonical ? order : queue.reserve(1))
  }

  /** Executes an event that is not a port's own, and gives it back; 0 if it had been cancelled, else 1. */
  protected readonly execute = (events: EventNodes, event: number): number => {
    const code = events.codeOf(event)
    if (code < 0) {
      events.release(event)
      return 0
    }
    this.time = events.timeOf(event)
    this.currentOrder = events.orderOf(event)
    const argument = events.argumentOf(event)
    events.release(event)
    const target = code >> KIND_BITS
    const kind = code & ((1 << KIND_BITS) - 1)
    if (kind === Kind.Wake) {
      this.wakeTimes[target] = NEVER
      this.kickNow(target)
    } else if (kind === Kind.Timer) {
      this.nics[argument & (NODES_MAX - 1)]!.timer(this.time, target, argument >> TIMER_SHIFT)
    } else if (kind === Kind.Call) {
      this.onCall(this.time, target, argument)
    } else {
      this.onNote(this.time, argument)
    }
    return 1
  }

  /**
   * For NICs of one's own, before they ask for anything: a wake-up or a timer that is none is a `NicFault` from now on.
   * So is what they send, when it is no packet or was sent before, of those in `nics` that were led through what this gives.
   */
  watchNics(): (nic: Nic) => Nic {
    const watch = new NicWatch(this.nodeOf)
    const wakeAt = this.wakeAt.bind(this)
    const timerAt = this.timerAt.bind(this)
    // Other kernels keep the methods of their class, and pay nothing.
    this.wakeAt = (port, time) => {
      watch.wake(this.now, port, time, this.wakeTimes[port] !== NEVER)
      wakeAt(port, time)
    }
    this.timerAt = (node, endpoint, timer, time) => {
      watch.timer(this.now, node, time)
      return timerAt(node, endpoint, timer, time)
    }
    const packets = new PacketWatch(this.pool, this.nodeOf)
    return (nic) => packets.over(nic)
  }
}
