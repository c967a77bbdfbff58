import type { Time } from "@rdmakit/protocol"
import type { ImpairedKernel, Impairment, ReceiverLimit } from "@rdmakit/sim"
import { type Graph, type Ports, type Routes, TopologyError } from "@rdmakit/topology"
import { checkDirection, checkHost, checkImpairment, checkLink, checkReceiver } from "../FaultChecks.ts"
import { Impairments, portsOfLink } from "../Impairments.ts"
import type { Direction, Fault } from "../LinkFaults.ts"
import { check } from "../NetworkOptionError.ts"

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

/**
 * The links of a network, for faults: they go down and up, and what crosses them is lost, damaged, repeated, delayed or
 * reordered by seeded chance; and its hosts may take packets slowly. A change happens as the next event of the moment it is asked for.
 */
export class Links {
  private readonly options: LinksOptions
  private readonly impairments: Impairments
  /** As they were asked to be, and as they are. */
  private readonly asked: Array<boolean>
  private readonly up: Array<boolean>

  constructor(options: LinksOptions) {
    this.options = options
    this.asked = options.graph.links.map(() => true)
    this.up = this.asked.slice()
    this.impairments = new Impairments(options.kernel)
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
   * @throws TopologyError "unknown-link", "loss" when a chance is none, "delay"; NetworkOptionError for what is no impairment
   */
  impair(link: number, impairment: Impairment | undefined, direction: Direction = "both"): void {
    this.known(link)
    if (impairment !== undefined) checkImpairment(link, impairment)
    checkDirection("direction", direction)
    const { kernel, asEvent } = this.options
    asEvent(() => {
      for (const port of portsOfLink(link, direction)) kernel.impair(port, impairment)
    })
  }

  /**
   * From now on a host takes what arrives no faster than this, or stalls; undefined: at once, and all that waits.
   * @throws TopologyError "not-a-host", "rate", "buffer"; NetworkOptionError for what is no limit
   */
  limitReceiver(host: number, receiver: ReceiverLimit | undefined): void {
    checkHost(host, this.options.graph)
    checkReceiver(host, receiver)
    const { kernel, asEvent } = this.options
    asEvent(() => kernel.limitReceiver(host, receiver))
  }

  /** A fault of the plan happens. */
  apply(fault: Fault): void {
    this.impairments.apply(fault)
    if (!("host" in fault) && fault.up !== undefined) this.set(fault.link, fault.up)
  }

  /**
   * Takes a link down, or up again: routes follow, at once or when they have converged. What is on it, or waits at its
   * ports, is lost.
   * @throws TopologyError "unknown-link"; NetworkOptionError
   */
  set(link: number, up: boolean): void {
    this.known(link)
    check("up", up, typeof up === "boolean", "true or false")
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
    checkLink(link, this.options.graph)
    return link
  }
}
