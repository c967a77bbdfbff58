export interface CmOptions {
  /** GUID of the channel adapter, 64 bits: peers know connections by it and their ids. */
  readonly caGuid: bigint
  /** Ids are drawn from it. A new one for every life of the process, or peers take new requests for old ones. */
  readonly seed: number
  /** Code, 4.096 µs · 2^n: how long this adapter takes to acknowledge. Default 15, as rdma_rxe. */
  readonly localAckDelay?: number
  readonly limits?: Partial<CmLimits>
}

/** What peers and programs can make the machine hold. */
export interface CmLimits {
  /** Ids of all kinds but listeners. Default 65,536. */
  readonly connections: number
  /** Requests of peers that are not yet connections: more are not answered, so that peers try again. Default 1,024. */
  readonly halfOpen: number
  /** Default 1,024. */
  readonly listeners: number
  /** Connections that wait out their time; the oldest go first. Default 16,384. */
  readonly timewait: number
  /** Datagrams and events that nobody has polled; more are dropped. Default 4,096 each. */
  readonly queued: number
  /** Largest code a peer may make this side wait by, 4.096 µs · 2^n. Default 24, 69 s. */
  readonly timeoutCode: number
}

/** How often each has happened. */
export interface CmCounters {
  sent: number
  received: number
  /** Sent again, because no answer came. */
  repeated: number
  /** No message of communication management of class version 2, or one that contradicts itself. */
  malformed: number
  /** Path messages (LAP, APR) and other attributes. */
  unsupported: number
  /** For an id that is not there. */
  unmatched: number
  /** Right, and not expected in the state of the id. */
  unexpected: number
  /** Had been received before; answered where the peer waits. */
  duplicates: number
  /** Not taken because a limit was reached. */
  overflowed: number
}

export const defaultLimits: CmLimits = {
  connections: 65_536,
  halfOpen: 1_024,
  listeners: 1_024,
  timewait: 16_384,
  queued: 4_096,
  timeoutCode: 24,
}

export const RXE_ACK_DELAY = 15
