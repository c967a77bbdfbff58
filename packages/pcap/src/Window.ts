const SMALLEST = 256

const EMPTY = new Uint8Array(0)

/**
 * A stretch of contiguous octets over chunks of any size. Records that lie inside one chunk are read where they are;
 * only one that straddles chunks is copied together, into memory of its own, which grows with what arrives and not
 * with what a length field claims.
 */
export class Window {
  /** The octets at hand; those from {@link at} to {@link end} are unread. */
  octets: Uint8Array = EMPTY
  view: DataView = new DataView(EMPTY.buffer)
  at = 0
  end = 0
  /** Octets read, from the start of the file to {@link at}. */
  offset = 0
  /** Whether `octets` is a copy that this window made and nobody has seen. */
  #own = false
  readonly #queue: Array<Uint8Array> = []
  readonly #reuse: boolean
  /** Memory of this window that was read, where it may be used again. */
  #spare: Uint8Array = EMPTY

  /** With `reuse`, what was read is overwritten by what is gathered later. */
  constructor(reuse = false) {
    this.#reuse = reuse
  }

  push(octets: Uint8Array): void {
    if (octets.length > 0) this.#queue.push(octets)
  }

  /** Whether so many octets stand contiguous at {@link at}; gathers them when they have arrived. */
  holds(count: number): boolean {
    return this.end - this.at >= count || this.#gather(count)
  }

  /** Octets that arrived and were not read, counted no further than `limit`. */
  left(limit: number): number {
    let left = this.end - this.at
    for (let index = 0; index < this.#queue.length && left < limit; index++) left += this.#queue[index]!.length
    return Math.min(left, limit)
  }

  /** Goes past octets that {@link holds} found. */
  advance(count: number): void {
    this.at += count
    this.offset += count
    if (!this.#own || this.at < this.end) return
    if (this.#reuse) this.#spare = this.octets
    this.#look(EMPTY, false)
  }

  #gather(count: number): boolean {
    while (this.end - this.at < count) {
      const next = this.#queue[0]
      if (next === undefined) {
        // The chunk may be used again by its owner once everything in it was read, so the rest moves out.
        if (!this.#own && this.at < this.end) this.#reserve(count, this.end - this.at)
        return false
      }
      if (this.at === this.end) {
        this.#queue.shift()
        this.#look(next, false)
        continue
      }
      const wanted = Math.min(count - (this.end - this.at), next.length)
      this.#reserve(count, this.end - this.at + wanted)
      this.octets.set(next.subarray(0, wanted), this.end)
      this.end += wanted
      if (wanted === next.length) this.#queue.shift()
      else this.#queue[0] = next.subarray(wanted)
    }
    return true
  }

  /** Makes room of its own for `needed` octets from {@link at}, of the `count` to come. */
  #reserve(count: number, needed: number): void {
    if (this.#own && this.octets.length - this.at >= needed) return
    const room = Math.max(needed, Math.min(count, Math.max(SMALLEST, 2 * needed)))
    const rest = this.octets.subarray(this.at, this.end)
    const octets: Uint8Array = this.#spare.length >= room ? this.#spare : new Uint8Array(room)
    this.#spare = EMPTY
    octets.set(rest)
    this.#look(octets, true)
    this.end = rest.length
  }

  #look(octets: Uint8Array, own: boolean): void {
    this.octets = octets
    this.view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
    this.at = 0
    this.end = octets.length
    this.#own = own
  }
}
