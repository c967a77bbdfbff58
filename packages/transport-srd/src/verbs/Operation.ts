import { Layout, type Packet } from "@rdmakit/packet"

const { EXTENSION_SHIFT } = Layout

/** What a packet is, in the lowest bits of `EXT.segment`. */
export const Operation = { Send: 1, Write: 2, ReadRequest: 3, ReadResponse: 4, Acknowledgement: 5 } as const
export type Operation = (typeof Operation)[keyof typeof Operation]

/** Bits of `EXT.segment`; packets without the last are of another transport. */
export const Bit = { Operation: 15, Immediate: 16, Srd: 512 } as const

/** Ethernet, IPv4, UDP, BTH, ICRC, FCS, and the 20 bytes of preamble and gap. */
const LOWER_BYTES = 14 + 20 + 8 + 12 + 4 + 4 + 20
const IPV6_MORE_BYTES = 20
/** SRD's own header of data (`wire`, srd), and what the operation has more: of WRITE, READ request and READ response. */
const DATA_BYTES = 24
const operationBytes: ReadonlyArray<number> = [0, 0, 16, 20, 12]
const IMMEDIATE_BYTES = 4
/** An acknowledgement with its bitmap. */
const ACK_BYTES = 36

/** Most that headers are beside a payload: those of a WRITE with immediate, over IPv6. */
export const HEADER_BYTES_MAX = LOWER_BYTES + IPV6_MORE_BYTES + DATA_BYTES + 16 + IMMEDIATE_BYTES

/** A packet of data on the wire, its payload padded to four octets. */
export const dataWireBytes = (segment: number, payloadBytes: number, ipv6: boolean): number => {
  const immediate = (segment & Bit.Immediate) === 0 ? 0 : IMMEDIATE_BYTES
  const header = DATA_BYTES + operationBytes[segment & Bit.Operation]! + immediate
  return LOWER_BYTES + (ipv6 ? IPV6_MORE_BYTES : 0) + header + payloadBytes + (-payloadBytes & 3)
}

/** An acknowledgement on the wire. */
export const ackWireBytes = (ipv6: boolean): number => LOWER_BYTES + (ipv6 ? IPV6_MORE_BYTES : 0) + ACK_BYTES

/** An unsigned word of a packet's extension record (`Layout.EXT`); 0 without one. */
export const wordOf = (packet: Packet, field: number): number =>
  packet.extension < 0 ? 0 : packet.pool.extension[(packet.extension << EXTENSION_SHIFT) + field]! >>> 0
