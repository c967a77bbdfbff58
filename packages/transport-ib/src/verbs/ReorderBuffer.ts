import { Packet } from "@rdmakit/packet"

const NONE = -1

/** Packets that came ahead of their turn: copies, by number, within a window that moves up. */
export class ReorderBuffer {
  /** How many it holds. */
  count = 0
  private readonly handles: Int32Array
  private readonly numbers: Float64Array
  private readonly mask: number
  private cursor: Packet | undefined = undefined

  /** @param window numbers are less than this ahead of the one expected; at least 1 */
  constructor(window: number) {
    let places = 1
    while (places < window) places *= 2
    this.handles = new Int32Array(places).fill(NONE)
    this.numbers = new Float64Array(places).fill(NONE)
    this.mask = places - 1
  }

  has(number: number): boolean {
    return this.numbers[number & this.mask] === number
  }

  /** Keeps a copy of a packet, unless there is one. */
  keep(number: number, packet: Packet): void {
    const place = number & this.mask
    if (this.numbers[place] === number) return
    this.cursor ??= new Packet(packet.pool)
    this.drop(this.numbers[place]!)
    this.numbers[place] = number
    this.handles[place] = packet.pool.duplicate(packet.handle)
    this.count++
  }

  /** The packet of this number, which there is; good until it is dropped. */
  at(number: number): Packet {
    return this.cursor!.at(this.handles[number & this.mask]!)
  }

  /** Gives up the packet of this number, if there is one. */
  drop(number: number): void {
    const place = number & this.mask
    if (number === NONE || this.numbers[place] !== number) return
    this.numbers[place] = NONE
    this.cursor!.pool.release(this.handles[place]!)
    this.count--
  }

  /** Gives up those before this number. */
  dropBefore(number: number): void {
    if (this.count === 0) return
    for (let place = 0; place <= this.mask; place++) {
      const held = this.numbers[place]!
      if (held !== NONE && held < number) this.drop(held)
    }
  }

  /** The first number from `start` on, before `end`, that it holds; `end` when there is none. */
  firstFrom(start: number, end: number): number {
    if (this.count === 0) return end
    let first = end
    for (let place = 0; place <= this.mask; place++) {
      const held = this.numbers[place]!
      if (held >= start && held < first) first = held
    }
    return first
  }

  clear(): void {
    this.dropBefore(Number.POSITIVE_INFINITY)
  }
}
