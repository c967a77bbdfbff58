import type { Sighting } from "../Sighting.ts"

/** Most queue pairs of a large capture have few packets; arrays of 64 octets lie among other objects. */
const FIRST = 4
const MOST = 4096
const FIELDS = 4
const NONE = new Int32Array(0)
const NEVER = new Float64Array(0)

/** The packets of a flow that were seen last, by PSN. Memory grows with the flow, up to some 128 KiB. */
export class History {
  #size = 0
  /** PSN, identification, ICRC, hop limit of each. */
  #words = NONE
  /** Time and frame of each. */
  #places = NEVER
  #count = 0

  /** Where a PSN is kept; -1 when it is not. */
  find(psn: number): number {
    if (this.#size === 0) return -1
    const at = psn & (this.#size - 1)
    return this.#words[FIELDS * at] === psn ? at : -1
  }

  /** Identification of the packet at a place. */
  ipId(at: number): number {
    return this.#words[FIELDS * at + 1]!
  }

  timeNs(at: number): number {
    return this.#places[2 * at]!
  }

  frame(at: number): number {
    return this.#places[2 * at + 1]!
  }

  hopLimit(at: number): number {
    return this.#words[FIELDS * at + 3]!
  }

  /** Whether a packet has the same identification and ICRC as the one at a place. */
  isSame(at: number, sighting: Sighting): boolean {
    return this.ipId(at) === sighting.ipId && this.#words[FIELDS * at + 2] === (sighting.icrc | 0)
  }

  keep(sighting: Sighting): void {
    const { psn } = sighting
    if (this.#count++ >= this.#size && this.#size < MOST) this.#grow()
    const at = psn & (this.#size - 1)
    const word = FIELDS * at
    this.#words[word] = psn
    this.#words[word + 1] = sighting.ipId
    this.#words[word + 2] = sighting.icrc | 0
    this.#words[word + 3] = sighting.hopLimit
    this.#places[2 * at] = sighting.timeNs
    this.#places[2 * at + 1] = sighting.frame
  }

  #grow(): void {
    const size = this.#size === 0 ? FIRST : this.#size * 4
    const words = new Int32Array(FIELDS * size).fill(-1)
    const places = new Float64Array(2 * size)
    for (let from = 0; from < this.#size; from++) {
      const psn = this.#words[FIELDS * from]!
      if (psn < 0) continue
      const to = psn & (size - 1)
      for (let field = 0; field < FIELDS; field++) words[FIELDS * to + field] = this.#words[FIELDS * from + field]!
      places[2 * to] = this.#places[2 * from]!
      places[2 * to + 1] = this.#places[2 * from + 1]!
    }
    this.#size = size
    this.#words = words
    this.#places = places
  }
}
