import type { World } from "@rdmakit/fabric"

/**
 * The port of its destination at the link by which a flow's packets came there: a host with several links has its flows
 * shared out among them. Undefined where that is not known: packets took several ways, none arrived, or routes changed
 * afterwards.
 */
export const lastPortOf = (world: World, flow: number): number | undefined => {
  const { flows, kernel, ports, routes } = world
  const destination = flows.destination[flow]!
  const own = ports.portsOf(destination)
  if (own.length === 1) return own[0]
  let port = world.portOf(2 * flow)
  for (let hop = 0; port !== undefined && hop <= routes.maxHops; hop++) {
    const node = ports.peerNode(port)
    if (node === destination) return ports.peer(port)
    const taken = kernel.paths.at(2 * flow, hop) - 1
    port = taken >= 0 && ports.node[taken] === node ? taken : undefined
  }
  return undefined
}
