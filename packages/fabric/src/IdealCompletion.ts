import { packetsOf } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import type { World } from "./World.ts"
import type { WorldParts } from "./WorldParts.ts"

/** What packets cross at one distance from their source, any one of its links. */
interface Stage {
  /** Of each link, bit/s, and of the fastest one. */
  readonly ratesBps: ReadonlyArray<number>
  readonly rateBps: number
  /** Of the shortest link. */
  readonly delayPs: Time
}

/**
 * How long each flow would take alone in the network on the path it took, at full rate and without a window: packets
 * with all their headers, stored and forwarded at every switch, and the last one's acknowledgement on its way back. No
 * run can be quicker, so slowdowns against it are 1 or more. Flows whose first packet did not arrive are given the
 * path of the first next hops.
 *
 * Where switches choose for each packet there is no one path: then it is a lower bound, of what all next hops together
 * could do, each packet on the best of them. From where there is more than one link, packets may overtake each other, a
 * short last one all the others; no stage is quicker than its links are when packets are shared out among them as well
 * as can be.
 */
export class IdealCompletion {
  private readonly world: World
  private readonly parts: WorldParts
  private readonly perPacket: boolean

  constructor(world: World, parts: WorldParts) {
    this.world = world
    this.parts = parts
    this.perPacket = world.kernel.switches.some((policy) => policy?.perPacket === true)
  }

  /**
   * ps; NaN where there is no way.
   *
   * @param hops "taken": NaN, too, while packets have not taken every hop of the path. Default: others are guessed.
   */
  of(flow: number, hops: "taken" | "guessed" = "guessed"): Time {
    const { flows } = this.world
    if (this.perPacket) return this.overAllPaths(flow)
    const there = this.path(flow, 0, hops)
    const back = this.path(flow, 1, hops)
    if (there === undefined || back === undefined) return Number.NaN
    return this.lastArrival(there, flows.bytes[flow]!) + this.crossing(back, this.parts.transport.framing.ackBytes)
  }

  /** Ports from source to destination, or back: those the flow's packets took as far as they are known. */
  private path(flow: number, direction: 0 | 1, hops: "taken" | "guessed"): ReadonlyArray<number> | undefined {
    const { flows, ports, routes, kernel } = this.world
    const [from, to] = direction === 0 ? [flows.source, flows.destination] : [flows.destination, flows.source]
    const destination = to[flow]!
    const first = this.world.hostPort(from[flow]!, destination, this.udpPorts(flow, direction))
    if (first === undefined) return undefined
    const path: Array<number> = [first]
    for (let hop = 0; hop <= routes.maxHops; hop++) {
      const node = ports.peerNode(path[hop]!)
      if (node === destination) return path
      const taken = kernel.paths.at(2 * flow + direction, hop) - 1
      // After a change of routes packets of one flow may have come there by ways of different lengths.
      if (taken >= 0 && ports.node[taken] === node) path.push(taken)
      else if (hops === "taken" || routes.nextHopCount(node, destination) === 0) return undefined
      else path.push(routes.nextHop(node, destination, 0))
    }
    return undefined
  }

  private overAllPaths(flow: number): Time {
    const there = this.stages(flow, 0)
    const back = this.stages(flow, 1)
    if (there === undefined || back === undefined) return Number.NaN
    const { mtuBytes, framing } = this.parts.transport
    const bytes = this.world.flows.bytes[flow]!
    const packets = packetsOf(bytes, mtuBytes)
    const headers = framing.dataBytes + framing.telemetryBytes
    const last = Math.max(framing.leastBytes, bytes - (packets - 1) * mtuBytes + headers)
    const full = packets === 1 ? last : Math.max(framing.leastBytes, mtuBytes + headers)
    const firstLink = this.parts.serializationPs(full, there[0]!.rateBps)
    let latest = this.crossingStages(there, full)
    for (let stage = 0; packets > 1 && stage < there.length; stage++) {
      const before = there.slice(0, stage)
      const after = there.slice(stage + 1)
      const { delayPs } = there[stage]!
      const first = this.crossingStages(before, full)
      // All full packets cross it, and the last of them goes on to the end.
      const allFull =
        first + this.sharing(there[stage]!, packets - 1, full) + delayPs + this.crossingStages(after, full)
      // All packets cross it, whichever comes first, and the one that goes on last is no less than the short one.
      const isOrdered = before.every(({ ratesBps }) => ratesBps.length === 1)
      const overtaking = isOrdered ? first : (packets - 1) * firstLink + this.crossingStages(before, last)
      const all = this.sharing(there[stage]!, packets - 1 + last / full, full)
      const allOfThem = Math.min(first, overtaking) + all + delayPs + this.crossingStages(after, last)
      latest = Math.max(latest, allFull, allOfThem)
    }
    return latest + this.crossingStages(back, framing.ackBytes)
  }

