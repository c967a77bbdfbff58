/** A set of packet numbers within a window that moves up: one bit each, in a ring. */
export class PacketSet {
  private readonly bits: Int32Array
  private readonly mask: number

  /** @param window numbers of any two members are less than this apart; at least 1 */
  constructor(window: number) {
    let words = 1
    while (words * 32 < window) words *= 2
    this.bits = new Int32Array(words)
    this.mask = words * 32 - 1
  }

  has(number: number): boolean {
    const at = number & this.mask
    return ((this.bits[at >> 5]! >> (at & 31)) & 1) === 1
  }
  add(number: number): void {
    const at = number & this.mask
    this.bits[at >> 5]! |= 1 << (at & 31)
  }
  delete(number: number): void {
    const at = number & this.mask
    this.bits[at >> 5]! &= ~(1 << (at & 31))
  }
}
