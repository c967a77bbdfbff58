import { type Ns3Topology, switchFlags } from "./Topology.ts"
import { TR_PORT_OCTETS, type TrHeader, type TrPort } from "./Tr.ts"

/**
 * The header of a trace of a network: switches by id, then hosts by id, each with its interfaces in order, as in the
 * original's small outputs. Its real order is that of an unordered map, so readers must not rely on it.
 */
export const trHeaderOf = (topology: Ns3Topology, windowBytes: number): TrHeader => {
  const speeds: Array<Array<number>> = Array.from({ length: topology.nodes }, () => [])
  for (const { a, b, rateBps } of topology.links) {
    speeds[a]!.push(rateBps)
    speeds[b]!.push(rateBps)
  }
  const flags = switchFlags(topology)
  const ports: Array<TrPort> = []
  for (const kind of [1, 0]) {
    speeds.forEach((node, id) => {
      if (flags[id] === kind) for (const [index, bps] of node.entries()) ports.push({ node: id, intf: index + 1, bps })
    })
  }
  return { ports, windowBytes }
}

/** The octets of a header, its ports in the order given. */
export const encodeTrHeader = (header: TrHeader): Uint8Array => {
  const octets = new Uint8Array(8 + TR_PORT_OCTETS * header.ports.length)
  const view = new DataView(octets.buffer)
  view.setUint32(0, header.ports.length, true)
  header.ports.forEach(({ node, intf, bps }, index) => {
    const at = 4 + TR_PORT_OCTETS * index
    view.setUint16(at, node, true)
    view.setUint8(at + 2, intf)
    view.setUint32(at + 3, bps, true)
    view.setUint32(at + 7, bps / 0x100000000, true)
  })
  view.setUint32(octets.length - 4, header.windowBytes, true)
  return octets
}
