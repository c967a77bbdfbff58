/**
 * Where each field of a packet lives in the pool, in 32-bit words from the record's base.
 *
 * A record is 64 bytes, one cache line. Cold headers sit in an extension record, INT hops in a side array, and the
 * payload is a descriptor: what the simulator moves is the integer handle.
 */

/** log2 of the words in a hot record: base word = handle << RECORD_SHIFT. */
export const RECORD_SHIFT = 4
/** Words in a hot record. */
export const RECORD_WORDS = 1 << RECORD_SHIFT

/** opcode (bits 0–7) · flags (8–23) · priority (24–26) · ECN (28–29). */
export const META = 0
/** Wire size, bytes. */
export const WIRE_BYTES = 1
/** Payload length, bytes. */
export const PAYLOAD_BYTES = 2
/** Packet sequence number, 24 bits (IBTA 1.7 §9.2). */
export const PSN = 3
/** Source node. */
export const SOURCE = 4
/** Destination node. */
export const DESTINATION = 5
/** UDP source port (bits 0–15) · UDP destination port (16–31); the ECMP entropy. */
export const UDP_PORTS = 6
/** Source queue pair number, 24 bits. */
export const SOURCE_QP = 7
/** Destination queue pair number, 24 bits. */
export const DESTINATION_QP = 8
/** Cache index of this flow and direction: routes and endpoints are looked up by it. */
export const FLOW = 9
/** Telemetry block, or -1. */
export const TELEMETRY = 10
/** Extension record, or -1. */
export const EXTENSION = 11
/** Next handle in whatever list the packet is in, or -1. */
export const NEXT = 12
/** Ingress port at the node that holds the packet now (bits 0–23) · switch hops so far (24–31). */
export const PLACE = 13
/** A double, words 14–15: the time the sender stamped, picoseconds (echoed by acknowledgements). */
export const STAMP_F64 = 7

/** Words in an extension record (128 bytes). */
export const EXTENSION_SHIFT = 5
export const EXTENSION_WORDS = 1 << EXTENSION_SHIFT
/** Extension record layout, words from its base. */
export const EXT = {
  /** IPv6 source address, 4 words, network order. */
  ipv6Source: 0,
  /** IPv6 destination address, 4 words, network order. */
  ipv6Destination: 4,
  /** IPv6 flow label (20 bits). */
  flowLabel: 8,
  /** Immediate data, or the R_Key an invalidate names. */
  immediate: 9,
  /** RETH or AtomicETH: remote address (2 words, high then low), R_Key, DMA length. */
  remoteAddress: 10,
  remoteKey: 12,
  dmaLength: 13,
  /** AtomicETH: swap or add (2 words), compare (2 words); AtomicAckETH: original (2 words, shares compare). */
  swapAdd: 14,
  compare: 16,
  /** Selective acknowledgement: first PSN of the bitmap, then 128 bits. */
  sackBase: 18,
  sackBits: 19,
  /** Overlay: virtual network identifier, outer source and destination node, outer UDP source port. */
  overlayId: 23,
  overlaySource: 24,
  overlayDestination: 25,
  overlayPort: 26,
  /** Payload slab and offset when the payload is a slice of real octets (see PayloadKind). */
  payloadSlab: 27,
  payloadOffset: 28,
  /** AETH: syndrome (8 bits) · message sequence number (24 bits). */
  aeth: 29,
  /** Queue key (DETH). */
  queueKey: 30,
} as const

/** Doubles in a telemetry block before its hops: hop count, path identifier. */
export const TELEMETRY_HEAD = 2
/** Doubles per hop: time (ps), bytes sent by the port, queue length (bytes), port rate (bit/s). */
export const TELEMETRY_HOP = 4
