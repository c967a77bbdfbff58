import { Flag, Opcode, Packet, PacketPool } from "@rdmakit/packet"
import { Drop, NEVER, type Nic, type NicPorts, POLICY_WORDS, type Switch, type SwitchPorts } from "@rdmakit/protocol"
import type { Network, TieOrder, Tracer } from "../src/index.ts"

interface NaiveOptions {
  readonly ties: TieOrder
  readonly strict: boolean
  readonly hopsMax: number
  readonly pfcBytes: number
}

interface Port {
  readonly queues: ReadonlyArray<Array<number>>
  paused: number
  lastQueue: number
  busy: boolean
  sentBytes: number
  wake: { time: number; cancelled: boolean } | undefined
}

/** Canonical turns at one time: kind, then number; a call's target comes before its argument. */
type Place = readonly [kind: "end" | "arrival" | "wake" | "timer" | "call", ...numbers: ReadonlyArray<number>]
const kinds = ["end", "arrival", "wake", "timer", "call"]

const placeDiff = (a: Place, b: Place): number => {
  const [x, y] = [a, b].map(([kind, ...numbers]) => [kinds.indexOf(kind), ...numbers]) as [Array<number>, Array<number>]
  const at = x.findIndex((number, i) => number !== y[i])
  return at < 0 ? 0 : x[at]! - y[at]!
}

/**
 * What the exact kernel is to be equal to: every event in place, completions that nobody waits for too, in a sorted
 * list; packets on a link are events each; routes are asked for at every hop.
 */
export class NaiveKernel implements SwitchPorts, NicPorts {
  readonly pool = new PacketPool({ capacity: 64 })
  readonly switches: Array<Switch | undefined> = []
  readonly nics: Array<Nic | undefined> = []
  readonly policyWords: Int32Array
  onCall: (now: number, target: number, argument: number) => void = () => {}
  tracer: Tracer | undefined
  packetHops = 0
  now = 0
  private readonly packet = new Packet(this.pool)
  private readonly network: Network
  private readonly options: NaiveOptions
  private readonly serializationPs: (bytes: number, rateBps: number) => number
  private readonly ports: ReadonlyArray<Port>
  private readonly events: Array<{ time: number; place: Place; run: () => void }> = []

