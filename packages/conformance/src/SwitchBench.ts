import { Ecn, Opcode, Packet, PacketPool } from "@rdmakit/packet"
import { dropNames, POLICY_WORDS, type Switch, type SwitchPorts, type Time } from "@rdmakit/protocol"
import { fail } from "./ContractViolation.ts"

/** What a switch is made for: one node, a port to each neighbour, all of one rate. */
export interface SwitchSetup {
  readonly node: number
  readonly ports: SwitchPorts
  /** The node's ports, as the network numbers them: neither from 0 nor without gaps. */
  readonly portIds: ReadonlyArray<number>
  /** Node numbers of the hosts: below `portIds.length - 2` one behind each port, the last one behind the last two ports. */
  readonly hosts: ReadonlyArray<number>
  /** Equal-cost egress ports towards a host; none for whatever is no host. */
  readonly nextHops: (host: number) => ReadonlyArray<number>
  readonly rateBps: number
  readonly wireBytesMax: number
  readonly bufferBytes: number
  /** What may still arrive by a port after a pause was sent through it, bytes for each priority. */
  readonly headroomBytes: number
}

/** A burst of equal packets, back to back from one port at line rate unless paused. */
export interface Burst {
  /** Index of the port it comes by. */
  readonly from: number
  /** Index of the host it is for. */
  readonly to: number
  readonly packets: number
  readonly wireBytes: number
  /** 1 to 7. */
  readonly priority: number
}

/** What happened, in order. Times from the start of the load, ps. */
export interface SwitchEvent {
  readonly time: Time
  readonly what: "delivered" | "dropped" | "paused" | "resumed"
  /** Index of the port: egress of what was delivered, ingress of all else. */
  readonly port: number
  /** Flow of a packet, priority of a pause. */
  readonly which: number
}

const PORTS = 8
const NODE = 41
const FIRST_PORT = 6
const RATE_BPS = 100e9
const DELAY: Time = 1e6
const BYTES_MAX = 1500
const PFC_BYTES = 64
/** Two flights, a frame under way at either end, and the pause itself. */
const HEADROOM = (2 * DELAY * RATE_BPS) / 8e12 + 2 * BYTES_MAX + PFC_BYTES
const portIds = Array.from({ length: PORTS }, (_, i) => FIRST_PORT + 4 * i)
const hosts = Array.from({ length: PORTS - 1 }, (_, i) => 100 + 3 * i)
const serialization = (bytes: number): Time => (bytes * 8e12) / RATE_BPS

/** A switch's own end of a link, and the neighbour's. */
interface Port {
  readonly queues: ReadonlyArray<Array<number>>
  readonly bytes: Array<number>
  /** Priorities the switch has paused through this port; and those the neighbour knows of. */
  sentPause: number
  neighbourPaused: number
  busy: boolean
  sentBytes: number
  /** The neighbour's bursts: packets not sent yet. */
  readonly toSend: Array<{ readonly burst: Burst; readonly flow: number; left: number }>
  neighbourBusy: boolean
}

/**
 * One switch between its neighbours, in virtual time: a kernel as small as it can be, which checks every answer. The
 * neighbours obey pauses and never pause the switch.
 */
export class SwitchBench {
  readonly pool = new PacketPool({ limit: 1 << 14, telemetryHops: 1, telemetryRates: [RATE_BPS] })
  readonly setup: SwitchSetup
  readonly subject: Switch
  readonly packet: Packet
  /** Packets that left with a congestion mark. */
  marked = 0
  private readonly ports: ReadonlyArray<Port>
  private readonly calendar: Array<{ readonly time: Time; readonly run: () => void }> = []
  private now: Time = 0
  private started: Time = 0
  private log: Array<SwitchEvent> = []

  constructor(make: (setup: SwitchSetup) => Switch, options: { readonly bufferBytes?: number } = {}) {
    this.packet = new Packet(this.pool)
    this.ports = portIds.map(() => ({
      queues: Array.from({ length: 8 }, () => []),
      bytes: new Array(8).fill(0),
      sentPause: 0,
      neighbourPaused: 0,
      busy: false,
      sentBytes: 0,
      toSend: [],
      neighbourBusy: false,
    }))
    this.setup = {
      node: NODE,
      ports: this.lent(),
      portIds,
      hosts,
      nextHops: (host) => {
        const index = hosts.indexOf(host)
        if (index < 0) return []
        return index === PORTS - 2 ? portIds.slice(PORTS - 2) : [portIds[index]!]
      },
      rateBps: RATE_BPS,
      wireBytesMax: BYTES_MAX,
      bufferBytes: options.bufferBytes ?? PORTS * (HEADROOM + 4096) + 200_000,
      headroomBytes: HEADROOM,
    }
    this.subject = make(this.setup)
  }

  private lent(): SwitchPorts {
    const at = (port: number): Port => this.ports[portIds.indexOf(port)] ?? fail(`port ${port} is not the switch's`)
    return {
      pool: this.pool,
      queueBytes: (port) => at(port).bytes.reduce((sum, bytes) => sum + bytes, 0),
      queueBytesOf: (port, queue) => at(port).bytes[queue]!,
      sentBytes: (port) => at(port).sentBytes,
      policyWords: new Int32Array((FIRST_PORT + 4 * PORTS) * POLICY_WORDS).fill(-1),
      policyAt: (port) => port * POLICY_WORDS,
      leave: () => {},
      sendPfc: (now, port, priority, pause) => this.sendPfc(now, at(port), priority, pause),
    }
  }

