import type { Packet } from "@rdmakit/packet"
import type { LoadBalancer, Time } from "@rdmakit/protocol"

/** Address of a node in the HPCC simulator: 11.x.y.1. */
const addressOf = (node: number): number => 0x0b000001 + ((node >>> 8) << 16) + ((node & 255) << 8)

/** MurmurHash3 x86-32 over three words (Appleby, public domain), as the simulator's switch runs it. */
export function murmur3(a: number, b: number, c: number, seed: number): number {
  let h = seed
  h = mix(h, a)
  h = mix(h, b)
  h = mix(h, c)
  h ^= 12
  h ^= h >>> 16
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  h ^= h >>> 16
  return h >>> 0
}

/** As the simulator has it: `h += (h << 2) + c` is h·5 + c. */
function mix(h: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51)
  k = (k << 15) | (k >>> 17)
  k = Math.imul(k, 0x1b873593)
  const x = h ^ k
  const r = (x << 13) | (x >>> 19)
  return (Math.imul(r, 5) + 0xe6546b64) | 0
}

/** ECMP of the HPCC simulator: the hash is seeded with the switch's node number (SwitchNode::EcmpHash). */
export const ns3Ecmp: LoadBalancer = {
  pick(_now: Time, packet: Packet, node: number, count: number): number {
    return murmur3(addressOf(packet.source), addressOf(packet.destination), packet.udpPorts, node) % count
  },
}

/**
 * ECMP whose hash is seeded by run and switch. Every switch mixes its own seed in before the first word and again at
 * the end, so that the choice at one switch says nothing of the choice at the next: with one seed, or seeds that differ
 * in a few low bits, flows that met on one uplink would meet on the next (polarisation).
 */
export const seededEcmp = (seed: number): LoadBalancer => ({
  pick(_now: Time, packet: Packet, node: number, count: number): number {
    const own = murmur3(node, seed, 0x9e3779b9, 0x2545f491)
    const hash = murmur3(packet.source, packet.destination, packet.udpPorts, own)
    return murmur3(hash, own, node, seed) % count
  },
})

/** ns-3's Hash32 over (source, destination, ports): murmur3 with ns-3's own seed. A host's port is hash % ports. */
export const ns3QueuePairHash = (source: number, destination: number, ports: number): number =>
  murmur3(addressOf(source), addressOf(destination), ports, 0x8badf00d)
