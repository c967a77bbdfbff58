import { Flag, Opcode, Packet, PacketPool } from "@rdmakit/packet"
import { NEVER, type Nic, type NicPorts, POLICY_WORDS, type Time } from "@rdmakit/protocol"
import { BenchQueuePair, type QueuePairLoad } from "./BenchQueuePair.ts"
import { fail } from "./ContractViolation.ts"

/** What a NIC is made for: three ports of one host, at 100 Gb/s. */
export interface NicSetup {
  readonly ports: NicPorts
  /** The ports, as the network numbers them: neither from 0 nor without gaps. */
  readonly portIds: ReadonlyArray<number>
  /** Bits of the paused priorities that hold control packets back. */
  readonly controlPauseMask: number
  /** To be called for each event of a queue pair. */
  readonly onEvent: (endpoint: { readonly flow: number }, event: string) => void
}

/** A NIC that has been made, and the table it finds queue pairs in: packets that carry flow f are for that of f ^ 1. */
export interface MadeNic {
  readonly nic: Nic & {
    add(now: Time, endpoint: BenchQueuePair): void
    clear(port: number): void
  }
  readonly endpoints: { add(endpoint: BenchQueuePair): void }
}

/** A packet that left: of which queue pair, by which port. */
export interface NicDeparture {
  /** ps */
  readonly time: Time
  readonly port: number
  readonly flow: number
  readonly control: boolean
}

interface Port {
  readonly id: number
  busy: boolean
  /** Bits of paused priorities. */
  paused: number
  wake: Time
  /** Control packets that the NIC has taken from queue pairs and not sent yet. */
  control: number
}

const NODE = 9
const PORT_IDS = [4, 5, 11]
/** 1,000 B at 100 Gb/s. */
const SERIALIZATION: Time = 80e3
const ROUND_TRIP: Time = 2e6
const CONTROL_PAUSE_MASK = 1 << 3

/**
 * A NIC of three ports, its queue pairs and the acknowledgements they get, in virtual time. Each step is checked: what is
 * sent may be sent, by that port, at that time; what may be sent is sent at once, unless `isPunctual` is false; timers
 * come when they are due; a port that is `quiet` has nothing. A broken promise is a `ContractViolation`.
 */
export class NicBench {
  now: Time = 0
  readonly pool = new PacketPool({ capacity: 64 })
  readonly sent: Array<NicDeparture> = []
  /** Events of queue pairs, by flow. */
  readonly events: Array<string> = []
  readonly queuePairs: Array<BenchQueuePair> = []
  readonly made: MadeNic
  private readonly isPunctual: boolean
  private readonly ports: ReadonlyArray<Port>
  private readonly started = new Set<BenchQueuePair>()
  private readonly lost = new Map<BenchQueuePair, ReadonlySet<number>>()
  private readonly packet = new Packet(this.pool)
  private readonly calendar: Array<{ readonly time: Time; readonly id: number; readonly run: () => void }> = []
  private nextId = 0

  constructor(make: (setup: NicSetup) => MadeNic, isPunctual = true) {
    this.isPunctual = isPunctual
    this.ports = PORT_IDS.map((id) => ({ id, busy: false, paused: 0, wake: NEVER, control: 0 }))
    const ports: NicPorts = {
      pool: this.pool,
      policyWords: new Int32Array(POLICY_WORDS * (Math.max(...PORT_IDS) + 1)).fill(-1),
      policyAt: (port) => POLICY_WORDS * port,
      kick: (now, port) => {
        if (now !== this.now) fail(`a kick at ${now} ps, when it is ${this.now}`)
        this.transmit(this.port(port))
      },
      wakeTime: (port) => this.port(port).wake,
      wakeAt: (port, time) => this.wakeAt(this.port(port), time),
      timerAt: (node, endpoint, timer, time) => {
        if (node !== NODE) fail(`a timer for node ${node}: its queue pairs live on ${NODE}`)
        return this.at(time, () => this.made.nic.timer(time, endpoint, timer))
      },
      cancelTimer: (event) => {
        const index = this.calendar.findIndex(({ id }) => id === event)
        if (index >= 0) this.calendar.splice(index, 1)
      },
    }
    this.made = make({
      ports,
      portIds: PORT_IDS,
      controlPauseMask: CONTROL_PAUSE_MASK,
      onEvent: ({ flow }, event) => void this.events.push(`${flow} ${event}`),
    })
  }

  private port(id: number): Port {
    return this.ports.find((port) => port.id === id) ?? fail(`port ${id} is not one of ${PORT_IDS.join(", ")}`)
  }

  /** Something happens at a time. */
  at(time: Time, run: () => void): number {
    if (!(time >= this.now)) fail(`something is asked for at ${time} ps, when it is ${this.now}`)
    let index = this.calendar.length
    while (index > 0 && this.calendar[index - 1]!.time > time) index--
    const id = this.nextId++
    this.calendar.splice(index, 0, { time, id, run })
    return id
  }

