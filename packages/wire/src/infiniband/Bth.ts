import { layout, reservedFaults } from "../Layout.ts"
import { EmitError, put16, put32, space, u16, u24, uint } from "../Octets.ts"
import { failed, NO_FAULTS, type Parse, parsed, shortage } from "../Result.ts"
import { opcodeOf } from "./Opcode.ts"

/** Base transport header (IBTA 1.7 §9.2). */
export interface Bth {
  /** A code that `opcodeOf` knows. */
  readonly opcode: number
  /** Asks the receiver for an event. */
  readonly solicited: boolean
  /** State of path migration (MigReq). */
  readonly migrated: boolean
  /** Octets after the payload that fill its last word, 0 to 3. */
  readonly padBytes: number
  /** Partition key; 0xffff is the default one, full member. */
  readonly partition: number
  /** The packet met congestion on its way, native InfiniBand only. */
  readonly fecn: boolean
  /** Congestion was met the other way. */
  readonly becn: boolean
  /** 24 bits. */
  readonly destinationQp: number
  readonly ackRequest: boolean
  /** Packet sequence number, 24 bits. */
  readonly psn: number
}

export const BTH_BYTES = 12

export const BTH = /* @__PURE__ */ layout(
  "bth",
  "opcode:8 solicited:1 migrated:1 padBytes:2 version:4 partition:16 fecn:1 becn:1 _:6 destinationQp:24 ackRequest:1 _:7 psn:24",
)

/** Fails for a reserved opcode and for a version other than 0. Reserved bits are a fault. */
export const parseBth = (octets: Uint8Array, start = 0, end = octets.length): Parse<Bth> => {
  const short = shortage("bth", octets, start, end, BTH_BYTES)
  if (short !== undefined) return short
  const opcode = octets[start]!
  if (opcodeOf(opcode) === undefined) return failed("reserved", "bth", "opcode", start, opcode)
  const flags = octets[start + 1]!
  if ((flags & 15) !== 0) return failed("reserved", "bth", "version", start + 1, flags & 15, "0")
  const congestion = octets[start + 4]!
  const ack = octets[start + 8]!
  const value: Bth = {
    opcode,
    solicited: (flags & 0x80) !== 0,
    migrated: (flags & 0x40) !== 0,
    padBytes: (flags >> 4) & 3,
    partition: u16(octets, start + 2),
    fecn: (congestion & 0x80) !== 0,
    becn: (congestion & 0x40) !== 0,
    destinationQp: u24(octets, start + 5),
    ackRequest: (ack & 0x80) !== 0,
    psn: u24(octets, start + 9),
  }
  const faults = ((congestion & 0x3f) | (ack & 0x7f)) === 0 ? NO_FAULTS : reservedFaults(BTH, octets, start)
  return parsed(value, start + BTH_BYTES, end, faults)
}

export const emitBth = (value: Bth, octets: Uint8Array, start = 0): number => {
  space(octets, start, BTH_BYTES, "bth")
  if (opcodeOf(value.opcode) === undefined) throw new EmitError("bth", "opcode", value.opcode, "a known opcode")
  const flags = (value.solicited ? 0x80 : 0) | (value.migrated ? 0x40 : 0)
  const congestion = (value.fecn ? 0x80 : 0) | (value.becn ? 0x40 : 0)
  octets[start] = value.opcode
  octets[start + 1] = flags | (uint(value.padBytes, 2, "bth", "padBytes") << 4)
  put16(octets, start + 2, uint(value.partition, 16, "bth", "partition"))
  put32(octets, start + 4, congestion * 0x100_0000 + uint(value.destinationQp, 24, "bth", "destinationQp"))
  put32(octets, start + 8, (value.ackRequest ? 0x8000_0000 : 0) + uint(value.psn, 24, "bth", "psn"))
  return start + BTH_BYTES
}
