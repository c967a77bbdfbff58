import { Flag, Layout, type Packet } from "@rdmakit/packet"
import type { PeerPath } from "@rdmakit/protocol"

const { EXT } = Layout
const ADDRESS_WORDS = 8

/** What every packet to a peer carries of the way there. */
export class PathHeader {
  readonly path: PeerPath
  /** The addresses are of IPv6. */
  readonly ipv6: boolean
  private readonly addresses = new Int32Array(ADDRESS_WORDS)

  constructor(path: PeerPath) {
    this.path = path
    for (let word = 0; word < ADDRESS_WORDS / 2; word++) {
      this.addresses[word] = wordAt(path.sourceGid, 4 * word)
      this.addresses[ADDRESS_WORDS / 2 + word] = wordAt(path.destinationGid, 4 * word)
    }
    this.ipv6 = !(this.addresses[4] === 0 && this.addresses[5] === 0 && this.addresses[6] === 0xffff)
  }

  /**
   * Writes a packet's record and extension, and extends it.
   * @param meta opcode and flags
   * @param ecn what the packet has where the path's traffic class says nothing
   * @returns where its extension begins
   */
  put(out: Packet, meta: number, ecn: number): number {
    const { addresses, path } = this
    const at = out.extend()
    const { extension } = out.pool
    for (let word = 0; word < ADDRESS_WORDS; word++) extension[at + EXT.ipv6Source + word] = addresses[word]!
    const trafficClass = (path.trafficClass & 3) === 0 ? path.trafficClass | ecn : path.trafficClass
    extension[at + EXT.flowLabel] = path.flowLabel
    extension[at + EXT.trafficClass] = trafficClass
    extension[at + EXT.hopLimit] = path.hopLimit
    // Of what was there only that the payload is of octets.
    out.meta = meta | (out.meta & Flag.SlabPayload) | (path.priority << 24) | ((trafficClass & 3) << 28)
    out.setNodes(path.node, path.peer)
    out.flow = path.flow
    return at
  }
}

const wordAt = (octets: Uint8Array, at: number): number =>
  (octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!
