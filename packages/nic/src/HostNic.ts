import { Layout, Opcode, Packet } from "@rdmakit/packet"
import { EVENTS_MAX, endlessEvents, NEVER, type Nic, type NicPorts, type Time, type Timers } from "@rdmakit/protocol"
import type { Endpoints, NicQueuePair } from "./Endpoints.ts"
import { refuse, Stalls } from "./Stalls.ts"

export interface HostNicOptions<Command, Event> {
  /** The kernel. */
  readonly ports: NicPorts
  /** The queue pairs of the whole world. */
  readonly endpoints: Endpoints<Command, Event>
  /** Kernel ports it serves: one host's, or those of many. */
  readonly portIds: ReadonlyArray<number>
  /** Bits of the paused priorities that hold acknowledgements back: their own priority's. */
  readonly controlPauseMask: number
  /** Called for each event of an endpoint, in order; it may remove the endpoint. */
  readonly onEvent: (endpoint: NicQueuePair<Command, Event>, event: Event) => void
  /**
   * Gives an endpoint, by its flow index, to take data for one that is gone, as the ns-3 model has it; it is in `endpoints`
   * from then on. Without it, or where it gives none, such packets vanish.
   */
  readonly makeLate?: ((now: Time, index: number) => NicQueuePair<Command, Event> | undefined) | undefined
}

/** A port's policy words: first and last control packet waiting, -1 for none. */
const CONTROL_HEAD = 0
const CONTROL_TAIL = 1

/** Number of an endpoint's timeout among its timers: above those a controller may have. */
const TIMEOUT = 15

/**
 * What every ideal NIC does: hands packets to endpoints and lets out what they answer, control packets ahead of data,
 * and keeps their timers: one that lets time pass no more, or is no number, is a `ControllerFault`. It costs no time
 * itself. How the next queue pair is chosen is the subclass's, which says four things: `touched`, `pullData`,
 * `dataQuiet` and `clear`.
 *
 * One object serves the NICs of a whole world: what a NIC keeps, it keeps by port. What runs for each packet is a field
 * that holds a function, so that the compiler knows the object and what it consists of.
 */
export abstract class HostNic<Command, Event> implements Nic {
  protected readonly ports: NicPorts
  protected readonly endpoints: Endpoints<Command, Event>
  private readonly out: Packet
  private readonly controlPauseMask: number
  private readonly onEvent: (endpoint: NicQueuePair<Command, Event>, event: Event) => void
  private readonly makeLate: HostNicOptions<Command, Event>["makeLate"]
  private readonly stalls = new Stalls()
  /** Whether a port looks for something to send after a controller's timer. */
  protected readonly timersKick: boolean = true
  /** Packets for endpoints that are gone. */
  late = 0
  /** Sees a control packet before it is queued; for traces. */
  onControl: ((now: Time, port: number, packet: Packet) => void) | undefined = undefined

  constructor(options: HostNicOptions<Command, Event>) {
    this.ports = options.ports
    this.endpoints = options.endpoints
    this.out = new Packet(options.ports.pool)
    for (const port of options.portIds) options.ports.policyWords[options.ports.policyAt(port) + CONTROL_HEAD] = -1
    this.controlPauseMask = options.controlPauseMask
    this.onEvent = options.onEvent
    this.makeLate = options.makeLate
  }

  /**
   * A queue pair has something to send: it is new, or has a new message. Its `port` is one of `portIds`, and stays that
   * as long as it has anything to send. Adding it twice does no harm.
   */
  add(now: Time, endpoint: NicQueuePair<Command, Event>): void {
    endpoint.lendTimers()
    this.enlist(endpoint)
    this.drain(now, endpoint)
    this.ports.kick(now, endpoint.port)
  }

