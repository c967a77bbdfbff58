import { Layout, Packet } from "@rdmakit/packet"
import { NEVER, type Nic, type NicPorts, type Time } from "@rdmakit/protocol"
import type { Endpoints, NicQueuePair } from "./Endpoints.ts"

export interface HostNicOptions<Command, Event> {
  /** The host. */
  readonly node: number
  /** The kernel. */
  readonly ports: NicPorts
  /** The queue pairs of the whole world. */
  readonly endpoints: Endpoints<Command, Event>
  /** Kernel ports of this host, in order of their interfaces. */
  readonly portIds: ReadonlyArray<number>
  /** Bits of the paused priorities that hold acknowledgements back: their own priority's. */
  readonly controlPauseMask: number
  /** Called for each event of an endpoint, in order; it may remove the endpoint. */
  readonly onEvent: (endpoint: NicQueuePair<Command, Event>, event: Event) => void
}

/**
 * What every ideal NIC does: hands packets to endpoints and lets out what they answer, control packets ahead of data,
 * and keeps their timers. It costs no time itself. How the next queue pair is chosen is the subclass's.
 */
export abstract class HostNic<Command, Event> implements Nic {
  private readonly node: number
  protected readonly ports: NicPorts
  private readonly endpoints: Endpoints<Command, Event>
  private readonly out: Packet
  private readonly indexOf: ReadonlyMap<number, number>
  private readonly portIds: ReadonlyArray<number>
  /** Control packets waiting, a list for each port. */
  private readonly controlHead: Int32Array
  private readonly controlTail: Int32Array
  private readonly controlPauseMask: number
  private readonly onEvent: (endpoint: NicQueuePair<Command, Event>, event: Event) => void
  /** Packets for endpoints that are gone. */
  late = 0
  /** Sees a control packet before it is queued; for traces. */
  onControl: ((now: Time, port: number, packet: Packet) => void) | undefined = undefined

  constructor(options: HostNicOptions<Command, Event>) {
    this.node = options.node
    this.ports = options.ports
    this.endpoints = options.endpoints
    this.portIds = options.portIds
    this.indexOf = new Map(options.portIds.map((port, index) => [port, index]))
    this.out = new Packet(options.ports.pool)
    this.controlHead = new Int32Array(options.portIds.length).fill(-1)
    this.controlTail = new Int32Array(options.portIds.length).fill(-1)
    this.controlPauseMask = options.controlPauseMask
    this.onEvent = options.onEvent
  }

  /**
   * A queue pair has something to send: it is new, or has a new message. Its `port` is one of `portIds`, and stays that
   * as long as it has anything to send. Adding it twice does no harm.
   */
  abstract add(now: Time, endpoint: NicQueuePair<Command, Event>): void
  /** An endpoint's state may have changed: an acknowledgement, a timer, a new message. */
  protected abstract touched(now: Time, endpoint: NicQueuePair<Command, Event>): void
  /** The next data packet of port `port`, the `index`-th of this host, or -1. */
  protected abstract pullData(now: Time, index: number, port: number, paused: number): number
  /** `pullData` would come to nothing, whatever the pauses. */
  protected abstract dataQuiet(index: number): boolean

  receive(now: Time, packet: Packet, _port: number): void {
    const endpoint = this.endpoints.at(packet.flow ^ 1)
    const { handle } = packet
    if (endpoint === undefined) {
      this.late++
      this.ports.pool.release(handle)
      return
    }
    endpoint.handlePacket(now, packet)
    this.ports.pool.release(handle)
    this.drain(now, endpoint)
    this.ports.kick(now, endpoint.port)
  }

  timer(now: Time, index: number): void {
    const endpoint = this.endpoints.at(index)
    // A later request made this one void, or the endpoint is gone.
    if (endpoint === undefined || this.endpoints.armed(index) !== now) return
    this.endpoints.arm(index, NEVER)
    if (endpoint.nextTimeout <= now) endpoint.handleTimeout(now)
    this.drain(now, endpoint)
    this.ports.kick(now, endpoint.port)
  }

  /** Index of a kernel port among this host's. */
  protected portIndex(port: number): number {
    return this.portIds.length === 1 ? 0 : this.indexOf.get(port)!
  }

  pull(now: Time, port: number, paused: number): number {
    const index = this.portIndex(port)
    const head = this.controlHead[index]!
    if (head >= 0 && (paused & this.controlPauseMask) === 0) {
      this.controlHead[index] = this.ports.pool.words[(head << Layout.RECORD_SHIFT) + Layout.NEXT]!
      return head
    }
    return this.pullData(now, index, port, paused)
  }

  quiet(port: number): boolean {
    const index = this.portIndex(port)
    return this.controlHead[index]! < 0 && this.dataQuiet(index)
  }

  /** After anything happened to an endpoint: its replies, its timers, its events. */
  protected drain(now: Time, endpoint: NicQueuePair<Command, Event>): void {
    if (endpoint.controlPending) this.queueControl(now, endpoint)
    this.armTimer(endpoint)
    for (let event = endpoint.pollEvent(); event !== undefined; event = endpoint.pollEvent()) {
      this.onEvent(endpoint, event)
    }
    this.touched(now, endpoint)
  }

  private armTimer(endpoint: NicQueuePair<Command, Event>): void {
    const time = endpoint.nextTimeout
    if (time < this.endpoints.armed(endpoint.flow)) {
      this.endpoints.arm(endpoint.flow, time)
      this.ports.timerAt(this.node, endpoint.flow, time)
    }
  }

  private queueControl(now: Time, endpoint: NicQueuePair<Command, Event>): void {
    const { pool } = this.ports
    const index = this.portIndex(endpoint.port)
    do {
      const handle = pool.alloc()
      const out = this.out.at(handle)
      if (!endpoint.pollTransmit(now, out)) {
        pool.release(handle)
        return
      }
      if (this.onControl !== undefined) this.onControl(now, endpoint.port, out)
      if (this.controlHead[index]! < 0) this.controlHead[index] = handle
      else pool.words[(this.controlTail[index]! << Layout.RECORD_SHIFT) + Layout.NEXT] = handle
      this.controlTail[index] = handle
    } while (endpoint.controlPending)
  }

  /** Asks an endpoint for a data packet; the endpoint can send one now. */
  protected take(now: Time, endpoint: NicQueuePair<Command, Event>): number {
    const handle = this.ports.pool.alloc()
    if (endpoint.pollTransmit(now, this.out.at(handle))) {
      this.armTimer(endpoint)
      return handle
    }
    this.ports.pool.release(handle)
    return -1
  }
}
