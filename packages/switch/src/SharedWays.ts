import type { NextHops } from "./NextHops.ts"

/**
 * The next hops of one switch, each set of them once: most hosts are reached by the same. What a switch looks up for
 * every packet then fits a cache, where the table of all switches and hosts does not.
 */
export class SharedWays {
  /** By host index: its set. */
  private setOf = new Uint16Array(0)
  /** By set: where its next hops begin in the table of the routes, and how many there are. */
  readonly from: Array<number> = []
  readonly count: Array<number> = []
  private readonly routes: NextHops
  private readonly node: number
  /** The routes that the sets were made of: they are replaced when a link goes down or comes up. */
  private start: Int32Array | undefined = undefined

  constructor(routes: NextHops, node: number) {
    this.routes = routes
    this.node = node
  }

  /** The set of next hops to a host, by its index. */
  towards(host: number): number {
    if (this.start !== this.routes.start) this.make()
    return this.setOf[host]!
  }

  private make(): void {
    const { start, table, hosts } = this.routes
    const row = this.node * hosts.length
    const known = new Map<string, number>()
    this.start = start
    this.from.length = 0
    this.count.length = 0
    this.setOf = new Uint16Array(hosts.length)
    for (let host = 0; host < hosts.length; host++) {
      const begin = start[row + host]!
      const end = start[row + host + 1]!
      const name = table.subarray(begin, end).join()
      let set = known.get(name)
      if (set === undefined) {
        set = this.from.length
        known.set(name, set)
        this.from.push(begin)
        this.count.push(end - begin)
      }
      this.setOf[host] = set
    }
  }
}
