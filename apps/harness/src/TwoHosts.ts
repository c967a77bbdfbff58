import { Opcode, Packet, PacketPool } from "@rdmakit/packet"
import type { FlowEngine, FlowEvent, FlowTransport } from "@rdmakit/protocol"
import { NEVER, serializationPs, type Time } from "@rdmakit/units"

/** Which host of the two. */
export type Host = 0 | 1

/** A packet that leaves a host. */
export interface Departure {
  /** When its last bit has left, ps. */
  readonly time: Time
  readonly from: Host
  /** How many packets left this host before it. */
  readonly ordinal: number
  /** Data, and no acknowledgement. */
  readonly isData: boolean
}

export interface TwoHostsOptions {
  readonly transport: FlowTransport
  readonly rateBps: number
  /** Base round trip that the controllers are told, ps. */
  readonly baseRttPs: Time
  readonly seed: number
  /** When a packet arrives, ps; NEVER: it is lost. */
  readonly arrival: (departure: Departure) => Time
  /** A packet that arrived has been handled. */
  readonly onHandled?: (now: Time, at: Host) => void
  readonly onEvent?: (event: FlowEvent, at: Host) => void
}

interface Due {
  readonly time: Time
  readonly act: () => void
}

/**
 * Two hosts, a line, and one connection that carries many messages both ways: what networks of flows, which have a message a
 * connection, cannot show. A line sends a packet at a time; what becomes of it there is the caller's affair.
 */
export class TwoHosts {
  now: Time = 0
  readonly engines: readonly [FlowEngine, FlowEngine]
  private readonly options: TwoHostsOptions
  private readonly pool = new PacketPool()
  private readonly packet = new Packet(this.pool)
  private readonly freeAt: [Time, Time] = [0, 0]
  private readonly ordinals: [number, number] = [0, 0]
  /** What is to happen, the latest first; of one moment what was asked for first comes last. */
  private readonly due: Array<Due> = []

  constructor(options: TwoHostsOptions) {
    const { transport, rateBps, baseRttPs, seed } = options
    this.options = options
    const make = transport.open(1)
    const end = (host: Host): FlowEngine =>
      make(0, {
        node: host,
        peer: 1 - host,
        udpPort: 50_000 + host,
        peerUdpPort: 50_001 - host,
        priority: 3,
        flow: host,
        path: {
          lineRateBps: rateBps,
          baseRttPs,
          windowBytes: Math.ceil((rateBps * baseRttPs) / 8e12),
          mtuBytes: transport.mtuBytes,
          timeModulusPs: Number.POSITIVE_INFINITY,
          bytesModulus: Number.POSITIVE_INFINITY,
          flow: host,
          seed,
        },
      })
    this.engines = [end(0), end(1)]
  }

  /** Something that a host does at a time, not before now: it sends a message, for instance. */
  at(time: Time, act: () => void): void {
    let index = this.due.length
    while (index > 0 && this.due[index - 1]!.time <= time) index--
    this.due.splice(index, 0, { time, act })
  }

  send(from: Host, message: number, writeBytes: number): void {
    this.engines[from].command(this.now, { message, writeBytes })
    this.drain(from)
  }

  /** Goes on until nothing is left to happen, or all that would is after `until`. */
  run(until: Time = NEVER): void {
    for (let next = this.next; next <= until && next < NEVER; next = this.next) {
      if (next > this.now) this.now = next
      const first = this.due.at(-1)
      if (first !== undefined && first.time <= this.now) {
        this.due.pop()
        first.act()
        continue
      }
      for (const host of HOSTS) {
        const engine = this.engines[host]
        if (engine.nextTimeout <= this.now) engine.handleTimeout(this.now)
        this.drain(host)
      }
    }
  }

  private get next(): Time {
    let next = this.due.at(-1)?.time ?? NEVER
    for (const host of HOSTS) {
      const { nextTimeout, nextSend, controlPending } = this.engines[host]
      const ready = Math.max(controlPending ? this.now : nextSend, this.freeAt[host])
      next = Math.min(next, nextTimeout, ready)
    }
    return next
  }

  /** Sends what may leave now, and takes the events. */
  private drain(host: Host): void {
    const { pool, packet } = this
    const engine = this.engines[host]
    while (this.freeAt[host] <= this.now) {
      const handle = pool.alloc()
      if (!engine.pollTransmit(this.now, packet.at(handle))) {
        pool.release(handle)
        break
      }
      this.launch(host, handle)
    }
    for (let event = engine.pollEvent(); event !== undefined; event = engine.pollEvent())
      this.options.onEvent?.(event, host)
  }

  private launch(from: Host, handle: number): void {
    const { options, pool, packet } = this
    packet.at(handle)
    const time = this.now + serializationPs(packet.wireBytes, options.rateBps)
    this.freeAt[from] = time
    const isData = packet.opcode < Opcode.Acknowledge
    const arrival = options.arrival({ time, from, ordinal: this.ordinals[from]++, isData })
    if (arrival === NEVER) pool.release(handle)
    else this.at(arrival, () => this.arrive(from === 0 ? 1 : 0, handle))
  }

  private arrive(at: Host, handle: number): void {
    this.engines[at].handlePacket(this.now, this.packet.at(handle))
    this.pool.release(handle)
    this.options.onHandled?.(this.now, at)
    this.drain(at)
  }
}

const HOSTS: ReadonlyArray<Host> = [0, 1]
