import { Layout, type Packet, PSN_MASK, psnDistance } from "@rdmakit/packet"

/** Packets that an acknowledgement tells of one by one. */
export const BITMAP = 128
/** Words of a ring at first: a bitmap's. */
const LEAST_WORDS = BITMAP / 32

/**
 * What a receiver knows of the packets of one peer: all before `expected` have come, and of those after it one bit each.
 * It is bounded by the window of the peer.
 */
export class ReceivedPackets {
  /** The first that has not come, without wrapping. */
  expected = 0
  /** Highest that has come, and one. */
  private end = 0
  private readonly window: number
  /** A ring of bits, which begins with the first packet out of order and grows up to the window. */
  private bits: Array<number> = []
  private mask = -1

  constructor(windowPackets: number) {
    this.window = windowPackets
  }

  /** The number of a packet, without wrapping. */
  numberOf(psn: number): number {
    return this.expected + psnDistance(psn, this.expected & PSN_MASK)
  }

  /** A packet within the window, from `expected` on, has come. */
  has(number: number): boolean {
    if (number >= this.end || number - this.expected > this.mask) return false
    return (this.bits[(number & this.mask) >> 5]! & (1 << (number & 31))) !== 0
  }

  /** "new": take it in. "again": it came before. "beyond": there is no room to remember it by. */
  add(number: number): "new" | "again" | "beyond" {
    const { expected } = this
    if (number === expected && this.end <= expected) {
      this.expected = number + 1
      this.end = number + 1
      return "new"
    }
    if (number < expected) return "again"
    if (number - expected >= this.window) return "beyond"
    if (number - expected > this.mask) this.grow(number - expected)
    const { bits } = this
    const at = (number & this.mask) >> 5
    const bit = 1 << (number & 31)
    if ((bits[at]! & bit) !== 0) return "again"
    bits[at]! |= bit
    if (number >= this.end) this.end = number + 1
    if (number === expected) this.advance(bits)
    return "new"
  }

  private advance(bits: Array<number>): void {
    let number = this.expected
    for (;;) {
      const at = (number & this.mask) >> 5
      const bit = 1 << (number & 31)
      if ((bits[at]! & bit) === 0) break
      bits[at]! &= ~bit
      number++
    }
    this.expected = number
  }

  /** Room for bits so far from the first. */
  private grow(distance: number): void {
    const { bits: before, mask: was } = this
    let words = LEAST_WORDS
    while (words * 32 <= distance) words *= 2
    const bits: Array<number> = []
    for (let word = 0; word < words; word++) bits.push(0)
    const mask = (words * 32 - 1) | 0
    if (was >= 0) {
      for (let number = this.expected; number < this.end; number++) {
        if ((before[(number & was) >> 5]! & (1 << (number & 31))) !== 0)
          bits[(number & mask) >> 5]! |= 1 << (number & 31)
      }
    }
    this.bits = bits
    this.mask = mask
  }

  /**
   * Writes into an acknowledgement of `number` what has come: where that is all up to it, its own number says so, else
   * there are the first packet that has not come, and bits for 128 packets from there on, or up to `number`.
   */
  tell(number: number, out: Packet): void {
    const { bits, expected } = this
    out.psn = number & PSN_MASK
    if (expected === number + 1) return
    const at = out.extend()
    const { extension } = out.pool
    const base = number - expected < BITMAP ? expected : number - BITMAP + 1
    extension[at + Layout.EXT.cumulative] = expected & PSN_MASK
    extension[at + Layout.EXT.sackBase] = base & PSN_MASK
    if (bits.length === 0) {
      extension.fill(0, at + Layout.EXT.sackBits, at + Layout.EXT.sackBits + BITMAP / 32)
      return
    }
    const shift = base & 31
    let word = (base & this.mask) >> 5
    const last = this.mask >> 5
    for (let i = 0; i < BITMAP / 32; i++) {
      const next = (word + 1) & last
      extension[at + Layout.EXT.sackBits + i] =
        shift === 0 ? bits[word]! : (bits[word]! >>> shift) | (bits[next]! << (32 - shift))
      word = next
    }
  }
}
