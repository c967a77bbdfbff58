import type { Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import type { FaultyKernel } from "@rdmakit/sim"
import { type Graph, Ports, Routes, type RoutesOptions } from "@rdmakit/topology"
import type { World } from "./World.ts"

/** What happens to a link, both ways, at a moment of a run. */
export interface LinkFault {
  /** ps */
  readonly time: Time
  /** Its index in the graph. */
  readonly link: number
  /** It goes down, or comes up again. */
  readonly up?: boolean
  /** From now on this share of the packets that cross it is lost by chance, 0 to 1. */
  readonly lossRate?: number
}

/** The faults of a run. */
export interface FaultModel {
  /** By time; those of one time happen in this order. */
  readonly events: ReadonlyArray<LinkFault>
  /** How long routes take to follow a link that goes down or comes up, ps. Default 0. */
  readonly convergencePs?: Time
  /**
   * As in the public HPCC simulator (TakeDownLink): switches are not told of what they drop and never get that buffer
   * back, and every host's queue pairs are listed anew. Default false.
   */
  readonly asSimulated?: boolean
}

/** Switches on the longest of the shortest paths between two hosts, of all that the network is in turn. */
export const longestPath = (graph: Graph, options: RoutesOptions | Routes, { events }: FaultModel): number => {
  const routes = new Routes(graph, new Ports(graph), options)
  let most = routes.maxHops
  for (const { link, up } of events) {
    if (up === undefined) continue
    routes.setLink(link, up)
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
  /** Bytes of each port that a switch was not told of when it dropped them, queue 0 apart. */
  readonly untoldBytes: Float64Array
  private readonly world: World
  private readonly kernel: FaultyKernel
  private readonly model: FaultModel

  constructor(world: World, kernel: FaultyKernel, model: FaultModel) {
    this.world = world
    this.kernel = kernel
    this.model = model
    this.untoldBytes = new Float64Array(world.ports.count)
  }

  /** Links whose faults are still to come, or have happened. */
  get events(): ReadonlyArray<LinkFault> {
    return this.model.events
  }

  /** An event happens. Returns how long its `reroute` is to be called later, ps; undefined: there is none to call. */
  apply(index: number): Time | undefined {
    const { link, up, lossRate } = this.model.events[index]!
    if (lossRate !== undefined) for (const port of [2 * link, 2 * link + 1]) this.kernel.setLossRate(port, lossRate)
    if (up === undefined || this.kernel.isUp(2 * link) === up) return undefined
    const { convergencePs = 0 } = this.model
    if (!up) this.takeDown(link)
    if (convergencePs === 0) this.reroute(index)
    if (up) this.kernel.bringUp(link)
    return convergencePs === 0 ? undefined : convergencePs
  }

  /** Routing has found out what became of a link. */
  reroute(index: number): void {
    const { link, up } = this.model.events[index]!
    this.world.routes.setLink(link, up === true)
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