  /**
   * Forgets which queue pairs a port serves, and sets the `place` of each to `NOWHERE`; `add` tells of each anew, there or
   * at another port.
   */
  abstract clear(port: number): void
  /**
   * An endpoint's state may have changed: it was added, an acknowledgement came, a timer, a new message. Takes it in, with
   * a `place` that is not `NOWHERE`, or lets it go, as `hasData` and `windowBound` say; and clears `rateChanged`, at which
   * `paceTime` may have moved. What `take` changes does not come by here.
   */
  protected abstract readonly touched: (now: Time, endpoint: NicQueuePair<Command, Event>) => void
  /**
   * The next data packet of a port, which `take` fetches from the queue pair that is chosen; or -1. Where all that is left
   * is paced, it asks for a wake-up (`ports.wakeAt`) at the first `paceTime`, unless one that is pending comes sooner.
   *
   * @param paused bits of the priorities that may not send
   */
  protected abstract readonly pullData: (now: Time, port: number, paused: number) => number
  /** `pullData` would come to nothing, whatever the pauses. */
  protected abstract readonly dataQuiet: (port: number) => boolean

  /** For a scheduler that takes queue pairs in when they are added, before `touched`; here nothing. It may come twice. */
  protected enlist(_endpoint: NicQueuePair<Command, Event>): void {}

  readonly receive = (now: Time, packet: Packet, _port: number): void => {
    const isRequest = packet.opcode < Opcode.Acknowledge
    let endpoint = this.endpoints.at(packet.flow ^ 1)
    const { handle } = packet
    if (endpoint === undefined) {
      this.late++
      if (isRequest) endpoint = this.makeLate?.(now, packet.flow ^ 1)
      if (endpoint === undefined) {
        this.ports.pool.release(handle)
        return
      }
    }
    endpoint.handlePacket(now, packet)
    const answers = endpoint.controlPending
    if (answers) this.reply(now, endpoint, handle)
    else this.ports.pool.release(handle)
    this.drain(now, endpoint)
    // A request that calls for no answer changes nothing that could be sent.
    if (answers || !isRequest) this.ports.kick(now, endpoint.port)
  }

  timer(now: Time, index: number, timer: number): void {
    const endpoint = this.endpoints.at(index)
    if (endpoint === undefined) return
    if (timer !== TIMEOUT) {
      this.controllerTimer(now, endpoint, timer)
      return
    }
    // A later request may have made this one void.
    if (this.endpoints.armed(index) !== now) return
    this.endpoints.arm(index, NEVER)
    if (endpoint.nextTimeout <= now) {
      endpoint.handleTimeout(now)
      this.stalls.fired(now, endpoint.flow, endpoint.nextTimeout)
    }
    this.drain(now, endpoint)
    this.ports.kick(now, endpoint.port)
  }

  private controllerTimer(now: Time, endpoint: NicQueuePair<Command, Event>, timer: number): void {
    const { timers } = endpoint
    // An endpoint that is gone may have left it behind.
    if (timers === undefined || timers.due[timer] !== now) return
    timers.event[timer] = -1
    timers.due[timer] = NEVER
    endpoint.handleTimer(now, timer)
    this.stalls.fired(now, endpoint.flow, timers.changed === 0 ? NEVER : timers.next)
    this.drain(now, endpoint)
    if (this.timersKick) this.ports.kick(now, endpoint.port)
  }

  /** Makes the events of the timers that were set, in order of their numbers. */
  private setTimers(now: Time, endpoint: NicQueuePair<Command, Event>, timers: Timers): void {
    const { changed, due, event } = timers
    timers.changed = 0
    for (let timer = 0; timer < due.length; timer++) {
      if (((changed >> timer) & 1) === 0) continue
      if (event[timer]! >= 0) this.ports.cancelTimer(event[timer]!)
      const time = due[timer]!
      if (Number.isNaN(time)) refuse(endpoint.flow, now, time)
      // What has passed is due now: time goes forward.
      if (time < now) due[timer] = now
      event[timer] = time === NEVER ? -1 : this.ports.timerAt(endpoint.node, endpoint.flow, timer, due[timer]!)
    }
  }

  readonly pull = (now: Time, port: number, paused: number): number => {
    const words = this.ports.policyWords
    const at = this.ports.policyAt(port) + CONTROL_HEAD
    const head = words[at]!
    if (head >= 0 && (paused & this.controlPauseMask) === 0) {
      words[at] = this.ports.pool.words[(head << Layout.RECORD_SHIFT) + Layout.NEXT]!
      return head
    }
    return this.pullData(now, port, paused)
  }

