import { Flag, Layout, type Packet } from "@rdmakit/packet"
import { SrdOpcode } from "@rdmakit/wire/srd"
import { i32, put32, u16 } from "./Octets.ts"

const { EXT } = Layout

/** What `EXT.segment` has of SRD: its operation from 1 on, an immediate, and that it is SRD's. */
const OPERATION = 15
const IMMEDIATE = 16
const SRD = 512
/** The operations, as the header numbers them. */
const READ_REQUEST = 3
const READ_RESPONSE = 4
const ACKNOWLEDGEMENT = 5
/** Opcodes begin here; the operation stands from bit 1 on, and bit 0 says that there is an immediate. */
const FIRST = 0xc0
const VERSION = 0x10
/** Of a header's second octet. */
const HAS_IMMEDIATE = 0x80
const REPEATED = 0x40
const CONGESTION = 0x20
const COMMON_BYTES = 12
const DATA_BYTES = 12
/** What packets are called in memory, by operation: opcodes of a BTH below an acknowledgement's are data. */
const opcodes: ReadonlyArray<number> = [0, 0x04, 0x0a, 0x0c, 0x10, 0x11]
/** Syndrome of no acknowledgement that InfiniBand has: nobody holds it back, or makes one of two. */
const NOT_POSITIVE = 0xe000_0000 | 0

/** The opcode of a packet of SRD; 0: it is none. */
export const srdOpcodeOf = (segment: number): number =>
  (segment & SRD) === 0 ? 0 : FIRST | ((segment & OPERATION) << 1) | ((segment & IMMEDIATE) === 0 ? 0 : 1)

/** What a header begins with whose opcode is this. */
export const srdFirstOctet = (opcode: number): number => VERSION | ((opcode >> 1) & OPERATION)

/** Octets of the header, and whether a payload may follow; undefined: it is no opcode of SRD. */
export const srdShapeOf = (opcode: number): { readonly bytes: number; readonly payload: boolean } | undefined => {
  switch (opcode) {
    case SrdOpcode.Send:
      return { bytes: 24, payload: true }
    case SrdOpcode.SendImmediate:
      return { bytes: 28, payload: true }
    case SrdOpcode.Write:
      return { bytes: 40, payload: true }
    case SrdOpcode.WriteImmediate:
      return { bytes: 44, payload: true }
    case SrdOpcode.ReadRequest:
      return { bytes: 44, payload: false }
    case SrdOpcode.ReadResponse:
      return { bytes: 36, payload: true }
    case SrdOpcode.Acknowledge:
      return { bytes: 36, payload: false }
    default:
      return undefined
  }
}

/** Writes the header of a packet (`wire`, srd) from its extension record at `x`. */
export const putSrd = (packet: Packet, extension: Int32Array, x: number, octets: Uint8Array, start: number): void => {
  const segment = extension[x + EXT.segment]!
  const operation = segment & OPERATION
  const hasImmediate = (segment & IMMEDIATE) !== 0
  octets[start] = VERSION | operation
  octets[start + 1] =
    (hasImmediate ? HAS_IMMEDIATE : 0) |
    (packet.has(Flag.Retransmission) ? REPEATED : 0) |
    (packet.has(Flag.CongestionEcho) ? CONGESTION : 0)
  octets[start + 2] = extension[x + EXT.generation]! >>> 8
  octets[start + 3] = extension[x + EXT.generation]!
  const { stamp } = packet
  put32(octets, start + 4, Math.floor(stamp / 2 ** 32))
  put32(octets, start + 8, stamp % 2 ** 32)
  const at = start + COMMON_BYTES
  if (operation === ACKNOWLEDGEMENT) {
    put32(octets, at, (extension[x + EXT.status]! << 24) | extension[x + EXT.cumulative]!)
    put32(octets, at + 4, extension[x + EXT.sackBase]!)
    for (let word = 0; word < 4; word++) put32(octets, at + 8 + 4 * (word ^ 1), extension[x + EXT.sackBits + word]!)
    return
  }
  put32(octets, at, extension[x + EXT.queueKey]!)
  put32(octets, at + 4, extension[x + EXT.sourceQp]!)
  put32(octets, at + 8, extension[x + EXT.oldest]!)
  let next = at + DATA_BYTES
  if (operation === READ_RESPONSE) {
    put32(octets, next, extension[x + EXT.status]! << 24)
    put32(octets, next + 4, extension[x + EXT.message]!)
    put32(octets, next + 8, extension[x + EXT.messageOffset]!)
    return
  }
  if (operation > 1) {
    put32(octets, next, extension[x + EXT.remoteKey]!)
    put32(octets, next + 4, extension[x + EXT.remoteAddress]!)
    put32(octets, next + 8, extension[x + EXT.remoteAddress + 1]!)
    put32(octets, next + 12, extension[x + EXT.dmaLength]!)
    next += 16
  }
  if (operation === READ_REQUEST) put32(octets, next, extension[x + EXT.message]!)
  else if (hasImmediate) put32(octets, next, extension[x + EXT.immediate]!)
}

/** The same, read: the packet's BTH has been, and the words of its record are 0. */
export const takeSrd = (packet: Packet, extension: Int32Array, x: number, octets: Uint8Array, start: number): void => {
  const operation = octets[start]! & OPERATION
  const flags = octets[start + 1]!
  const hasImmediate = (flags & HAS_IMMEDIATE) !== 0
  packet.opcode = opcodes[operation]!
  if ((flags & REPEATED) !== 0) packet.set(Flag.Retransmission)
  extension[x + EXT.segment] = SRD | operation | (hasImmediate ? IMMEDIATE : 0)
  extension[x + EXT.generation] = u16(octets, start + 2)
  packet.stamp = (i32(octets, start + 4) >>> 0) * 2 ** 32 + (i32(octets, start + 8) >>> 0)
  const at = start + COMMON_BYTES
  if (operation === ACKNOWLEDGEMENT) {
    if ((flags & CONGESTION) !== 0) packet.set(Flag.CongestionEcho)
    extension[x + EXT.aeth] = NOT_POSITIVE
    extension[x + EXT.status] = octets[at]!
    extension[x + EXT.cumulative] = i32(octets, at) & 0xff_ffff
    extension[x + EXT.sackBase] = i32(octets, at + 4) & 0xff_ffff
    for (let word = 0; word < 4; word++) extension[x + EXT.sackBits + word] = i32(octets, at + 8 + 4 * (word ^ 1))
    return
  }
  extension[x + EXT.queueKey] = i32(octets, at)
  extension[x + EXT.sourceQp] = i32(octets, at + 4) & 0xff_ffff
  extension[x + EXT.oldest] = i32(octets, at + 8) & 0xff_ffff
  let next = at + DATA_BYTES
  if (operation === READ_RESPONSE) {
    extension[x + EXT.status] = octets[next]!
    extension[x + EXT.message] = i32(octets, next + 4)
    extension[x + EXT.messageOffset] = i32(octets, next + 8)
    return
  }
  if (operation > 1) {
    extension[x + EXT.remoteKey] = i32(octets, next)
    extension[x + EXT.remoteAddress] = i32(octets, next + 4)
    extension[x + EXT.remoteAddress + 1] = i32(octets, next + 8)
    extension[x + EXT.dmaLength] = i32(octets, next + 12)
    next += 16
  }
  if (operation === READ_REQUEST) extension[x + EXT.message] = i32(octets, next)
  else if (hasImmediate) extension[x + EXT.immediate] = i32(octets, next)
}
