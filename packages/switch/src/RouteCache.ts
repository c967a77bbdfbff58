/** Equal-cost next hops, as `topology`'s `Routes` holds them. */
export interface NextHops {
  /** Index of a host among the hosts, by node; -1 for a switch. */
  readonly hostIndex: Int32Array
  readonly hosts: { readonly length: number }
  /** Where the next hops of (node, host) start in `table`: start[node · hosts.length + host]. */
  readonly start: Int32Array
  /** Egress ports. */
  readonly table: Int32Array
}

/**
 * The path of every flow and direction, filled in as its first packet travels: one lookup a hop after that. One cache
 * serves all switches of a world.
 */
export class RouteCache {
  /** Slots per path: the most switches it may pass. */
  readonly stride: number
  /** Egress port + 1 by flow · stride + hop; 0: not looked up yet. */
  slots: Int32Array

  constructor(hopsMax: number) {
    this.stride = hopsMax + 1
    this.slots = new Int32Array(1024 * this.stride)
  }

  /** Makes room for a flow index. */
  ensure(flow: number): void {
    const needed = (flow + 1) * this.stride
    if (needed <= this.slots.length) return
    const grown = new Int32Array(Math.max(needed, this.slots.length * 2))
    grown.set(this.slots)
    this.slots = grown
  }

  clear(): void {
    this.slots.fill(0)
  }
}
