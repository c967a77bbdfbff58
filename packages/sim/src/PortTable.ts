/**
 * Where a directed port's state lives. Port p and port p ^ 1 are the two ends of one link. What every packet touches is
 * one cache line of 16 words, seen as words and as doubles; queues and the policy's words have tables of their own.
 */

/** log2 of the words per port. */
export const PORT_SHIFT = 4
/** Bit q: queue q holds packets. */
export const OCCUPIED = 0
/** Bit q: priority q is paused by the peer. */
export const PAUSED = 1
/** What the switch leaves to the kernel here: to stamp telemetry with this rate code; see Leave. */
export const LEAVE = 2
/** Bytes waiting, all queues. */
export const QUEUED_BYTES = 3
/** Transmitter state, see Busy (bits 0–1) · queue served last by the round robin (bits 2–4). */
export const STATE = 4
export const BUSY_MASK = 3
export const LAST_SHIFT = 2
/** Order number reserved for the completion. */
export const BUSY_ORDER = 5
/** Packets on the link, a list through their records in order of arrival: the first, -1 for none, and the last. */
export const LINK_HEAD = 6
export const LINK_TAIL = 7
/** Where the serialization times of the port's rate begin. */
export const TX_BASE = 8
/** Node at the other end: a switch; of a host, the complement, which is negative. */
export const PEER = 9
/** Doubles: end of the serialization (ps), bytes sent so far, propagation delay (ps). */
export const BUSY_UNTIL_F64 = 5
export const SENT_BYTES_F64 = 6
export const DELAY_F64 = 7

/** log2 of the policy words per port. */
export const POLICY_SHIFT = 5

/** Queues: eight of four words for each port: first packet, last packet, bytes, bytes up to which nothing is marked. */
export const QUEUES_SHIFT = 5
export const QUEUE_SHIFT = 2
export const QUEUE_HEAD = 0
export const QUEUE_TAIL = 1
export const QUEUE_BYTES = 2
export const QUEUE_UNMARKED = 3

/** What a switch leaves to the kernel at a port, beside the rate codes from 0 on. */
export const Leave = { Stampless: -1, Nothing: -2 } as const

/** Transmitter state. */
export const Busy = {
  No: 0,
  /** A completion event is in the queue. */
  Scheduled: 1,
  /** Serializing, but nobody waits for the end: the completion keeps its reserved order number and no event. */
  Silent: 2,
} as const
