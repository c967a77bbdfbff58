import { MemoryFault } from "@rdmakit/protocol"

/**
 * Why a connection ends, as a Terminate says it: layer, error type and error code in sixteen bits (RFC 5040 §4.8, RFC 5041
 * §7.1, RFC 5044 §8).
 */
export const Cause = {
  /** Something went wrong on the side that tells: RDMAP's local catastrophic error. */ Local: 0x0000,
  /** RDMAP's remote protection errors, with `MemoryFault`. */ Access: 0x0102,
  CannotInvalidate: 0x0109,
  RdmapVersion: 0x0205,
  /** An opcode that is unknown, or is of no use now. */ Opcode: 0x0206,
  /** RDMAP's remote operation error, not specified. */ Operation: 0x02ff,
  /** DDP's tagged buffer errors, with `MemoryFault`. */ TaggedKey: 0x1100,
  TaggedBounds: 0x1101,
  /** The segment would go past the end of 64-bit addresses. */ TaggedWrap: 0x1103,
  TaggedVersion: 0x1104,
  UntaggedQueue: 0x1201,
  NoReceive: 0x1202,
  Sequence: 0x1203,
  Offset: 0x1204,
  TooLong: 0x1205,
  UntaggedVersion: 0x1206,
  Crc: 0x2002,
  /** A unit whose length makes no sense. */ Length: 0x2003,
  /** Nothing went wrong: a side has closed. No Terminate of octets says this. */ Closed: 0xf000,
} as const
export type Cause = number

const REMOTE_PROTECTION = 0x01
const TAGGED_BUFFER = 0x11

/** A key, an address or a right was wrong: it is told of as an access error. */
export const isProtection = (cause: Cause): boolean => {
  const type = cause >>> 8
  return type === REMOTE_PROTECTION || type === TAGGED_BUFFER
}

/** What is wrong with the memory that a request names; rights are RDMAP's to check. */
export const requestCause = (fault: MemoryFault): Cause => (REMOTE_PROTECTION << 8) | rdmapCode(fault)

/** What is wrong with the memory that a tagged segment is for. */
export const taggedCause = (fault: MemoryFault): Cause => {
  if (fault === MemoryFault.Access) return Cause.Access
  if (fault === MemoryFault.Domain) return (TAGGED_BUFFER << 8) | 2
  return fault === MemoryFault.Bounds ? Cause.TaggedBounds : Cause.TaggedKey
}

const rdmapCode = (fault: MemoryFault): number => {
  if (fault === MemoryFault.Bounds) return 1
  if (fault === MemoryFault.Access) return 2
  return fault === MemoryFault.Domain ? 3 : 0
}
