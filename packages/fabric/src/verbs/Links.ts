import type { Time } from "@rdmakit/protocol"
import type { ImpairedKernel, Impairment } from "@rdmakit/sim"
import { type Graph, type Ports, type Routes, TopologyError } from "@rdmakit/topology"

export interface LinksOptions {
  readonly graph: Graph
  readonly ports: Ports
  readonly routes: Routes
  readonly kernel: ImpairedKernel
  /** Runs something as an event of its own, at once. */
  readonly asEvent: (action: () => void) => void
  /** How long routes take to follow, ps. */
  readonly convergencePs: Time
  /** `reroute` is to be called at a time. */
  readonly rerouteAt: (time: Time, link: number, up: boolean) => void
  /** A link has gone down or come up: a port of a link that went down drops what it holds. */
  readonly onChange: (link: number, up: boolean) => void
  /** Routes have followed. */
  readonly onReroute: () => void
}

/** Which way over a link: from its end a to its end b, back, or both. */
export type Direction = "both" | "forward" | "backward"

/**
 * The links of a network, for faults: they go down and up, and what crosses them is lost, damaged, repeated, delayed or
 * reordered by seeded chance. A change happens as the next event of the moment it is asked for.
 */
export class Links {
  private readonly options: LinksOptions
  /** As they were asked to be, and as they are. */
  private readonly asked: Array<boolean>
  private readonly up: Array<boolean>

  constructor(options: LinksOptions) {
    this.options = options
    this.asked = options.graph.links.map(() => true)
    this.up = this.asked.slice()
  }

  /** How many there are, numbered from 0 as in the graph. */
  get count(): number {
    return this.options.graph.links.length
  }

  /** The link of a host, the first of several. @throws TopologyError "unknown-node" */
  ofHost(node: number): number {
    const link = this.options.graph.links.findIndex(({ a, b }) => a === node || b === node)
    if (link < 0) throw new TopologyError("unknown-node", `node ${node} has no link`, { node })
    return link
  }

  isUp(link: number): boolean {
    return this.up[this.known(link)]!
  }

  /**
   * From now on this happens to what crosses a link; undefined: nothing any more. What it says of neither is as if it were 0.
   * @throws TopologyError "unknown-link", "loss" when a chance is none
   */
  impair(link: number, impairment: Impairment | undefined, direction: Direction = "both"): void {
    this.known(link)
    if (impairment !== undefined) check(link, impairment)
    const { kernel, asEvent } = this.options
    asEvent(() => {
      if (direction !== "backward") kernel.impair(2 * link, impairment)
      if (direction !== "forward") kernel.impair(2 * link + 1, impairment)
    })
  }

  /**
   * Takes a link down, or up again: routes follow, at once or when they have converged. What is on it, or waits at its
   * ports, is lost.
   * @throws TopologyError "unknown-link"
   */
  set(link: number, up: boolean): void {
    this.known(link)
    if (this.asked[link] === up) return
    this.asked[link] = up
    this.options.asEvent(() => this.change(link, up))
  }

  private change(link: number, up: boolean): void {
    const { kernel, onChange, convergencePs, rerouteAt } = this.options
    if (this.up[link] === up) return
    this.up[link] = up
    if (!up) kernel.takeDown(link)
    onChange(link, up)
    if (convergencePs === 0) this.reroute(link, up)
    else rerouteAt(kernel.now + convergencePs, link, up)
    if (up) kernel.bringUp(link)
    // What a host would send by it and has no other way is lost at once, as later packets are.
    else for (const port of [2 * link, 2 * link + 1]) kernel.kick(kernel.now, port)
  }

  /** Routing has found out what became of a link. */
  reroute(link: number, up: boolean): void {
    const { routes, kernel, onReroute } = this.options
    routes.setLink(link, up)
    kernel.paths.clear()
    onReroute()
  }

  private known(link: number): number {
    if (this.options.graph.links[link] !== undefined) return link
    throw new TopologyError("unknown-link", `link ${link} does not exist`, { link })
  }
}

const check = (link: number, impairment: Impairment): void => {
  for (const name of ["loss", "corruption", "duplication", "reordering"] as const) {
    const chance = impairment[name] ?? 0
    if (chance >= 0 && chance <= 1) continue
    throw new TopologyError("loss", `link ${link}: ${name} ${chance} is not between 0 and 1`, { link })
  }
  const { reorderPs = 0, delayPs: [least, most] = [0, 0] } = impairment
  if (reorderPs >= 0 && least >= 0 && least <= most) return
  throw new TopologyError("delay", `link ${link}: times are at least 0, and the least at most the most`, { link })
}
