import type { Packet } from "@rdmakit/packet"
import type { LoadBalancer, Time } from "@rdmakit/protocol"
import { murmur3 } from "@rdmakit/units"

/** Address of a node in the HPCC simulator: 11.x.y.1. */
const addressOf = (node: number): number => 0x0b000001 + ((node >>> 8) << 16) + ((node & 255) << 8)

/** ECMP of the HPCC simulator: the hash is seeded with the switch's node number (SwitchNode::EcmpHash). */
export const ns3Ecmp: LoadBalancer = {
  pick(_now: Time, packet: Packet, node: number, count: number): number {
    return murmur3(node, addressOf(packet.source), addressOf(packet.destination), packet.udpPorts) % count
  },
}

/**
 * ECMP whose hash is seeded by run and switch. Every switch mixes its own seed in before the first word and again at
 * the end, so that the choice at one switch says nothing of the choice at the next: with one seed, or seeds that differ
 * in a few low bits, flows that met on one uplink would meet on the next (polarisation).
 */
export const seededEcmp = (seed: number): LoadBalancer => ({
  pick(_now: Time, packet: Packet, node: number, count: number): number {
    const own = murmur3(0x2545f491, node, seed, 0x9e3779b9)
    const hash = murmur3(own, packet.source, packet.destination, packet.udpPorts)
    return murmur3(seed, hash, own, node) % count
  },
})

/** ns-3's Hash32 over (source, destination, ports): murmur3 with ns-3's own seed. A host's port is hash % ports. */
export const ns3QueuePairHash = (source: number, destination: number, ports: number): number =>
  murmur3(0x8badf00d, addressOf(source), addressOf(destination), ports)
