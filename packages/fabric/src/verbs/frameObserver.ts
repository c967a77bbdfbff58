import { macOfNode, Route, VerbsCodec } from "@rdmakit/codec"
import { Layout, Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import type { PacketObserver } from "./VerbsNetworkOptions.ts"

const { EXT, EXTENSION_SHIFT } = Layout
const WORDS = 4

/** Takes a frame from its Ethernet header on, without FCS. The octets are lent for the call. */
export type FrameListener = (
  now: Time,
  node: number,
  octets: Uint8Array,
  start: number,
  end: number,
  outward: boolean,
) => void

/**
 * Sees the packets of a program's hosts as the octets they would be: frames of Ethernet, IP, UDP and RoCEv2, ICRC and all,
 * ready for a capture file. For `onPacket`; it changes nothing in the run. It throws a `CodecError` of `codec` at packets of
 * eRDMA, which are TCP's.
 */
export const frameObserver = (onFrame: FrameListener): PacketObserver => {
  const codec = new VerbsCodec()
  // By flow: what is common to all packets of a path.
  const routes = new Map<number, Route>()
  let copy: Packet | undefined
  return (now, node, packet, outward) => {
    let route = routes.get(packet.flow)
    if (route === undefined) {
      route = routeOf(packet)
      routes.set(packet.flow, route)
    }
    copy ??= new Packet(packet.pool)
    // Octets are written around a payload: around that of a copy.
    copy.at(packet.pool.duplicate(packet.handle))
    // A switch may have marked it since its sender wrote the traffic class.
    const at = (copy.extension << EXTENSION_SHIFT) + EXT.trafficClass
    const { extension } = packet.pool
    extension[at] = (extension[at]! & ~3) | packet.ecn
    codec.encode(copy, route)
    onFrame(now, node, codec.octets, codec.start, codec.end, outward)
    packet.pool.release(copy.handle)
  }
}

const routeOf = (packet: Packet): Route =>
  new Route({
    source: addressAt(packet, EXT.ipv6Source),
    destination: addressAt(packet, EXT.ipv6Destination),
    ethernet: { source: macOfNode(packet.source), destination: macOfNode(packet.destination) },
  })

const addressAt = (packet: Packet, word: number): Uint8Array => {
  const address = new Uint8Array(4 * WORDS)
  const view = new DataView(address.buffer)
  const at = (packet.extension << EXTENSION_SHIFT) + word
  for (let index = 0; index < WORDS; index++) view.setInt32(4 * index, packet.pool.extension[at + index]!)
  return address
}