  readonly quiet = (port: number): boolean => {
    return this.ports.policyWords[this.ports.policyAt(port) + CONTROL_HEAD]! < 0 && this.dataQuiet(port)
  }

  /** The link of a port went down: control packets that wait there are lost. `onLost` sees each; returns how many. */
  dropControl(port: number, onLost?: (packet: Packet) => void): number {
    const { policyWords, pool } = this.ports
    const at = this.ports.policyAt(port) + CONTROL_HEAD
    let count = 0
    for (let head = policyWords[at]!; head >= 0; head = policyWords[at]!) {
      policyWords[at] = pool.words[(head << Layout.RECORD_SHIFT) + Layout.NEXT]!
      onLost?.(this.out.at(head))
      pool.release(head)
      count++
    }
    return count
  }

  /** After anything happened to an endpoint: its replies, its timers, its events. */
  protected readonly drain = (now: Time, endpoint: NicQueuePair<Command, Event>): void => {
    while (endpoint.controlPending && this.reply(now, endpoint, this.ports.pool.alloc())) {}
    this.armTimer(now, endpoint)
    const { timers } = endpoint
    if (timers !== undefined && timers.changed !== 0) this.setTimers(now, endpoint, timers)
    const event = endpoint.pollEvent()
    if (event !== undefined) this.tell(now, endpoint, event)
    this.touched(now, endpoint)
  }

  /** Passes on an event of an endpoint, and those behind it. @throws TransportFault where they have no end */
  private tell(now: Time, endpoint: NicQueuePair<Command, Event>, first: Event): void {
    let count = 0
    for (let event: Event | undefined = first; event !== undefined; event = endpoint.pollEvent()) {
      if (++count > EVENTS_MAX) throw endlessEvents(endpoint.flow >> 1, now)
      this.onEvent(endpoint, event)
    }
  }

  private readonly armTimer = (now: Time, endpoint: NicQueuePair<Command, Event>): void => {
    // A timeout is reckoned from means and quarters of round trips; events happen at whole picoseconds.
    const time = Math.ceil(endpoint.nextTimeout)
    // What is no number is not at or after anything.
    if (!(time >= this.endpoints.armed(endpoint.flow))) this.arm(now, endpoint, time)
  }

  private arm(now: Time, endpoint: NicQueuePair<Command, Event>, time: Time): void {
    if (Number.isNaN(time)) refuse(endpoint.flow, now, time)
    // What has passed is due now: time goes forward.
    const due = Math.max(now, time)
    if (due >= this.endpoints.armed(endpoint.flow)) return
    this.endpoints.arm(endpoint.flow, due)
    this.ports.timerAt(endpoint.node, endpoint.flow, TIMEOUT, due)
  }

  /** Lets out one control packet, in the record of `handle`; false, and the record is given back, when there is none. */
  private readonly reply = (now: Time, endpoint: NicQueuePair<Command, Event>, handle: number): boolean => {
    const { policyWords, pool } = this.ports
    pool.recycle(handle)
    const out = this.out.at(handle)
    if (!endpoint.pollTransmit(now, out)) {
      pool.release(handle)
      return false
    }
    if (this.onControl !== undefined) this.onControl(now, endpoint.port, out)
    const at = this.ports.policyAt(endpoint.port)
    if (policyWords[at + CONTROL_HEAD]! < 0) policyWords[at + CONTROL_HEAD] = handle
    else pool.words[(policyWords[at + CONTROL_TAIL]! << Layout.RECORD_SHIFT) + Layout.NEXT] = handle
    policyWords[at + CONTROL_TAIL] = handle
    return true
  }

  /** Asks an endpoint for a data packet; the endpoint can send one now. */
  protected readonly take = (now: Time, endpoint: NicQueuePair<Command, Event>): number => {
    const handle = this.ports.pool.alloc()
    if (endpoint.pollTransmit(now, this.out.at(handle))) {
      this.armTimer(now, endpoint)
      return handle
    }
    this.ports.pool.release(handle)
    return -1
  }
}
