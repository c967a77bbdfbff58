import type { Packet } from "@rdmakit/packet"
import type { LoadBalancer, Time } from "@rdmakit/protocol"
import { murmur3 } from "@rdmakit/units"

/** Keeps the seeds of switches apart from draws with the same seed. */
const ENTROPY_STREAM = 0x454e0000

/**
 * ECMP by what each packet itself carries: every switch hashes its addresses and UDP ports, with a seed of the switch's
 * own. Packets with the same ports go the same way, so a sender that changes the UDP source port of an encapsulation (the
 * entropy of RFC 7348 §5 and of RoCEv2) chooses among the ways through the network, packet by packet, without the network
 * knowing of flows. For senders that keep their port it is `seededEcmp` with other choices.
 */
export class EntropyEcmp implements LoadBalancer {
  readonly perPacket = true
  readonly byPacket = true
  private readonly seed: number
  /** Of each switch, as far as they have been asked; of others 0. */
  private own = new Int32Array(64)

  /** @param seed 32 bits */
  constructor(seed: number) {
    this.seed = seed
  }

  pick(_now: Time, packet: Packet, node: number, count: number): number {
    const own = this.own[node] || this.seedOf(node)
    const hash = murmur3(own, packet.source, packet.destination, packet.udpPorts)
    // The upper half of the hash, as a share of all: a division would cost as much as the hash.
    return ((hash >>> 16) * count) >>> 16
  }

  private seedOf(node: number): number {
    if (node >= this.own.length) {
      const grown = new Int32Array(Math.max(node + 1, 2 * this.own.length))
      grown.set(this.own)
      this.own = grown
    }
    const seed = murmur3(this.seed, ENTROPY_STREAM, node, 0) | 0 || 1
    this.own[node] = seed
    return seed
  }
}
