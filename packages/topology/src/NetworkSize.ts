import { Layout } from "@rdmakit/packet"
import type { Graph } from "./Graph.ts"
import { TopologyError } from "./TopologyError.ts"

/** Most nodes of a network: a packet names its source and its destination with 16 bits each. */
export const NODES_MAX = 1 << 16

/** Most links of a network: a packet names the port it came by, of which a link has two. */
export const LINKS_MAX = Layout.PORTS_MAX / 2

/** Memory of the routes: nodes times hosts, of which each takes some twelve bytes and its next hops. */
const ROUTES_MAX = 2.5e8

/**
 * How large a network is whose routes find no room, in words; undefined: they do. Room is for 250 million pairs of a node
 * and a host.
 */
export const networkTooLarge = ({ nodes, isSwitch }: Graph): string | undefined => {
  const hosts = isSwitch.reduce((sum, flag) => sum + 1 - flag, 0)
  return nodes * hosts > ROUTES_MAX ? `this is ${nodes} nodes and ${hosts} hosts` : undefined
}

/** Refuses so many nodes and links that packets cannot name them: a TopologyError "size", or undefined. */
export const sizeError = (nodes: number, links: number): TopologyError | undefined => {
  if (nodes > NODES_MAX) {
    return new TopologyError("size", `${nodes} nodes: packets can name ${NODES_MAX}, so simulate a smaller network`)
  }
  if (links > LINKS_MAX) {
    return new TopologyError("size", `${links} links: packets can name ${LINKS_MAX}, so simulate a smaller network`)
  }
  return undefined
}
