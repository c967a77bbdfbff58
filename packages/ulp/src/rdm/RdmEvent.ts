/** What a program asked for. */
export type RdmOperation = "send" | "receive" | "write" | "read" | "atomic"

/** Something came to an end. */
export type RdmEvent =
  | {
      readonly type: "completed"
      readonly operation: RdmOperation
      /** The program's number of it. */
      readonly context: number
      readonly peer: number
      /** Of the message or the remote range. */
      readonly bytes: number
      /** Of a tagged message. */
      readonly tag: bigint | undefined
      /** What the sender added. */
      readonly cqData: bigint | undefined
    }
  | {
      readonly type: "failed"
      readonly operation: RdmOperation
      readonly context: number
      /** -1 for a receive from anyone. */
      readonly peer: number
      readonly reason: RdmFailure
      /** Of a truncated message: what it had. */
      readonly bytes: number
    }
  /** A peer has written, and added data for a completion. */
  | { readonly type: "remoteWrite"; readonly peer: number; readonly bytes: number; readonly cqData: bigint }

/**
 * - `truncated`: the message is longer than the receive's buffer, which holds its beginning.
 * - `unsupported`: the peer's handshake says that it cannot confirm deliveries.
 * - `refused`: the remote memory could not be reached by RDMA, or the local be registered.
 * - `unreachable`: the service has given the peer up.
 * - `canceled`: by the program.
 */
export type RdmFailure = "truncated" | "unsupported" | "refused" | "unreachable" | "canceled"

/**
 * Why a request was not taken; nothing has changed, and it may be made again later. `busy`: as much as the limits allow is
 * under way; drain the events. `unreachable`: the service has given the peer up. `peers`: no more peers can be known.
 */
export type RdmRefusal = "busy" | "unreachable" | "peers"

/** What happened that no event tells: packets dropped, by cause, and how memory was used. */
export interface RdmCounters {
  packetsSent: number
  packetsReceived: number
  /** Did not parse; `lastFault` has the last. */
  malformed: number
  /** For an operation that there is not, or not of that peer, or that does not want it. */
  stray: number
  /** Requests whose message number was used before. */
  duplicates: number
  /** Of another connection than the peer's: one that had its queue pair before. */
  staleConnections: number
  /** From senders that the service does not know, and that do not tell an address it does. */
  unknownPeers: number
  /** RMA and atomics on memory that is not there or not for that. Version 4 has no answer to them. */
  accessRefused: number
  /** Times that a packet was not taken for want of room. */
  heldBack: number
  /** Messages that came ahead of their turn, and of these the ones past the receive window. */
  reordered: number
  overflowed: number
  /** Messages that found no receive. */
  unexpected: number
  /** The most bytes that ever waited. */
  reorderBytesPeak: number
  unexpectedBytesPeak: number
}

export const noCounts = (): RdmCounters => ({
  packetsSent: 0,
  packetsReceived: 0,
  malformed: 0,
  stray: 0,
  duplicates: 0,
  staleConnections: 0,
  unknownPeers: 0,
  accessRefused: 0,
  heldBack: 0,
  reordered: 0,
  overflowed: 0,
  unexpected: 0,
  reorderBytesPeak: 0,
  unexpectedBytesPeak: 0,
})
