import { Opcode, Packet, type PacketPool } from "@rdmakit/packet"
import { Drop, type Nic, type NicPorts, type Switch, type SwitchPorts } from "@rdmakit/protocol"
import type { Network, Tracer } from "../src/index.ts"

export interface Link {
  readonly between: readonly [number, number]
  readonly rateBps?: number
  readonly delayPs?: number
  /** Of frames either end sends. */
  readonly lossRate?: number
}

/** At 8 Tb/s a byte takes a picosecond. */
export const RATE_BPS = 8e12
export const serializationPs = (bytes: number, rateBps: number): number => Math.ceil((bytes * 8e12) / rateBps)

/** Nodes from 0: the hosts first, then the switches. Link i has port 2i at its first end, 2i + 1 at the other. */
export const networkOf = (hosts: number, switches: number, links: ReadonlyArray<Link>): Network => {
  const ends = links.flatMap(({ between, rateBps = RATE_BPS, delayPs = 1000, lossRate = 0 }) =>
    between.map((node) => ({ node, rateBps, delayPs, lossRate })),
  )
  return {
    nodes: hosts + switches,
    ports: ends.length,
    isSwitch: Uint8Array.from({ length: hosts + switches }, (_, node) => (node < hosts ? 0 : 1)),
    portNode: Int32Array.from(ends, ({ node }) => node),
    rateBps: Float64Array.from(ends, ({ rateBps }) => rateBps),
    delayPs: Float64Array.from(ends, ({ delayPs }) => delayPs),
    lossRate: Float64Array.from(ends, ({ lossRate }) => lossRate),
  }
}

/** Egress port from every node to every node by the fewest links; undefined where there is no way. */
export const shortestRoutes = ({
  nodes,
  ports,
  portNode,
}: Network): ReadonlyArray<ReadonlyArray<number | undefined>> => {
  const routes: Array<Array<number | undefined>> = Array.from({ length: nodes }, () => new Array(nodes).fill(undefined))
  for (let to = 0; to < nodes; to++) {
    const reached = [to]
    for (const node of reached) {
      for (let port = 0; port < ports; port++) {
        const peer = portNode[port ^ 1]!
        if (portNode[port] !== node || peer === to || routes[peer]![to] !== undefined) continue
        routes[peer]![to] = port ^ 1
        reached.push(peer)
      }
    }
  }
  return routes
}

export interface PlainSwitchOptions {
  readonly routes: ReadonlyArray<number | undefined>
  readonly perPacket?: boolean
  /** It bears both. Default "eager". */
  readonly dequeue?: "eager" | "lazy"
  /** Pauses an ingress (port, priority) that holds so many bytes, and resumes it at half of that. Default: never. */
  readonly pauseBytes?: number
  /** Drops what would make an egress queue longer than this. */
  readonly queueBytesMax?: number
}

/** The least a switch can be: queue by priority, static pauses. Counts how often it was asked for a route. */
export class PlainSwitch implements Switch {
  readonly dequeue: "eager" | "lazy"
  readonly perPacket: boolean
  routed = 0
  private readonly ports: SwitchPorts
  private readonly options: PlainSwitchOptions
  private readonly held = new Map<number, number>()
  private readonly paused = new Set<number>()

  constructor(ports: SwitchPorts, options: PlainSwitchOptions) {
    this.ports = ports
    this.options = options
    this.perPacket = options.perPacket ?? false
    this.dequeue = options.dequeue ?? "eager"
  }
  route(_now: number, packet: Packet): number {
    this.routed++
    return this.options.routes[packet.destination] ?? Drop.NoRoute
  }
  admit(now: number, packet: Packet, ingress: number, egress: number): number {
    const { pauseBytes = Number.POSITIVE_INFINITY, queueBytesMax = Number.POSITIVE_INFINITY } = this.options
    const queue = packet.priority
    if (this.ports.queueBytesOf(egress, queue) + packet.wireBytes > queueBytesMax) return Drop.EgressFull
    if (queue === 0) return 0
    const key = ingress * 8 + queue
    const held = (this.held.get(key) ?? 0) + packet.wireBytes
    this.held.set(key, held)
    if (held >= pauseBytes && !this.paused.has(key)) {
      this.paused.add(key)
      this.ports.sendPfc(now, ingress, queue, true)
    }
    return queue
  }
  dequeued(now: number, packet: Packet, _egress: number, queue: number): void {
    if (queue === 0) return
    const { pauseBytes = 0 } = this.options
    const ingress = packet.ingressPort
    const key = ingress * 8 + queue
    const held = this.held.get(key)! - packet.wireBytes
    this.held.set(key, held)
    if (held <= pauseBytes / 2 && this.paused.delete(key)) this.ports.sendPfc(now, ingress, queue, false)
  }
}

