/** Words of an address of 16 octets. */
const WORDS = 4

/** 32 bits from `at` on, high octet first, as packet records have the words of an address. */
export const wordAt = (octets: Uint8Array, at: number): number =>
  (octets[at]! << 24) | (octets[at + 1]! << 16) | (octets[at + 2]! << 8) | octets[at + 3]!

/**
 * Numbers for addresses of 16 octets, from 0 on in the order they were added; those of removed ones are given again. Looking
 * one up makes nothing.
 */
export class AddressTable {
  private readonly limit: number
  private slots = new Int32Array(64)
  private words = new Int32Array(64 * WORDS)
  /** Numbers that were given, and those of them that are free again. */
  private given = 0
  private readonly free: Array<number> = []

  /** @param limit most addresses */
  constructor(limit: number) {
    this.limit = limit
  }

  /** The number of an address given as words; -1: it was never added. */
  find(a: number, b: number, c: number, d: number): number {
    const { slots, words } = this
    const mask = slots.length - 1
    for (let at = hash(a, b, c, d) & mask; ; at = (at + 1) & mask) {
      const index = slots[at]! - 1
      if (index < 0) return -1
      const word = index * WORDS
      if (words[word] === a && words[word + 1] === b && words[word + 2] === c && words[word + 3] === d) return index
    }
  }

  /** The number of an address, which is added when it is not there; -1: there is no room. */
  add(address: Uint8Array): number {
    const [a, b, c, d] = [0, 4, 8, 12].map((at) => wordAt(address, at)) as [number, number, number, number]
    const found = this.find(a, b, c, d)
    if (found >= 0) return found
    if (this.free.length === 0 && this.given >= this.limit) return -1
    if (2 * (this.given + 1) > this.slots.length) this.grow()
    const index = this.free.pop() ?? this.given++
    this.words.set([a, b, c, d], index * WORDS)
    this.place(index)
    return index
  }

  /** Takes an address out: its number may be another's next. */
  remove(index: number): void {
    const { slots } = this
    const mask = slots.length - 1
    let hole = this.homeOf(index)
    while (slots[hole] !== index + 1) hole = (hole + 1) & mask
    // Those behind that the hole would cut off from where their search begins move into it.
    for (let at = (hole + 1) & mask; slots[at] !== 0; at = (at + 1) & mask) {
      const home = this.homeOf(slots[at]! - 1)
      if (((at - home) & mask) < ((at - hole) & mask)) continue
      slots[hole] = slots[at]!
      hole = at
    }
    slots[hole] = 0
    this.free.push(index)
  }

  /** The slot where the search for an address begins. */
  private homeOf(index: number): number {
    const { words } = this
    const word = index * WORDS
    return hash(words[word]!, words[word + 1]!, words[word + 2]!, words[word + 3]!) & (this.slots.length - 1)
  }

  private place(index: number): void {
    const { slots } = this
    const mask = slots.length - 1
    let at = this.homeOf(index)
    while (slots[at] !== 0) at = (at + 1) & mask
    slots[at] = index + 1
  }

  private grow(): void {
    const words = new Int32Array(2 * this.words.length)
    words.set(this.words)
    this.words = words
    const { slots } = this
    this.slots = new Int32Array(2 * slots.length)
    for (const slot of slots) if (slot !== 0) this.place(slot - 1)
  }
}

const hash = (a: number, b: number, c: number, d: number): number => {
  let h = Math.imul(a, 0x85eb_ca6b) ^ Math.imul(b, 0xc2b2_ae35) ^ Math.imul(c, 0x27d4_eb2f) ^ Math.imul(d, 0x1656_67b1)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b_3c6d)
  return (h ^ (h >>> 13)) >>> 0
}
