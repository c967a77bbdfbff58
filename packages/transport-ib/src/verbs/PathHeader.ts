import { Flag, Layout, type Packet } from "@rdmakit/packet"
import type { PeerPath } from "@rdmakit/protocol"

const { EXT } = Layout
const ROCE_PORT = 4791
const ADDRESS_WORDS = 8

/** What every packet on a path carries of it, as words ready to be written. */
export class PathHeader {
  path: PeerPath | undefined = undefined
  /** The addresses are of IPv6. */
  ipv6 = false
  private readonly addresses = new Int32Array(ADDRESS_WORDS)

  set(path: PeerPath): void {
    if (path === this.path) return
    this.path = path
    for (let word = 0; word < 4; word++) {
      this.addresses[word] = wordAt(path.sourceGid, 4 * word)
      this.addresses[4 + word] = wordAt(path.destinationGid, 4 * word)
    }
    this.ipv6 = !(this.addresses[4] === 0 && this.addresses[5] === 0 && this.addresses[6] === 0xffff)
  }

  clear(): void {
    this.path = undefined
  }

  /**
   * Writes record and extension of a packet on this path; it has been extended already. The path must be set.
   * @param capable the packet is ECN-capable even where the path's traffic class does not say so
   */
  put(out: Packet, meta: number, destinationQp: number, partition: number, capable: number): void {
    const { addresses } = this
    const path = this.path!
    const at = out.extend()
    const { extension } = out.pool
    for (let word = 0; word < ADDRESS_WORDS; word++) extension[at + EXT.ipv6Source + word] = addresses[word]!
    extension[at + EXT.flowLabel] = path.flowLabel
    const trafficClass = (path.trafficClass & 3) === 0 ? path.trafficClass | capable : path.trafficClass
    extension[at + EXT.trafficClass] = trafficClass
    extension[at + EXT.hopLimit] = path.hopLimit
    extension[at + EXT.destinationQp] = destinationQp
    extension[at + EXT.partition] = partition
    // Only the payload's flag is set by then.
    const slab = out.meta & Flag.SlabPayload
    out.meta = meta | slab | (path.priority << 24) | ((trafficClass & 3) << 28)
    out.setNodes(path.node, path.peer)
    out.udpPorts = (path.udpSourcePort | (ROCE_PORT << 16)) >>> 0
    out.flow = path.flow
  }
}

const wordAt = (octets: Uint8Array, at: number): number =>
  (octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!
