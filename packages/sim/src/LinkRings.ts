/** An entry is 16 bytes: arrival (a double), packet handle, order number of the arrival. */
const HANDLE = 2
const ORDER = 3
const ENTRIES_AT_FIRST = 16

/**
 * The packets on every link, a ring for each: they arrive in the order they were sent, so only the first one's arrival
 * is an event. Rings lie in one arena; one that overflows moves to a place twice as large.
 */
export class LinkRings {
  f64: Float64Array
  i32: Int32Array
  private used: number

  constructor(links: number) {
    this.used = links * ENTRIES_AT_FIRST
    const buffer = new ArrayBuffer(this.used * 16)
    this.f64 = new Float64Array(buffer)
    this.i32 = new Int32Array(buffer)
  }

  /** Start and mask of a link's first ring. */
  static first(link: number): { readonly start: number; readonly mask: number } {
    return { start: link * ENTRIES_AT_FIRST, mask: ENTRIES_AT_FIRST - 1 }
  }

  write(entry: number, arrival: number, handle: number, order: number): void {
    this.f64[entry * 2] = arrival
    this.i32[entry * 4 + HANDLE] = handle
    this.i32[entry * 4 + ORDER] = order
  }
  handleAt(entry: number): number {
    return this.i32[entry * 4 + HANDLE]!
  }
  orderAt(entry: number): number {
    return this.i32[entry * 4 + ORDER]!
  }

  /** Moves a full ring (first entry `head`) to one of twice the size; returns where that starts. */
  double(start: number, mask: number, head: number): number {
    const size = mask + 1
    const to = this.used
    this.reserve(2 * size)
    for (let i = 0; i < size; i++) {
      const from = (start + ((head + i) & mask)) * 4
      const at = (to + ((head + i) & (2 * size - 1))) * 4
      this.i32.copyWithin(at, from, from + 4)
    }
    return to
  }

  private reserve(entries: number): void {
    this.used += entries
    if (this.used * 4 <= this.i32.length) return
    const buffer = new ArrayBuffer(Math.max(this.used * 16, this.i32.length * 8))
    const i32 = new Int32Array(buffer)
    i32.set(this.i32)
    this.i32 = i32
    this.f64 = new Float64Array(buffer)
  }
}
