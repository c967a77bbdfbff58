import { Layout, type Packet } from "@rdmakit/packet"

const { EXTENSION_SHIFT } = Layout

/** What a packet is, in the lowest bits of `EXT.segment`. 0 is no packet of SRD. */
export const Operation = { Send: 1, Write: 2, ReadRequest: 3, ReadResponse: 4, Acknowledgement: 5 } as const
export type Operation = (typeof Operation)[keyof typeof Operation]

/** Bits of `EXT.segment`. */
export const Bit = { Operation: 15, Immediate: 16 } as const

/** Ethernet, IPv4, UDP, FCS, and the 20 bytes of preamble and gap. */
const LOWER_BYTES = 14 + 20 + 8 + 4 + 20
const IPV6_MORE_BYTES = 20
/** What all packets have, and what all packets of data have (`wire`, srd): 16 octets each. */
const COMMON_BYTES = 16
const DATA_BYTES = 16
const IMMEDIATE_BYTES = 4
/** By operation: key, address and length; these and a number; number and offset. */
const operationBytes: ReadonlyArray<number> = [0, 0, 16, 20, 8]
/** An acknowledgement with its bitmap. */
const ACK_BYTES = 40
/** Of Ethernet, with preamble and gap. */
const LEAST_BYTES = 84

/** Most that headers are beside a payload: those of a WRITE with immediate, over IPv6. */
export const HEADER_BYTES_MAX = LOWER_BYTES + IPV6_MORE_BYTES + COMMON_BYTES + DATA_BYTES + 16 + IMMEDIATE_BYTES

/** A packet of data on the wire. */
export const dataWireBytes = (segment: number, payloadBytes: number, ipv6: boolean): number => {
  const immediate = (segment & Bit.Immediate) === 0 ? 0 : IMMEDIATE_BYTES
  const header = COMMON_BYTES + DATA_BYTES + operationBytes[segment & Bit.Operation]! + immediate
  return Math.max(LEAST_BYTES, LOWER_BYTES + (ipv6 ? IPV6_MORE_BYTES : 0) + header + payloadBytes)
}

/** An acknowledgement on the wire. */
export const ackWireBytes = (ipv6: boolean): number => LOWER_BYTES + (ipv6 ? IPV6_MORE_BYTES : 0) + ACK_BYTES

/** An unsigned word of a packet's extension record (`Layout.EXT`); 0 without one. */
export const wordOf = (packet: Packet, field: number): number =>
  packet.extension < 0 ? 0 : packet.pool.extension[(packet.extension << EXTENSION_SHIFT) + field]! >>> 0
