import type { Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { type FaultyKernel, ImpairedKernel, type Impairment, type ReceiverLimit } from "@rdmakit/sim"
import { type Graph, Ports, Routes, type RoutesOptions } from "@rdmakit/topology"
import { Impairments } from "./Impairments.ts"
import type { World } from "./World.ts"

/** Which way over a link: from its end a to its end b, back, or both. */
export type Direction = "both" | "forward" | "backward"

/** What happens to a link at a moment of a run. */
export interface LinkFault {
  /** ps */
  readonly time: Time
  /** Its index in the graph. */
  readonly link: number
  /** It goes down, or comes up again, both ways. */
  readonly up?: boolean
  /** From now on this share of the packets that cross it is lost by chance, 0 to 1. */
  readonly lossRate?: number
  /** From now on this happens to what crosses it; what it says nothing of stays as it was. */
  readonly impairment?: Impairment
  /** Which way `lossRate` and `impairment` are. Default "both". */
  readonly direction?: Direction
}

/** What happens to a host at a moment of a run: from now on it takes packets no faster than this; undefined: at once. */
export interface ReceiverFault {
  /** ps */
  readonly time: Time
  readonly host: number
  readonly receiver: ReceiverLimit | undefined
}

export type Fault = LinkFault | ReceiverFault

/** The faults of a run. */
export interface FaultModel {
  /** By time; those of one time happen in this order. */
  readonly events: ReadonlyArray<Fault>
  /** How long routes take to follow a link that goes down or comes up, ps. Default 0. */
  readonly convergencePs?: Time
  /**
   * As in the public HPCC simulator (TakeDownLink): switches are not told of what they drop and never get that buffer
   * back, and every host's queue pairs are listed anew. Default false.
   */
  readonly asSimulated?: boolean
}

/** What calls are about: events of the model, routes that follow, frames that are late, hosts that are slow. */
const Call = { Event: 0, Reroute: 1, Late: 2, Slow: 3 } as const
export type CallAt = (time: Time, call: number, argument: number) => void

/** Switches on the longest of the shortest paths between two hosts, of all that the network is in turn. */
export const longestPath = (graph: Graph, options: RoutesOptions | Routes, { events }: FaultModel): number => {
  const routes = new Routes(graph, new Ports(graph), options)
  let most = routes.maxHops
  // Links that flap bring the same networks about again and again: each is looked at once.
  const down = new Set<number>()
  const seen = new Set([""])
  const changed = new Map<number, boolean>()
  for (const event of events) {
    if ("host" in event || event.up === undefined) continue
    if (event.up) down.delete(event.link)
    else down.add(event.link)
    changed.set(event.link, event.up)
    const network = [...down].sort((a, b) => a - b).join()
    if (seen.has(network)) continue
    seen.add(network)
    for (const [link, up] of changed) routes.setLink(link, up)
    changed.clear()
    most = Math.max(most, routes.maxHops)
  }
  return most
}

/**
 * Lets faults happen to a world: links go down and up, routes follow, and so do the paths of flows that are under way, at
 * their hosts too. Until then packets go by the old routes, and are lost at a link that is down. A queue pair without a
 * way keeps its port.
 */
export class LinkFaults {
  /** Called when routes are about to change. */
  onReroute: (now: Time) => void = () => {}
  /** Bytes of each port that a switch was not told of when it dropped them, queue 0 apart. */
  readonly untoldBytes: Float64Array
  private readonly world: World
  private readonly kernel: FaultyKernel
  private readonly model: FaultModel
  private readonly impaired: ImpairedKernel | undefined
  private readonly impairments: Impairments | undefined
  private readonly callAt: CallAt

  /** @param callAt lets the world call `called` at a time */
  constructor(world: World, kernel: FaultyKernel, model: FaultModel, callAt: CallAt) {
    this.world = world
    this.kernel = kernel
    this.model = model
    this.callAt = callAt
    this.untoldBytes = new Float64Array(world.ports.count)
    if (kernel instanceof ImpairedKernel) {
      this.impaired = kernel
      this.impairments = new Impairments(kernel)
      kernel.onLate = (time, place) => callAt(time, Call.Late, place)
      kernel.onSlow = (time, node) => callAt(time, Call.Slow, node)
    }
    for (const [index, { time }] of model.events.entries()) callAt(time, Call.Event, index)
  }

  /** All that happens, or has happened. */
  get events(): ReadonlyArray<Fault> {
    return this.model.events
  }

  /** The time of a call has come. */
  called(call: number, argument: number): void {
    if (call === Call.Event) this.apply(argument)
    else if (call === Call.Reroute) this.reroute(argument)
    else if (call === Call.Late) this.impaired!.arriveLate(argument)
    else this.impaired!.takeSlowly(argument)
  }

  private apply(index: number): void {
    const event = this.model.events[index]!
    const { kernel } = this
    this.impairments?.apply(event)
    if ("host" in event || event.up === undefined || kernel.isUp(2 * event.link) === event.up) return
    const { convergencePs = 0 } = this.model
    if (!event.up) this.takeDown(event.link)
    if (convergencePs === 0) this.reroute(index)
    else this.callAt(kernel.now + convergencePs, Call.Reroute, index)
    if (event.up) kernel.bringUp(event.link)
    // What a host would send by it and has no other way is lost at once, as later packets are.
    else for (const port of [2 * event.link, 2 * event.link + 1]) kernel.kick(kernel.now, port)
  }

  /** Routing has found out what became of a link. */
  private reroute(index: number): void {
    const event = this.model.events[index]!
    if ("host" in event) return
    this.onReroute(this.kernel.now)
    this.world.routes.setLink(event.link, event.up === true)
    this.kernel.paths.clear()
    this.listAnew()
  }

  private takeDown(link: number): void {
    const { kernel, world, model } = this
    const untold = model.asSimulated === true
    kernel.takeDown(link, untold, (port, queue, packet) => {
      if (untold && queue !== 0) this.untoldBytes[port]! += packet.wireBytes
    })
    for (const port of [2 * link, 2 * link + 1]) {
      const onLost = (packet: Packet): void => kernel.tracer?.dropped?.(kernel.now, port, 0, packet)
      world.nic(world.ports.node[port]!)?.dropControl(port, onLost)
    }
  }

  /** Queue pairs go to the ports that their hosts' routes now give them, host by host, in the order they were made. */
  private listAnew(): void {
    const { world, model, kernel } = this
    const { ports, flows, endpoints } = world
    const { isSwitch } = world.parts.graph
    const hosts = new Map<number, Array<number>>()
    for (let node = 0; node < isSwitch.length; node++) {
      const choice = ports.portsOf(node).length > 1
      if (isSwitch[node] === 0 && (choice || model.asSimulated === true)) hosts.set(node, [])
    }
    if (hosts.size === 0) return
    for (let flow = 0; flow < flows.count; flow++) {
      if (endpoints.at(2 * flow) === undefined) continue
      hosts.get(flows.source[flow]!)?.push(2 * flow)
      hosts.get(flows.destination[flow]!)?.push(2 * flow + 1)
    }
    for (const [node, own] of hosts) {
      const nic = world.nic(node)!
      for (const port of ports.portsOf(node)) nic.clear(port)
      for (const index of own) {
        const endpoint = endpoints.at(index)!
        endpoint.port = world.portOf(index) ?? endpoint.port
        if ((index & 1) === 0 && !endpoint.finished) nic.add(kernel.now, endpoint)
      }
    }
  }
}
