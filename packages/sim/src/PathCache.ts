/**
 * The path of every flow and direction, filled in as its first packet travels: one lookup a hop after that. For routes
 * that hold for a whole flow; a switch that chooses for each packet goes past it.
 */
export class PathCache {
  /** Slots per path: the most switches it may pass. */
  readonly stride: number
  /** Egress port + 1 by flow · stride + hop; 0: not known yet. */
  slots: Int32Array

  constructor(hopsMax: number) {
    this.stride = hopsMax
    this.slots = new Int32Array(1024 * hopsMax)
  }

  /** Egress port + 1 of a flow at its `hop`-th switch (from 0); 0: not known. */
  at(flow: number, hop: number): number {
    // Beyond the table lies undefined: a flow that nobody made room for is not known either.
    return hop < this.stride ? this.slots[flow * this.stride + hop]! | 0 : 0
  }

  /** @param egress port + 1 */
  set(flow: number, hop: number, egress: number): void {
    this.ensure(flow)
    this.slots[flow * this.stride + hop] = egress
  }

  /** Makes room for a flow index. */
  ensure(flow: number): void {
    const needed = (flow + 1) * this.stride
    if (needed <= this.slots.length) return
    const grown = new Int32Array(Math.max(needed, this.slots.length * 2))
    grown.set(this.slots)
    this.slots = grown
  }

  /** Links went up or down: every path is void. */
  clear(): void {
    this.slots.fill(0)
  }
}