  /** Fills a fresh packet. */
  make(flow: number, to: number, wireBytes: number, priority: number): Packet {
    const packet = this.packet.at(this.pool.alloc())
    packet.meta = Opcode.WriteOnly | (priority << 24) | (Ecn.Capable0 << 28)
    packet.setNodes(hosts[flow % hosts.length]!, to)
    packet.udpPorts = (((flow * 7919) & 0xffff) | (4791 << 16)) >>> 0
    packet.flow = flow
    packet.wireBytes = wireBytes
    return packet
  }

  /** Sends bursts until everything has left, and tells what happened. */
  run(load: ReadonlyArray<Burst>): ReadonlyArray<SwitchEvent> {
    this.started = this.now
    this.log = []
    load.forEach((burst, flow) => void this.ports[burst.from]!.toSend.push({ burst, flow, left: burst.packets }))
    this.ports.forEach((_, port) => void this.send(port))
    for (let event = this.calendar.shift(); event !== undefined; event = this.calendar.shift()) {
      this.now = event.time
      event.run()
    }
    if (this.pool.alive > 0) fail(`${this.pool.alive} packets never left, or were kept`)
    return this.log
  }

  private at(time: Time, run: () => void): void {
    let index = this.calendar.length
    while (index > 0 && this.calendar[index - 1]!.time > time) index--
    this.calendar.splice(index, 0, { time, run })
  }
  private note(what: SwitchEvent["what"], port: number, which: number): void {
    this.log.push({ time: this.now - this.started, what, port, which })
  }

  /** The neighbour sends the next packet of the first burst that is not paused. */
  private send(index: number): void {
    const port = this.ports[index]!
    if (port.neighbourBusy) return
    const next = port.toSend.find(({ burst, left }) => left > 0 && ((port.neighbourPaused >> burst.priority) & 1) === 0)
    if (next === undefined) return
    next.left--
    const { to, wireBytes, priority } = next.burst
    const { handle } = this.make(next.flow, hosts[to]!, wireBytes, priority)
    const end = this.now + serialization(wireBytes)
    port.neighbourBusy = true
    this.at(end, () => {
      port.neighbourBusy = false
      this.send(index)
    })
    this.at(end + DELAY, () => this.arrive(handle, index))
  }

  private arrive(handle: number, index: number): void {
    const { now, subject } = this
    const packet = this.packet.at(handle)
    const { destination, flow } = packet
    const ingress = portIds[index]!
    packet.enterSwitch(ingress)
    const egress = subject.route(now, packet)
    if (egress < 0) {
      this.drop(handle, index, flow, egress)
      return
    }
    if (!this.setup.nextHops(destination).includes(egress)) {
      fail(`route sent a packet for node ${destination} to port ${egress}, which is no next hop`)
    }
    const queue = subject.admit(now, packet.at(handle), ingress, egress)
    if (queue < 0) {
      this.drop(handle, index, flow, queue)
      return
    }
    if (!(Number.isInteger(queue) && queue <= 7)) fail(`admit named queue ${queue}: 0 to 7, or a Drop`)
    this.enqueue(this.ports[portIds.indexOf(egress)]!, queue, handle)
  }

  private drop(handle: number, index: number, flow: number, reason: number): void {
    if (dropNames[reason] === undefined) fail(`a packet was dropped for reason ${reason}, which is no Drop`)
    this.note("dropped", index, flow)
    this.pool.release(handle)
  }

  private sendPfc(now: Time, port: Port, priority: number, pause: boolean): void {
    if (now !== this.now) fail(`a PFC frame at ${now}, when it is ${this.now}`)
    if (!(priority >= 0 && priority <= 7)) fail(`a PFC frame for priority ${priority}`)
    const bit = 1 << priority
    if (((port.sentPause & bit) !== 0) === pause) {
      fail(`${pause ? "a pause" : "a resume"} of priority ${priority} that changes nothing`)
    }
    port.sentPause ^= bit
    this.note(pause ? "paused" : "resumed", this.ports.indexOf(port), priority)
    const packet = this.packet.at(this.pool.alloc())
    packet.opcode = Opcode.Pfc
    packet.wireBytes = PFC_BYTES
    packet.flow = pause ? bit : -bit
    this.enqueue(port, 0, packet.handle)
  }

  private enqueue(port: Port, queue: number, handle: number): void {
    port.queues[queue]!.push(handle)
    port.bytes[queue]! += this.packet.at(handle).wireBytes
    // In an event of its own: the switch is in the middle of a call.
    this.at(this.now, () => this.transmit(port))
  }

  private transmit(port: Port): void {
    if (port.busy) return
    const queue = port.queues[0]!.length > 0 ? 0 : port.queues.findLastIndex((waiting) => waiting.length > 0)
    if (queue < 0) return
    const index = this.ports.indexOf(port)
    const handle = port.queues[queue]!.shift()!
    const packet = this.packet.at(handle)
    const { flow, opcode, wireBytes } = packet
    port.bytes[queue]! -= wireBytes
    port.busy = true
    this.subject.dequeued(this.now, packet, portIds[index]!, queue)
    if (packet.at(handle).wireBytes !== wireBytes) fail("dequeued changed the size of a packet")
    port.sentBytes += wireBytes
    if (packet.ecn === Ecn.Experienced) this.marked++
    const end = this.now + serialization(wireBytes)
    this.at(end, () => {
      port.busy = false
      this.transmit(port)
    })
    this.at(end + DELAY, () => {
      if (opcode === Opcode.Pfc) {
        port.neighbourPaused = flow > 0 ? port.neighbourPaused | flow : port.neighbourPaused & ~-flow
        this.send(index)
      } else {
        this.note("delivered", index, flow)
      }
      this.pool.release(handle)
    })
  }
}
