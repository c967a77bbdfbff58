/** A record is 32 bytes: eight words, or six and a double. */
export const RECORD_SHIFT = 3
/** Size classes of blocks: 2^0 to 2^20 records. */
const CLASSES = 21

/**
 * Memory of all contexts of a device, or of a world: records in blocks of a power of two, which contexts take and give
 * back. There are many contexts, and each is looked at rarely: what one packet needs lies in few cache lines, and no
 * context costs an allocation of its own.
 */
export class Records {
  words: Int32Array
  f64: Float64Array
  private fresh = 0
  /** By class: the first block given back, a list through their first words; -1: none. */
  private readonly free = new Int32Array(CLASSES).fill(-1)

  constructor() {
    this.words = new Int32Array(1024 << RECORD_SHIFT)
    this.f64 = new Float64Array(this.words.buffer)
  }

  /** A block of 2^`size` records, whatever is in them; its first record. */
  take(size: number): number {
    const block = this.free[size]!
    if (block >= 0) {
      this.free[size] = this.words[block << RECORD_SHIFT]!
      return block
    }
    const at = this.fresh
    this.fresh += 1 << size
    while (this.fresh << RECORD_SHIFT > this.words.length) this.grow()
    return at
  }

  give(block: number, size: number): void {
    this.words[block << RECORD_SHIFT] = this.free[size]!
    this.free[size] = block
  }

  private grow(): void {
    const words = new Int32Array(2 * this.words.length)
    words.set(this.words)
    this.words = words
    this.f64 = new Float64Array(words.buffer)
  }
}

/** The double of a record, its last two words. */
export const F64 = 3