export interface PlainNicOptions {
  /** Answers every request with 60 bytes of the same priority, ahead of all requests. */
  readonly answers?: boolean
  /** Least time between the starts of two packets of one port. */
  readonly gapPs?: number
  readonly onReceive?: (now: number, packet: Packet, port: number) => void
  readonly onTimer?: (now: number, endpoint: number) => void
}

/** The least a NIC can be: a list of packets for each port, the first that is not paused goes. */
export class PlainNic implements Nic {
  readonly queues = new Map<number, Array<number>>()
  private readonly ports: NicPorts
  private readonly packet: Packet
  private readonly options: PlainNicOptions
  private readonly nextAvail = new Map<number, number>()

  constructor(ports: NicPorts & { readonly pool: PacketPool }, options: PlainNicOptions = {}) {
    this.ports = ports
    this.packet = new Packet(ports.pool)
    this.options = options
  }
  private queue(port: number): Array<number> {
    const queue = this.queues.get(port) ?? []
    this.queues.set(port, queue)
    return queue
  }
  send(now: number, port: number, fields: PacketFields): void {
    const packet = this.packet.at(this.ports.pool.alloc())
    packet.meta = Opcode.WriteOnly | (fields.priority << 24)
    packet.setNodes(fields.source, fields.destination)
    packet.wireBytes = fields.wireBytes
    packet.flow = fields.flow
    packet.psn = fields.psn
    this.queue(port).push(packet.handle)
    this.ports.kick(now, port)
  }
  receive(now: number, packet: Packet, port: number): void {
    const { handle } = packet
    this.options.onReceive?.(now, packet, port)
    if (this.options.answers !== true || packet.at(handle).opcode !== Opcode.WriteOnly) {
      this.ports.pool.release(handle)
      return
    }
    const { destination, flow, priority, psn, source } = packet
    this.ports.pool.recycle(handle)
    packet.meta = Opcode.Acknowledge | (priority << 24)
    packet.setNodes(destination, source)
    packet.wireBytes = 60
    packet.flow = flow ^ 1
    packet.psn = psn
    this.queue(port).unshift(handle)
    this.ports.kick(now, port)
  }
  pull(now: number, port: number, paused: number): number {
    const queue = this.queue(port)
    const next = this.nextAvail.get(port) ?? 0
    if (now < next) {
      if (queue.length > 0 && this.ports.wakeTime(port) !== next) this.ports.wakeAt(port, next)
      return -1
    }
    const at = queue.findIndex((handle) => ((paused >> this.packet.at(handle).priority) & 1) === 0)
    if (at < 0) return -1
    this.nextAvail.set(port, now + (this.options.gapPs ?? 0))
    return queue.splice(at, 1)[0]!
  }
  quiet(port: number): boolean {
    return this.queue(port).length === 0
  }
  timer(now: number, endpoint: number): void {
    this.options.onTimer?.(now, endpoint)
  }
}

export interface PacketFields {
  readonly source: number
  readonly destination: number
  readonly priority: number
  readonly wireBytes: number
  readonly flow: number
  readonly psn: number
}

/** Writes down all that a kernel shows. */
export class Journal implements Tracer {
  readonly lines: Array<string> = []
  private note(now: number, what: string, port: number, packet: Packet): void {
    this.lines.push(`${now} ${what} port ${port}: ${packet.opcode} ${packet.flow}.${packet.psn}`)
  }
  received(now: number, port: number, packet: Packet): void {
    this.note(now, "received", port, packet)
  }
  enqueued(now: number, port: number, queue: number, packet: Packet): void {
    this.note(now, `enqueued ${queue}`, port, packet)
  }
  dequeued(now: number, port: number, queue: number, packet: Packet): void {
    this.note(now, `dequeued ${queue}`, port, packet)
  }
}
