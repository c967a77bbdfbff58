import { Layout } from "@rdmakit/packet"
import type { Graph } from "./Graph.ts"
import { TopologyError } from "./TopologyError.ts"

/** Most nodes of a network: a packet names its source and its destination with 16 bits each. */
export const NODES_MAX = 1 << 16

/** Most links of a network: a packet names the port it came by, of which a link has two. */
export const LINKS_MAX = Layout.PORTS_MAX / 2

/** Memory of the routes: nodes times hosts, of which each takes some twelve bytes and its next hops. */
const ROUTES_MAX = 250e6

/** How large a network is whose routes find no room, and how large it may be, in words; undefined: they do. */
export const networkTooLarge = ({ nodes, isSwitch }: Graph): string | undefined => {
  const hosts = isSwitch.reduce((sum, flag) => sum + 1 - flag, 0)
  if (nodes * hosts <= ROUTES_MAX) return undefined
  return `this is ${nodes} nodes and ${hosts} hosts, and the product of both is ${ROUTES_MAX / 1e6} million at most`
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
