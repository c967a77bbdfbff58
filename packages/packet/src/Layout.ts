/**
 * Where each field of a packet lives in the pool, in 32-bit words from the record's base.
 *
 * A record is 64 bytes, one cache line: packets on their way far outnumber what a cache holds, and fetching a line is
 * most of what moving a packet costs. Rare headers sit in an extension record, INT hops in a side array, and the payload
 * is a descriptor: what the simulator moves is the handle.
 */

/** log2 of the words in a record: base word = handle << RECORD_SHIFT. */
export const RECORD_SHIFT = 4
export const RECORD_WORDS = 1 << RECORD_SHIFT

/** Opcode (bits 0–7) · flags (8–23) · priority (24–26) · ECN (28–29). */
export const META = 0
/** Wire size, bytes. */
export const WIRE_BYTES = 1
/** Cache index of this flow and direction: routes and endpoints are looked up by it. */
export const FLOW = 2
/** Telemetry: block (bits 0–23) · hops stamped so far (24–30); -1 for none; a PINT digest d as -2 - d. */
export const TELEMETRY = 3
/** Next handle in whatever list the packet is in, or -1. */
export const NEXT = 4
/** Ingress port at the node that holds the packet now (bits 0–19) · path identifier (20–31). */
export const PLACE = 5
/** While the packet is on a link, the kernel's: order number of the arrival of the packet behind it, `NEXT`. */
export const NEXT_ORDER = 6
/** Packet sequence number, 24 bits (IBTA 1.7 §9.2) · switch hops so far (24–31). */
export const PSN = 7
/** A double, words 8–9: when the packet behind it on a link arrives, ps; the kernel's. */
export const NEXT_ARRIVAL_F64 = 4
/** A double, words 10–11: the time the sender stamped, ps (echoed by acknowledgements). */
export const STAMP_F64 = 5
/** Extension record, or -1. From here on are words that no switch touches. */
export const EXTENSION = 12
/** Payload length, bytes. */
export const PAYLOAD_BYTES = 13
/** Source node (bits 0–15) · destination node (16–31): 65,536 nodes at most. */
export const NODES = 14
/** UDP source port (bits 0–15) · UDP destination port (16–31); the ECMP entropy. */
export const UDP_PORTS = 15

/** Ports that `PLACE` can name. */
export const PORTS_MAX = 1 << 20
/** The bits of `PLACE` that name a port. */
export const INGRESS = PORTS_MAX - 1
/** Where the path identifier begins in `PLACE`, the hops in `PSN`. */
export const PATH_SHIFT = 20
export const HOP_SHIFT = 24

/** Words in an extension record (256 bytes). */
export const EXTENSION_SHIFT = 6
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
  /** Where a payload of real octets lies, as the pool's `payloads` name it: the slice, 0 for none, and an offset in it. */
  payloadSlice: 27,
  payloadOffset: 28,
  /** AETH: syndrome (8 bits) · message sequence number (24 bits). */
  aeth: 29,
  /** Queue key (DETH). */
  queueKey: 30,
  /** Destination queue pair number, 24 bits, where the flow index does not stand for it. */
  destinationQp: 31,
  /** Source queue pair number (DETH), 24 bits. */
  sourceQp: 32,
  /** Shared receive queue number (XRCETH), 24 bits. */
  receiveQueue: 33,
  /** Partition key, 16 bits. */
  partition: 34,
  /** The IP header's traffic class, 8 bits, ECN included: what the sender wrote. */
  trafficClass: 35,
  /** The IP header's time to live or hop limit, 8 bits. */
  hopLimit: 36,
  /** First PSN that has not come, where the PSN of an acknowledgement names the packet it answers (SRD). */
  cumulative: 37,
  /** iWARP: opcode of RDMAP (4 bits) and what `transport-erdma` says of a segment · offset in its message, bytes. */
  segment: 38,
  messageOffset: 39,
  /** Selective acknowledgements in blocks (RFC 2018): how many, and first and end of each, up to four, numbers of 24 bits. */
  sackBlocks: 40,
  sackRanges: 41,
  /**
   * SRD: which of the contexts that the two nodes have had it belongs to, 16 bits · first PSN that its sender still waits
   * for · number of the READ that a response is to · why a packet was refused (8 bits).
   */
  generation: 49,
  oldest: 50,
  message: 51,
  status: 52,
} as const
