import { isMapped } from "@rdmakit/codec"
import type { Adapter, AddressVector, GidEntry, PeerPath, Time, VerbsEngine, World } from "@rdmakit/protocol"
import { murmur3 } from "@rdmakit/units"
import { gidsOfNode, isMulticast, nodeOfGid } from "./Gids.ts"
import { DEFAULT_PRIORITY } from "./VerbsEndpoint.ts"
import type { VerbsNetwork } from "./VerbsNetwork.ts"

/** Upper two bits of the UDP source ports of RoCEv2, and the bits below them that spread flows (IBTA 1.7 Annex A17.9.2). */
const SOURCE_PORTS = 0xc000
const SOURCE_PORT_BITS = 0x3fff
/** A packet to a group names no node. */
export const GROUP_NODE = 0xffff

/** One host of a simulated network, as its device sees it. */
export class HostWorld implements World {
  readonly node: number
  readonly gids: ReadonlyArray<GidEntry>
  readonly link: World["link"]
  /** The device. */
  adapter: Adapter | undefined = undefined
  private readonly network: VerbsNetwork

  constructor(network: VerbsNetwork, node: number, lineRateBps: number, mtuBytes: number) {
    this.network = network
    this.node = node
    this.gids = gidsOfNode(node)
    this.link = {
      lineRateBps,
      mtuBytes,
      get up() {
        return network.isLinked(node)
      },
    }
  }

  get now(): Time {
    return this.network.now
  }

  attach(adapter: Adapter): void {
    this.adapter = adapter
  }

  resolve(vector: AddressVector, qpn: number): PeerPath | undefined {
    const { network, node } = this
    const source = this.gids.find(({ index }) => index === vector.sourceGidIndex)
    const { destinationGid, flowLabel } = vector
    if (source === undefined || destinationGid.length !== 16 || isMapped(source.gid) !== isMapped(destinationGid))
      return undefined
    const spread = flowLabel === 0 ? murmur3(network.seed, node, qpn, 0) : flowLabel ^ (flowLabel >> 14)
    const udpSourcePort = SOURCE_PORTS | (spread & SOURCE_PORT_BITS)
    const isGroup = isMulticast(destinationGid)
    const peer = isGroup ? GROUP_NODE : nodeOfGid(destinationGid)
    if (peer === undefined || !(isGroup || network.isHost(peer))) return undefined
    return {
      node,
      peer,
      flow: isGroup
        ? network.paths.toGroup(node, network.groups.numberOf(destinationGid), udpSourcePort)
        : network.paths.to(node, peer, udpSourcePort),
      udpSourcePort,
      trafficClass: vector.trafficClass,
      hopLimit: vector.hopLimit,
      flowLabel,
      // Queue 0 of switches is for control; a service level that would mean it has the default priority.
      priority: (vector.serviceLevel & 7) === 0 ? DEFAULT_PRIORITY : vector.serviceLevel & 7,
      sourceGid: source.gid,
      destinationGid: destinationGid.slice(),
      lineRateBps: this.link.lineRateBps,
      baseRttPs: network.baseRttPs(node, isGroup ? node : peer),
    }
  }

  kick(engine: VerbsEngine): void {
    this.network.kick(this.node, engine)
  }
  detach(engine: VerbsEngine): void {
    this.network.detach(engine)
  }
  joinGroup(gid: Uint8Array): void {
    this.network.groups.join(gid, this.node)
  }
  leaveGroup(gid: Uint8Array): void {
    this.network.groups.leave(gid, this.node)
  }
}
