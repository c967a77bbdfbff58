/**
 * Where a directed port's state lives: words in an Int32Array, doubles in a Float64Array, both indexed by port number.
 * Port p and port p ^ 1 are the two ends of one link.
 */

/** log2 of the words per port. */
export const PORT_SHIFT = 5
/** Node the port is on. */
export const NODE = 0
/** 1 when the node is a switch. */
export const ON_SWITCH = 1
/** Bit q: queue q holds packets. */
export const OCCUPIED = 2
/** Bit q: priority q is paused by the peer. */
export const PAUSED = 3
/** Queue served last by the round robin. */
export const LAST_QUEUE = 4
/** Bytes waiting, all queues. */
export const QUEUED_BYTES = 5
/** First index of the port's serialization times in the shared table. */
export const TX_TABLE = 6
/** Transmitter state: see Busy. */
export const BUSY = 7
/** Eight queues: first packet, last packet, bytes. */
export const QUEUE_HEAD = 8
export const QUEUE_TAIL = 16
export const QUEUE_BYTES = 24

/** Transmitter state. */
export const Busy = {
  No: 0,
  /** A completion event is in the queue. */
  Scheduled: 1,
  /** Serializing, but nobody waits for the end: the completion keeps its reserved order number and no event. */
  Silent: 2,
} as const

/** log2 of the doubles per port. */
export const PORT_F64_SHIFT = 3
/** End of the serialization, ps. */
export const BUSY_UNTIL = 0
/** Order number reserved for the completion. */
export const BUSY_ORDER = 1
/** Propagation delay, ps. */
export const DELAY = 2
/** Bytes sent so far. */
export const SENT_BYTES = 3
/** Wake-up that is pending, ps, or Infinity. */
export const WAKE_TIME = 4
/** Its event. */
export const WAKE_EVENT = 5
/** Frames that have arrived over the link this port sends on. */
export const ARRIVALS = 6
/** Chance that a frame sent by this port is lost, 0 to 1. */
export const LOSS = 7
