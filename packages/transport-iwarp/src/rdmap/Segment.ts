import { Layout, type Packet } from "@rdmakit/packet"

const { EXT, EXTENSION_SHIFT } = Layout

/**
 * Opcodes of RDMAP (RFC 5040 §4.1, RFC 7306 §5). SENDs that invalidate, or are solicited, have opcodes of their own on the
 * wire; here they are a SEND with a bit.
 */
export const Rdmap = {
  Write: 0,
  ReadRequest: 1,
  ReadResponse: 2,
  Send: 3,
  Terminate: 7,
  AtomicRequest: 10,
  AtomicResponse: 11,
} as const
export type Rdmap = (typeof Rdmap)[keyof typeof Rdmap]

/**
 * Bits of `EXT.segment` above the opcode. `Stream` is of all packets that a stream with RDMAP consists of: they have the
 * opcodes of packets that are RoCE's, and no BTH says what they are. That an immediate goes with the last segment of a SEND or a WRITE is ours: the
 * driver has such requests (ERDMA_OP_SEND_WITH_IMM, ERDMA_OP_WRITE_WITH_IMM), and what they look like on the wire is not
 * public.
 */
export const Bit = {
  Opcode: 15,
  Last: 16,
  Immediate: 32,
  Solicited: 64,
  Invalidate: 128,
  Swap: 256,
  Stream: 1024,
} as const

/** What an untagged header has more than a tagged one, and what follows it (RFC 5040 §4.4, RFC 7306 §5.2), bytes. */
const UNTAGGED = 4
const READ_REQUEST = 28
const ATOMIC_REQUEST = 52
const ATOMIC_RESPONSE = 12
/** As long as RFC 7306's Immediate Data message carries. */
const IMMEDIATE = 8

/** Header bytes of a segment beyond those of a tagged one. */
export const moreHeaderBytes = (segment: number): number => {
  const immediate = (segment & Bit.Immediate) !== 0 ? IMMEDIATE : 0
  switch (segment & Bit.Opcode) {
    case Rdmap.Send:
      return UNTAGGED + immediate
    case Rdmap.ReadRequest:
      return UNTAGGED + READ_REQUEST
    case Rdmap.AtomicRequest:
      return UNTAGGED + ATOMIC_REQUEST
    case Rdmap.AtomicResponse:
      return UNTAGGED + ATOMIC_RESPONSE
    default:
      return immediate
  }
}

/** An unsigned word of a packet's extension record (`Layout.EXT`); 0 without one. */
export const wordOf = (packet: Packet, field: number): number =>
  packet.extension < 0 ? 0 : packet.pool.extension[(packet.extension << EXTENSION_SHIFT) + field]! >>> 0

/** A number of 64 bits in two words, the higher first. */
export const numberOf = (packet: Packet, field: number): bigint =>
  (BigInt(wordOf(packet, field)) << 32n) | BigInt(wordOf(packet, field + 1))

export const putNumber = (extension: Int32Array, at: number, value: bigint): void => {
  extension[at] = Number((value >> 32n) & 0xffffffffn)
  extension[at + 1] = Number(value & 0xffffffffn)
}

/** Where a segment's octets go, or come from; infinite where no memory is. */
export const remoteAddressOf = (packet: Packet): number => {
  const high = wordOf(packet, EXT.remoteAddress)
  return high >= 2 ** 21 ? Infinity : high * 2 ** 32 + wordOf(packet, EXT.remoteAddress + 1)
}
