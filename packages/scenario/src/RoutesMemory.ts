import type { Graph } from "@rdmakit/topology"

/** Memory of the routes: nodes times hosts. */
const ROUTES_MAX = 2.5e8

/** How large a network is whose routes find no room; undefined: they do. */
export const networkTooLarge = ({ nodes, isSwitch }: Graph): string | undefined => {
  const hosts = isSwitch.reduce((sum, flag) => sum + 1 - flag, 0)
  return nodes * hosts > ROUTES_MAX ? `this is ${nodes} nodes and ${hosts} hosts` : undefined
}
