const INDEX_BITS = 16
const INDEX_MASK = 0xffff

/**
 * Operations by the 32-bit numbers that peers return. The low half is a place, the high half counts how often it was
 * used: a packet that comes late for an operation that has ended finds none.
 */
export class IdTable<A> {
  private readonly places: Array<A | undefined> = []
  private readonly uses: Array<number> = []
  private readonly free: Array<number> = []
  private readonly max: number
  private taken = 0

  /** At most 65,536. */
  constructor(max: number) {
    this.max = max
  }

  get size(): number {
    return this.taken
  }

  get full(): boolean {
    return this.taken >= this.max
  }

  /** The number of a new entry. There has to be room. */
  add(entry: A): number {
    const place = this.free.pop() ?? this.places.length
    this.places[place] = entry
    this.uses[place] ??= 0
    this.taken++
    return ((this.uses[place]! << INDEX_BITS) | place) >>> 0
  }

  find(id: number): A | undefined {
    const place = id & INDEX_MASK
    return this.uses[place] === id >>> INDEX_BITS ? this.places[place] : undefined
  }

  remove(id: number): void {
    const place = id & INDEX_MASK
    this.places[place] = undefined
    this.uses[place] = (this.uses[place]! + 1) & INDEX_MASK
    this.free.push(place)
    this.taken--
  }

  /** All entries, in the order of their places. */
  *entries(): Generator<A> {
    for (const entry of this.places) if (entry !== undefined) yield entry
  }
}
