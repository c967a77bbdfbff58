import type { Packet } from "@rdmakit/packet"
import type { LoadBalancer, SwitchPorts, Time } from "@rdmakit/protocol"
import { murmur3 } from "@rdmakit/units"
import { Ordinals } from "./Ordinals.ts"

/** Keep the draws of one policy apart from those of another with the same seed. */
const SPRAY_STREAM = 0x53500000
const ROUND_STREAM = 0x52520000
const TIES_STREAM = 0x4c510000

/**
 * Packet spraying: each packet takes any of the next hops, by `hash(seed, switch, ordinal)`, the ordinal that of the
 * choice at the switch (Dixit et al., On the impact of packet spraying, INFOCOM 2013: random packet spraying).
 */
export class HashedSpray implements LoadBalancer {
  readonly perPacket = true
  private readonly seed: number
  private readonly ordinals = new Ordinals()

  /** @param seed 32 bits */
  constructor(seed: number) {
    this.seed = seed
  }

  pick(_now: Time, _packet: Packet, node: number, count: number): number {
    return murmur3(this.seed, SPRAY_STREAM, node, this.ordinals.next(node)) % count
  }
}

/**
 * Packet spraying in turn: the packets that a switch has for one host take its next hops one after the other. Where the
 * turn begins is hashed for each switch and host, or all first packets would meet.
 */
export class RoundRobinSpray implements LoadBalancer {
  readonly perPacket = true
  private readonly seed: number
  /** By the place of the next hops in their table, which is one for each switch and host. */
  private readonly turns = new Ordinals()

  /** @param seed 32 bits */
  constructor(seed: number) {
    this.seed = seed
  }

  pick(_now: Time, packet: Packet, node: number, count: number, _table: Int32Array, from: number): number {
    const first = murmur3(this.seed, ROUND_STREAM, node, packet.destination) % count
    return (first + this.turns.next(from)) % count
  }
}

/**
 * Adaptive routing: the next hop whose egress holds the fewest bytes, all its queues together; among equals a hash of
 * seed, switch and ordinal decides. It sees the switch's own queues and nothing beyond them.
 */
export class LeastQueued implements LoadBalancer {
  readonly perPacket = true
  private readonly seed: number
  private readonly ports: SwitchPorts
  private readonly ordinals = new Ordinals()

  /** @param seed 32 bits @param ports those of the kernel that asks */
  constructor(seed: number, ports: SwitchPorts) {
    this.seed = seed
    this.ports = ports
  }

  pick(_now: Time, _packet: Packet, node: number, count: number, table: Int32Array, from: number): number {
    const { ports } = this
    let least = Number.POSITIVE_INFINITY
    let equals = 0
    for (let i = 0; i < count; i++) {
      const bytes = ports.queueBytes(table[from + i]!)
      if (bytes < least) {
        least = bytes
        equals = 1
      } else if (bytes === least) equals++
    }
    let left = equals === 1 ? 0 : murmur3(this.seed, TIES_STREAM, node, this.ordinals.next(node)) % equals
    for (let i = 0; i < count; i++) {
      if (ports.queueBytes(table[from + i]!) === least && left-- === 0) return i
    }
    return 0
  }
}
