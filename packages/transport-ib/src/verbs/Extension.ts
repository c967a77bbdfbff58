import { Layout, type Packet } from "@rdmakit/packet"

/** An unsigned word of a packet's extension record (`Layout.EXT`); 0 without one. */
export const wordOf = (packet: Packet, field: number): number =>
  packet.extension < 0 ? 0 : packet.pool.extension[(packet.extension << Layout.EXTENSION_SHIFT) + field]! >>> 0

/** A 64-bit number in two words, the higher first. */
export const numberOf = (packet: Packet, field: number): bigint =>
  (BigInt(wordOf(packet, field)) << 32n) | BigInt(wordOf(packet, field + 1))

/** Writes it. */
export const putNumber = (extension: Int32Array, at: number, value: bigint): void => {
  extension[at] = Number((value >> 32n) & 0xffffffffn)
  extension[at + 1] = Number(value & 0xffffffffn)
}