  /** Least time in which the links of a stage send so many packets, of which the last may be a part of one, ps. */
  private sharing({ ratesBps, rateBps }: Stage, packets: number, bytes: number): Time {
    const perPs = ratesBps.reduce((sum, each) => sum + 1 / this.parts.serializationPs(bytes, each), 0)
    // Packets are whole: one link has at least the mean number of them, and none is quicker than the fastest.
    const most = Math.ceil(Math.floor(packets) / ratesBps.length)
    return Math.max(Math.floor(packets / perPs), most * this.parts.serializationPs(bytes, rateBps))
  }

  private crossingStages(stages: ReadonlyArray<Stage>, bytes: number): Time {
    return stages.reduce((sum, { rateBps, delayPs }) => sum + delayPs + this.parts.serializationPs(bytes, rateBps), 0)
  }

  /** Links by distance from the source, or back: all that shortest paths have. */
  private stages(flow: number, direction: 0 | 1): ReadonlyArray<Stage> | undefined {
    const { flows, ports, routes } = this.world
    const [from, to] = direction === 0 ? [flows.source, flows.destination] : [flows.destination, flows.source]
    const destination = to[flow]!
    const first = this.world.hostPort(from[flow]!, destination, this.udpPorts(flow, direction))
    if (first === undefined) return undefined
    const stages: Array<Stage> = []
    let links = [first]
    while (links.length > 0) {
      stages.push({
        ratesBps: links.map((port) => ports.rateBps[port]!),
        rateBps: Math.max(...links.map((port) => ports.rateBps[port]!)),
        delayPs: Math.min(...links.map((port) => ports.delayPs[port]!)),
      })
      const nodes = new Set(links.map((port) => ports.peerNode(port)))
      nodes.delete(destination)
      links = [...nodes].flatMap((node) => [...routes.nextHops(node, destination)])
    }
    return stages
  }

  private udpPorts(flow: number, direction: 0 | 1): number {
    const { flows } = this.world
    const source = flows.sourcePort[flow]!
    const destination = flows.destinationPort[flow]!
    return (direction === 0 ? source | (destination << 16) : destination | (source << 16)) >>> 0
  }

  private crossing(path: ReadonlyArray<number>, bytes: number): Time {
    const { rateBps, delayPs } = this.world.ports
    return path.reduce((sum, port) => sum + delayPs[port]! + this.parts.serializationPs(bytes, rateBps[port]!), 0)
  }

  /**
   * Of the last packet: it follows the full ones, which are spaced by the slowest link so far; at some link it catches
   * up with them, and from there on only its own serialization counts.
   */
  private lastArrival(path: ReadonlyArray<number>, bytes: number): Time {
    const { mtuBytes, framing } = this.parts.transport
    const { rateBps, delayPs } = this.world.ports
    const packets = packetsOf(bytes, mtuBytes)
    const headers = framing.dataBytes + framing.telemetryBytes
    const full = mtuBytes + headers
    const last = Math.max(framing.leastBytes, bytes - (packets - 1) * mtuBytes + headers)
    if (packets === 1) return this.crossing(path, last)
    let rest = 0
    for (const port of path) rest += this.parts.serializationPs(last, rateBps[port]!)
    let latest = 0
    let before = 0
    let slowest = 0
    let propagation = 0
    for (const port of path) {
      const serialization = this.parts.serializationPs(Math.max(framing.leastBytes, full), rateBps[port]!)
      before += serialization
      slowest = Math.max(slowest, serialization)
      latest = Math.max(latest, before + (packets - 2) * slowest + rest)
      rest -= this.parts.serializationPs(last, rateBps[port]!)
      propagation += delayPs[port]!
    }
    return latest + propagation
  }
}