  constructor(network: Network, serializationPs: (bytes: number, rateBps: number) => number, options: NaiveOptions) {
    this.network = network
    this.serializationPs = serializationPs
    this.options = options
    this.policyWords = new Int32Array(network.ports * POLICY_WORDS).fill(-1)
    this.ports = Array.from({ length: network.ports }, () => ({
      queues: Array.from({ length: 8 }, () => []),
      paused: 0,
      lastQueue: 0,
      busy: false,
      sentBytes: 0,
      wake: undefined,
    }))
  }
  private at(time: number, place: Place, run: () => void): void {
    const event = { time, place, run }
    const isLater = (other: { time: number; place: Place }): boolean =>
      other.time > time ||
      (other.time === time && this.options.ties === "canonical" && placeDiff(other.place, place) > 0)
    let at = this.events.length
    while (at > 0 && isLater(this.events[at - 1]!)) at--
    this.events.splice(at, 0, event)
  }
  run(): void {
    for (let event = this.events.shift(); event !== undefined; event = this.events.shift()) {
      this.now = event.time
      event.run()
    }
  }
  callAt(time: number, target: number, argument: number): void {
    this.at(time, ["call", target, argument], () => this.onCall(this.now, target, argument))
  }
  timerAt(node: number, endpoint: number, timer: number, time: number): number {
    this.at(time, ["timer", endpoint, timer], () => this.nics[node]!.timer(this.now, endpoint, timer))
    return 0
  }
  wakeTime(port: number): number {
    return this.ports[port]!.wake?.time ?? NEVER
  }
  wakeAt(port: number, time: number): void {
    const state = this.ports[port]!
    if (state.wake !== undefined) state.wake.cancelled = true
    const wake = { time, cancelled: false }
    state.wake = wake
    this.at(time, ["wake", port], () => {
      if (wake.cancelled) return
      state.wake = undefined
      this.kick(this.now, port)
    })
  }
  policyAt(port: number): number {
    return port * POLICY_WORDS
  }
  leave(): void {}
  cancelTimer(): void {}
  private bytesOf(handles: ReadonlyArray<number>): number {
    const packet = new Packet(this.pool)
    return handles.reduce((sum, handle) => sum + packet.at(handle).wireBytes, 0)
  }
  queueBytes(port: number): number {
    return this.bytesOf(this.ports[port]!.queues.flat())
  }
  queueBytesOf(port: number, queue: number): number {
    return this.bytesOf(this.ports[port]!.queues[queue]!)
  }
  sentBytes(port: number): number {
    return this.ports[port]!.sentBytes
  }
  sendPfc(now: number, port: number, priority: number, pause: boolean): void {
    const packet = this.packet.at(this.pool.alloc())
    packet.meta = Opcode.Pfc | (pause ? Flag.Pause : 0) | (priority << 24)
    packet.wireBytes = this.options.pfcBytes
    packet.stamp = now
    packet.flow = this.queueBytesOf(port, priority)
    this.enqueue(port, 0, packet.handle)
  }
  kick(_now: number, port: number): void {
    if (!this.ports[port]!.busy) this.transmit(port)
  }
  private enqueue(port: number, queue: number, handle: number): void {
    this.tracer?.enqueued(this.now, port, queue, this.packet.at(handle))
    this.ports[port]!.queues[queue]!.push(handle)
    this.kick(this.now, port)
  }
  private nextQueue({ queues, paused, lastQueue }: Port): number {
    if (queues[0]!.length > 0) return 0
    const open = [1, 2, 3, 4, 5, 6, 7].filter((q) => queues[q]!.length > 0 && ((paused >> q) & 1) === 0)
    if (this.options.strict) return open.at(-1) ?? -1
    return open.find((q) => q > lastQueue) ?? open[0] ?? -1
  }
  private transmit(port: number): void {
    const state = this.ports[port]!
    const node = this.network.portNode[port]!
    let handle: number
    if (this.network.isSwitch[node] === 1) {
      const queue = this.nextQueue(state)
      if (queue < 0) return
      if (queue !== 0) state.lastQueue = queue
      handle = state.queues[queue]!.shift()!
      state.busy = true
      this.switches[node]!.dequeued(this.now, this.packet.at(handle), port, queue)
      this.tracer?.dequeued(this.now, port, queue, this.packet.at(handle))
    } else {
      handle = this.nics[node]!.pull(this.now, port, state.paused)
      if (handle < 0) return
      const packet = this.packet.at(handle)
      this.tracer?.dequeued(this.now, port, packet.opcode < Opcode.Acknowledge ? packet.priority : 0, packet)
    }
    state.busy = true
    const { wireBytes } = this.packet.at(handle)
    state.sentBytes += wireBytes
    const end = this.now + this.serializationPs(wireBytes, this.network.rateBps[port]!)
    this.at(end, ["end", port], () => {
      state.busy = false
      this.transmit(port)
    })
    this.at(end + this.network.delayPs[port]!, ["arrival", port], () => this.arrive(port ^ 1, handle))
  }
  private arrive(port: number, handle: number): void {
    const { now } = this
    const packet = this.packet.at(handle)
    const node = this.network.portNode[port]!
    this.tracer?.received(now, port, packet)
    if (packet.opcode === Opcode.Pfc) {
      const state = this.ports[port]!
      const bit = 1 << packet.priority
      const pause = packet.has(Flag.Pause)
      state.paused = pause ? state.paused | bit : state.paused & ~bit
      this.pool.release(handle)
      if (!pause) this.kick(now, port)
      return
    }
    this.packetHops++
    if (this.network.isSwitch[node] !== 1) {
      this.nics[node]!.receive(now, packet, port)
      return
    }
    const policy = this.switches[node]!
    packet.enterSwitch(port)
    const egress = packet.hop > this.options.hopsMax ? Drop.HopLimit : policy.route(now, packet)
    const queue = egress < 0 ? egress : policy.admit(now, packet, port, egress)
    if (queue < 0) this.pool.release(handle)
    else this.enqueue(egress, queue, handle)
  }
}
