/**
 * Where a directed port's state lives: 64 words, four cache lines, in one buffer seen as words and as doubles. Port p
 * and port p ^ 1 are the two ends of one link. The first line is all that a packet touches which finds the port idle.
 */

/** log2 of the words per port. */
export const PORT_SHIFT = 6
/** Bit q: queue q holds packets. */
export const OCCUPIED = 0
/** Bit q: priority q is paused by the peer. */
export const PAUSED = 1
/** Queue served last by the round robin. */
export const LAST_QUEUE = 2
/** Bytes waiting, all queues. */
export const QUEUED_BYTES = 3
/** Transmitter state: see Busy. */
export const BUSY = 4
/** Order number reserved for the completion. */
export const BUSY_ORDER = 5
/** Packets on the link: counters of the ring's first and next entry, where the ring starts (entries), its size less 1. */
export const RING_HEAD = 6
export const RING_TAIL = 7
export const RING_START = 8
export const RING_MASK = 9
/** Doubles: end of the serialization (ps), bytes sent so far, propagation delay (ps). */
export const BUSY_UNTIL_F64 = 5
export const SENT_BYTES_F64 = 6
export const DELAY_F64 = 7
/** Sixteen words that belong to the policy of the switch the port is on. */
export const POLICY = 16
/** Eight queues: first packet, last packet, bytes. */
export const QUEUE_HEAD = 32
export const QUEUE_TAIL = 40
export const QUEUE_BYTES = 48
/** Event of the pending wake-up, and doubles: its time (ps, or Infinity); frames that crossed the link; chance of loss. */
export const WAKE_EVENT = 56
export const WAKE_TIME_F64 = 29
export const CROSSED_F64 = 30
export const LOSS_F64 = 31

/** Transmitter state. */
export const Busy = {
  No: 0,
  /** A completion event is in the queue. */
  Scheduled: 1,
  /** Serializing, but nobody waits for the end: the completion keeps its reserved order number and no event. */
  Silent: 2,
} as const
