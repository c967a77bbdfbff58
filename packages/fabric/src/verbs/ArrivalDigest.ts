import { Layout, type Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"

const TWO_32 = 2 ** 32

/** A digest of packets in the order in which they arrive: when, whence, what for. Payload is not looked at. */
export class ArrivalDigest {
  count = 0
  private a = 0x243f6a88
  private b = 0x13198a2e

  add(now: Time, packet: Packet): void {
    this.count++
    const at = packet.extension
    const { EXT, EXTENSION_SHIFT } = Layout
    this.mix(now)
    this.mix(Math.floor(now / TWO_32))
    this.mix(packet.meta)
    this.mix(packet.psn)
    this.mix(packet.source | (packet.destination << 16))
    this.mix(packet.payloadBytes)
    this.mix(at < 0 ? 0 : packet.pool.extension[(at << EXTENSION_SHIFT) + EXT.destinationQp]!)
  }

  toString(): string {
    return [this.a, this.b].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("")
  }

  /** Two rounds of MurmurHash3's, with constants of its 128-bit form. */
  private mix(word: number): void {
    this.a = Math.imul(this.a ^ Math.imul(word, 0xcc9e2d51), 0x85ebca6b)
    this.a ^= this.a >>> 15
    this.b = (Math.imul(this.b, 0xc2b2ae35) + (this.a ^ word)) | 0
    this.b ^= this.b >>> 13
  }
}