  private wakeAt(port: Port, time: Time): void {
    port.wake = time
    this.at(time, () => {
      if (port.wake !== this.now) return
      port.wake = NEVER
      this.transmit(port)
    })
  }

  /** A queue pair begins at a time, and its NIC is told so many times. */
  start(time: Time, load: QueuePairLoad, times = 1): BenchQueuePair {
    const each = new BenchQueuePair(load, NODE, 2 * this.queuePairs.length, PORT_IDS[load.port]!, (port) => {
      this.port(port).control++
    })
    this.queuePairs.push(each)
    this.lost.set(each, new Set(load.lost))
    this.at(time, () => {
      each.start(time)
      this.started.add(each)
      this.made.endpoints.add(each)
      for (let left = times; left > 0; left--) this.made.nic.add(time, each)
    })
    return each
  }

  /** Its queue pairs leave a port for another. */
  move(from: number, to: number): void {
    this.made.nic.clear(PORT_IDS[from]!)
    for (const each of this.started) {
      if (each.port !== PORT_IDS[from]) continue
      each.port = PORT_IDS[to]!
      if (!each.finished) this.made.nic.add(this.now, each)
    }
  }

  /** Priorities of a port are paused, as bits; 0 lets all of them go on. */
  pause(port: number, paused: number): void {
    const each = this.ports[port]!
    each.paused = paused
    this.transmit(each)
  }

  /** A request for a queue pair arrives, which answers it. */
  request(flow: number): void {
    this.arrive(flow, Opcode.WriteOnly | Flag.AckRequest)
  }

  private arrive(flow: number, meta: number): void {
    const packet = this.packet.at(this.pool.alloc())
    packet.meta = meta
    packet.flow = flow ^ 1
    const port = this.queuePairs.find((each) => each.flow === flow)?.port ?? PORT_IDS[0]!
    this.made.nic.receive(this.now, packet, port)
  }

  /** Goes on until nothing is left to happen. Throws `ContractViolation` after a million steps. */
  run(): void {
    for (let left = 1e6; ; left--) {
      const next = this.calendar[0]
      this.checkUntil(next?.time ?? NEVER)
      if (next === undefined) break
      if (left === 0) fail(`at ${this.now} ps, it has not come to an end`)
      this.calendar.shift()
      this.now = next.time
      next.run()
    }
    if (this.pool.alive !== 0) fail(`idle, ${this.pool.alive} packets are still alive`)
  }

  private transmit(port: Port): void {
    if (port.busy) return
    const { nic } = this.made
    const { now } = this
    const isQuiet = nic.quiet(port.id)
    const handle = nic.pull(now, port.id, port.paused)
    if (handle < 0) return
    if (isQuiet) fail(`port ${port.id} said it was quiet, and had a packet`)
    const packet = this.packet.at(handle)
    const { flow, opcode, priority, psn } = packet
    const from =
      this.queuePairs.find((each) => each.flow === flow) ?? fail(`a packet of flow ${flow}, which is nobody's`)
    const control = opcode >= Opcode.Acknowledge
    const held = port.paused & (control ? CONTROL_PAUSE_MASK : 1 << priority)
    if (held !== 0) fail(`${control ? "a control packet" : `a packet of priority ${priority}`} left, which is paused`)
    if (!control && from.port !== port.id) fail(`flow ${flow} sends by port ${from.port}, yet by ${port.id} it sent`)
    if (control) port.control--
    else if (port.control > 0 && (port.paused & CONTROL_PAUSE_MASK) === 0) fail("data left ahead of a control packet")
    this.sent.push({ time: now, port: port.id, flow, control })
    this.pool.release(handle)
    port.busy = true
    this.at(now + SERIALIZATION, () => {
      port.busy = false
      this.transmit(port)
    })
    if (control || this.lost.get(from)!.has(psn)) return
    this.at(now + ROUND_TRIP, () => this.arrive(flow, Opcode.Acknowledge))
  }

  /** Nothing happens until `next`: then nothing was to happen. */
  private checkUntil(next: Time): void {
    for (const each of this.queuePairs) {
      if (each.due < next) fail(`a timer or timeout of flow ${each.flow} is due at ${each.due} ps, and does not come`)
    }
    if (!this.isPunctual && next < NEVER) return
    for (const port of this.ports) {
      if (port.busy) continue
      if (port.control > 0 && (port.paused & CONTROL_PAUSE_MASK) === 0)
        fail(`control packets wait at idle port ${port.id}`)
      for (const each of this.queuePairs) {
        if (each.port !== port.id || !this.started.has(each) || ((port.paused >> each.priority) & 1) !== 0) continue
        if (Math.max(each.nextSend, this.now) >= next) continue
        fail(`port ${port.id} is idle at ${this.now} ps, though flow ${each.flow} may send at ${each.nextSend}`)
      }
    }
  }
}
