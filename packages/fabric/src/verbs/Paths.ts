import type { Ports, Routes } from "@rdmakit/topology"
import { murmur3 } from "@rdmakit/units"

const ROCE_PORT = 4791
const NODES = 1 << 16
const PORTS = 1 << 16

/** What paths are laid through. */
export interface PathNetwork {
  readonly routes: Routes
  readonly ports: Ports
  /** The port by which a host reaches itself. */
  readonly loopPort: (node: number) => number
  readonly seed: number
}

/**
 * Paths between hosts, one for each direction and UDP source port, and paths to multicast groups. A path's number is what
 * its packets carry as `flow`.
 */
export class Paths {
  private readonly network: PathNetwork
  private readonly byKey = new Map<number, number>()
  private readonly source: Array<number> = []
  /** Of a path to a group the complement of its number. */
  private readonly peer: Array<number> = []
  private readonly udpPort: Array<number> = []
  private readonly port: Array<number> = []

  constructor(network: PathNetwork) {
    this.network = network
  }

  get count(): number {
    return this.source.length
  }

  /** The path from one host to another, made when it is first asked for. */
  to(node: number, peer: number, udpSourcePort: number): number {
    return this.of(node, peer, udpSourcePort)
  }

  /** The path from a host to a group. */
  toGroup(node: number, group: number, udpSourcePort: number): number {
    return this.of(node, ~group, udpSourcePort)
  }

  private of(node: number, peer: number, udpSourcePort: number): number {
    const key = ((peer + NODES) * NODES + node) * PORTS + udpSourcePort
    const known = this.byKey.get(key)
    if (known !== undefined) return known
    const flow = this.source.length
    this.byKey.set(key, flow)
    this.source.push(node)
    this.peer.push(peer)
    this.udpPort.push(udpSourcePort)
    this.port.push(this.route(node, peer, udpSourcePort))
    return flow
  }

  /** Port of the host that packets of a path leave by. */
  portOf(flow: number): number {
    return this.port[flow]!
  }
  /** The host that a path leads to; of a path to a group -1. */
  peerOf(flow: number): number {
    return Math.max(-1, this.peer[flow]!)
  }
  /** The group that a path leads to, -1: a host. */
  groupOf(flow: number): number {
    return this.peer[flow]! < 0 ? ~this.peer[flow]! : -1
  }
  sourcePortOf(flow: number): number {
    return this.udpPort[flow]!
  }

  /** Routes have changed. A path that has no way any more keeps its port. */
  lay(): void {
    for (let flow = 0; flow < this.count; flow++) {
      this.port[flow] = this.route(this.source[flow]!, this.peer[flow]!, this.udpPort[flow]!, this.port[flow]!)
    }
  }

  private route(node: number, peer: number, udpSourcePort: number, otherwise?: number): number {
    const { routes, ports, loopPort, seed } = this.network
    if (peer === node) return loopPort(node)
    const [first] = ports.portsOf(node)
    const fallback = otherwise ?? first ?? loopPort(node)
    // Members of a group are reached one by one: the sender's first port stands for all.
    if (peer < 0) return fallback
    const count = routes.nextHopCount(node, peer)
    if (count === 0) return fallback
    const udpPorts = (udpSourcePort | (ROCE_PORT << 16)) >>> 0
    return routes.nextHop(node, peer, count === 1 ? 0 : murmur3(seed, node, peer, udpPorts) % count)
  }
}
