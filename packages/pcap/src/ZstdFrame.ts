const MAGIC = 0xfd2fb528
const SKIPPABLE = 0x184d2a50
const DICTIONARY_OCTETS = [0, 1, 2, 4]
const SIZE_OCTETS = [0, 2, 4, 8]
const RUN_LENGTH_BLOCK = 1

type Part = "magic" | "skippable" | "descriptor" | "block"

/**
 * Finds where the frames of a Zstandard file end (RFC 8878 §3.1), without unpacking: Node unpacks one frame and
 * ignores what follows, and many files have several, or frames to be skipped.
 */
export class ZstdFrames {
  #part: Part = "magic"
  /** Octets of this part's own that are still to come, and what of them has been seen. */
  #wanted = 4
  readonly #seen: Array<number> = []
  /** Octets to pass before the next part. */
  #pass = 0
  #hasChecksum = false
  #isLast = false
  /** Whether the octets at hand are to be unpacked. */
  isPacked = false

  /** Whether everything so far is whole frames. */
  get isBetween(): boolean {
    return this.#part === "magic" && this.#wanted === 4 && this.#pass === 0
  }

  /**
   * Goes on to the end of the frame or of the octets, whichever comes first, and answers where that is; -1 when no
   * frame begins where one should.
   */
  advance(octets: Uint8Array, start: number): number {
    let at = start
    for (;;) {
      const passed = Math.min(this.#pass, octets.length - at)
      this.#pass -= passed
      at += passed
      if (this.#pass > 0) return at
      if (this.#isLast) {
        this.#isLast = false
        this.#want("magic", 4)
        return at
      }
      while (this.#wanted > 0 && at < octets.length) {
        this.#seen.push(octets[at++]!)
        this.#wanted--
      }
      if (this.#wanted > 0) return at
      if (!this.#next()) return -1
    }
  }

  #want(part: Part, octets: number): void {
    this.#part = part
    this.#wanted = octets
    this.#seen.length = 0
  }

  /** Goes by the part that was gathered; false when it is none. */
  #next(): boolean {
    const number = this.#seen.reduceRight((sum, octet) => sum * 256 + octet, 0)
    switch (this.#part) {
      case "magic":
        this.isPacked = number === MAGIC
        if (this.isPacked) this.#want("descriptor", 1)
        else if ((number & 0xfffffff0) === SKIPPABLE) this.#want("skippable", 4)
        else return false
        return true
      case "skippable":
        this.#pass = number
        this.#isLast = true
        return true
      case "descriptor": {
        const isSingle = (number & 0x20) !== 0
        this.#hasChecksum = (number & 0x04) !== 0
        const sizeOctets = Math.max(SIZE_OCTETS[number >> 6]!, isSingle ? 1 : 0)
        this.#pass = (isSingle ? 0 : 1) + DICTIONARY_OCTETS[number & 3]! + sizeOctets
        this.#want("block", 3)
        return true
      }
      case "block": {
        this.#isLast = (number & 1) !== 0
        this.#pass = ((number >> 1) & 3) === RUN_LENGTH_BLOCK ? 1 : number >> 3
        if (this.#isLast && this.#hasChecksum) this.#pass += 4
        this.#want("block", 3)
        return true
      }
    }
  }
}
