/**
 * What a packet is, in the simulator. RC opcodes carry the numbers of the BTH (IBTA 1.7 §9.2, table 38); what has no
 * BTH opcode (PFC, other transports) sits above 0xf0.
 */
export const Opcode = {
  SendFirst: 0x00,
  SendMiddle: 0x01,
  SendLast: 0x02,
  SendOnly: 0x04,
  WriteFirst: 0x06,
  WriteMiddle: 0x07,
  WriteLast: 0x08,
  WriteOnly: 0x0a,
  ReadRequest: 0x0c,
  Acknowledge: 0x11,
  /** RoCEv2 congestion notification packet (Annex A17 §17.9.3). */
  Cnp: 0x81,
  /** IEEE 802.1Qbb priority flow control frame. */
  Pfc: 0xf0,
  /** Acknowledge whose AETH says NAK, PSN sequence error (IBTA 1.7 §9.7.5.2.8); on the wire it is opcode 0x11. */
  NakSequence: 0xf1,
} as const
export type Opcode = (typeof Opcode)[keyof typeof Opcode]

/** Flag bits of a packet, as they sit in the META word. */
export const Flag = {
  /** The requester asks for an acknowledgement (BTH AckReq). */
  AckRequest: 1 << 8,
  /** The acknowledgement echoes a congestion mark. */
  CongestionEcho: 1 << 9,
  /** A request whose telemetry switches fill in. */
  Telemetry: 1 << 10,
  /** Sent again after a loss. */
  Retransmission: 1 << 11,
  /** Payload cut off by a switch; the header survived. */
  Trimmed: 1 << 12,
  /** PFC: pause (set) or resume (clear); the priority field says which. */
  Pause: 1 << 13,
  /** Payload is a slice of real octets (extension record); clear: synthetic, only its length is known. */
  SlabPayload: 1 << 14,
  /** Solicited event (BTH SE). */
  Solicited: 1 << 15,
  /** Sent again after a timeout: a responder answers it even if it is a duplicate. */
  AfterTimeout: 1 << 16,
  /** Migration request (BTH MigReq). Linux rxe knows no path migration: it is 0 in all its packets, and in ours. */
  Migrated: 1 << 17,
  /** A congestion mark travels backwards in this packet (BTH BECN). */
  Backward: 1 << 18,
} as const

/** ECN code points (RFC 3168 §5), in the low bits of the traffic class. */
export const Ecn = { NotCapable: 0, Capable1: 1, Capable0: 2, Experienced: 3 } as const
