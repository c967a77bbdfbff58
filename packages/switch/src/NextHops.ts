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
