import type { Run, Watch, World } from "@rdmakit/fabric"
import { Histogram } from "@rdmakit/metrics"
import { type FlowEngine, NEVER, type Time } from "@rdmakit/protocol"
import { parseTime } from "@rdmakit/units"
import type { Probe } from "./Claim.ts"

/** Queue lengths of many ports together are kept to 0.1 %. */
const DIGITS = 3

/** Bytes of a flow that have been acknowledged so far. */
export const acknowledgedBytes = ({ flows, endpoints }: World, flow: number): number => {
  if (flows.finished[flow] !== NEVER) return flows.bytes[flow]!
  const requester = endpoints.at(2 * flow) as FlowEngine | undefined
  return requester?.bytesAcknowledged ?? 0
}

/** Samples what a figure shows, between events, and changes nothing about the run. Times are after the first start. */
export class Samples implements Watch {
  next: Time
  readonly every: Time
  readonly queueBytes: Array<number> = []
  readonly sentBytes: Array<number> = []
  /** By sampled flow: bytes acknowledged so far. */
  readonly acknowledged: ReadonlyArray<Array<number>>
  /** Of all sampled ports together. */
  readonly distribution = new Histogram(DIGITS)
  /** Share of all ports' time paused, from the first start to the end of the window; NaN before that. */
  pausedShare = Number.NaN
  private readonly world: World
  private readonly start: Time
  private readonly until: Time
  private readonly windowEnd: Time
  private readonly ports: ReadonlyArray<number>
  private readonly single: boolean
  private readonly flows: ReadonlyArray<number>
  private readonly uplinks: ReadonlyArray<number>
  private due: Time

  constructor(run: Run, probe: Probe | undefined, window: string | undefined) {
    const { world } = run
    this.world = world
    this.start = world.flows.count > 0 ? world.flows.start[0]! : 0
    this.every = probe === undefined ? NEVER : parseTime(probe.every)
    this.until = probe?.until === undefined ? NEVER : this.start + parseTime(probe.until)
    this.windowEnd = window === undefined ? NEVER : this.start + parseTime(window)
    this.ports = portsOf(world, probe?.port)
    this.single = this.ports.length === 1
    this.flows = probe?.flows ?? []
    this.uplinks = uplinksOf(world, probe?.uplinksOf)
    this.acknowledged = this.flows.map(() => [])
    this.due = probe === undefined ? NEVER : this.start
    this.next = Math.min(this.due, this.windowEnd)
    run.watch(this)
  }

  look(now: Time): void {
    if (now === this.windowEnd) {
      const { kernel, ports } = this.world
      const paused = kernel.pauses.pauses === 0 ? 0 : kernel.pauses.totalPs(now)
      this.pausedShare = paused / ((now - this.start) * ports.count)
    }
    if (now === this.due) {
      this.sample()
      this.due = now + this.every > this.until ? NEVER : now + this.every
    }
    this.next = Math.min(this.due, this.windowEnd > now ? this.windowEnd : NEVER)
  }

  /** Goes on to the end of the probe where the run ended before it: nothing is left in the queues then. */
  finish(): void {
    if (this.until === NEVER) return
    while (this.due !== NEVER) this.look(this.due)
  }

  /** Bytes that each of the figure's links has carried so far. */
  get linkBytes(): ReadonlyArray<number> {
    return this.uplinks.map((port) => this.world.kernel.sentBytes(port))
  }

  private sample(): void {
    const { kernel } = this.world
    for (const port of this.ports) {
      const bytes = kernel.queueBytes(port) - kernel.queueBytesOf(port, 0)
      if (this.single) {
        this.queueBytes.push(bytes)
        this.sentBytes.push(kernel.sentBytes(port))
      } else this.distribution.record(bytes, 1)
    }
    for (const [index, flow] of this.flows.entries())
      this.acknowledged[index]!.push(acknowledgedBytes(this.world, flow))
  }
}

/** Ports of a switch that lead to other switches. */
const uplinksOf = (world: World, node: number | undefined): ReadonlyArray<number> =>
  node === undefined
    ? []
    : [...world.ports.portsOf(node)].filter((port) => world.nic(world.ports.peerNode(port)) === undefined)

const portsOf = (world: World, port: Probe["port"]): ReadonlyArray<number> => {
  const { ports } = world
  if (port === undefined) return []
  const all = Array.from({ length: ports.count }, (_, each) => each)
  if (port === "to-hosts") {
    return all.filter(
      (each) => world.nic(ports.node[each]!) === undefined && world.nic(ports.peerNode(each)) !== undefined,
    )
  }
  const [node, neighbour] = port
  const found = all.find((each) => ports.node[each] === node && ports.peerNode(each) === neighbour)
  if (found === undefined) throw new RangeError(`probe: found no link from ${node} to ${neighbour}`)
  return [found]
}
