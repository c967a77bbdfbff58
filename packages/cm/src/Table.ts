import { NEVER, type Time } from "@rdmakit/protocol"
import { hash32 } from "@rdmakit/units"
import type { CmMessage } from "@rdmakit/wire/cm"
import { type CmState, type Connection, type ConnectionStart, halfOpenStates, makeConnection } from "./Connection.ts"
import { DeadlineHeap } from "./DeadlineHeap.ts"
import type { CmEvent } from "./Event.ts"
import { madOf } from "./MadOctets.ts"
import { type CmCounters, type CmLimits, type CmOptions, defaultLimits, RXE_ACK_DELAY } from "./Options.ts"
import type { CmAddress } from "./Route.ts"
import { timeoutPs } from "./Timeout.ts"

/** A datagram of 256 octets for queue pair 1 of a peer. */
export interface CmDatagram {
  readonly destination: CmAddress
  /** Its own: nobody else writes them. */
  readonly octets: Uint8Array
}

/** Shorter waits are drawn out to a millisecond, as Linux counts in those. */
const TIMEOUT_CODE_MIN = 8
/** How long an answer to a resolve request is kept, should the question come again: 8.6 s, twice rdma_cm's wait. */
const ANSWER_KEPT_CODE = 21
/** The upper half of transaction ids: Linux has the number of its agent there. */
const TRANSACTION_AGENT = 1n << 32n

/** Every id with its tables, deadlines, and what waits to be polled. */
export class Table {
  readonly caGuid: bigint
  readonly localAckDelay: number
  readonly limits: CmLimits
  readonly counters: CmCounters = {
    sent: 0,
    received: 0,
    repeated: 0,
    malformed: 0,
    unsupported: 0,
    unmatched: 0,
    unexpected: 0,
    duplicates: 0,
    overflowed: 0,
  }
  readonly connections = new Map<number, Connection>()
  /** By service and by id. */
  readonly listeners = new Map<bigint, number>()
  readonly services = new Map<number, bigint>()
  /** By `peerKey` of the peer's id and of its queue pair: one connection each. */
  readonly remoteIds = new Map<string, Connection>()
  readonly remoteQps = new Map<string, Connection>()
  readonly deadlines = new DeadlineHeap<Connection>()
  readonly transmits: Array<CmDatagram> = []
  readonly events: Array<CmEvent> = []
  private readonly timewaits = new Set<Connection>()
  private readonly seed: number
  private ids = 0
  private halfOpen = 0

  constructor(options: CmOptions) {
    this.caGuid = options.caGuid
    this.seed = options.seed >>> 0
    this.localAckDelay = options.localAckDelay ?? RXE_ACK_DELAY
    this.limits = { ...defaultLimits, ...options.limits }
  }

  /** An id that nothing has: not 0, which peers read as none. */
  newId(): number {
    for (;;) {
      const id = hash32(this.seed, 0, this.ids++)
      if (id !== 0 && !this.connections.has(id) && !this.services.has(id)) return id
    }
  }

  transactionOf(id: number): bigint {
    return TRANSACTION_AGENT | BigInt(id)
  }

  /** undefined: there is no room. */
  add(start: ConnectionStart): Connection | undefined {
    const full =
      this.connections.size >= this.limits.connections ||
      this.events.length >= this.limits.queued ||
      (halfOpenStates.has(start.state) && this.halfOpen >= this.limits.halfOpen)
    if (full) return undefined
    const connection = makeConnection(this.newId(), start)
    if (connection.transactionId === 0n && connection.remoteId === 0)
      connection.transactionId = this.transactionOf(connection.id)
    this.connections.set(connection.id, connection)
    if (halfOpenStates.has(connection.state)) this.halfOpen++
    return connection
  }

  /** The connection that both ids are of. */
  match(id: number, remoteId: number): Connection | undefined {
    const connection = this.connections.get(id)
    return connection?.remoteId === remoteId ? connection : undefined
  }

  /** Keeps the peer's id and queue pair for this connection. */
  claim(connection: Connection, idKey: string, qpKey: string): void {
    connection.idKey = idKey
    connection.qpKey = qpKey
    this.remoteIds.set(idKey, connection)
    if (qpKey !== "") this.remoteQps.set(qpKey, connection)
  }

  /** To another state, without a deadline. */
  move(connection: Connection, state: CmState): void {
    if (halfOpenStates.has(connection.state)) this.halfOpen--
    if (halfOpenStates.has(state)) this.halfOpen++
    connection.state = state
    this.deadlines.set(connection, NEVER)
  }

  /** The wait that a code of a peer means here, ps. */
  waitPs(code: number): Time {
    return timeoutPs(Math.min(Math.max(code, TIMEOUT_CODE_MIN), this.limits.timeoutCode))
  }

  /** Nothing of a connection may be reused while packets of it may be on their way (IBTA 1.7 §12.9). */
  enterTimewait(now: Time, connection: Connection): void {
    this.rest(now, connection, "timewait", connection.ackTimeout)
  }

  /** The answer is kept for those who ask again. */
  keepAnswer(now: Time, connection: Connection): void {
    this.rest(now, connection, "resolveAnswered", ANSWER_KEPT_CODE)
  }

  private rest(now: Time, connection: Connection, state: CmState, code: number): void {
    this.move(connection, state)
    this.deadlines.set(connection, now + this.waitPs(code))
    this.timewaits.add(connection)
    if (this.timewaits.size > this.limits.timewait) {
      const [oldest] = this.timewaits
      this.end(oldest!)
    }
  }

  /** Time is up for a connection in timewait, or for a kept answer. */
  end(connection: Connection): void {
    const wasConnection = connection.state === "timewait"
    this.forget(connection)
    if (wasConnection) this.tell(connection, { type: "timewaitEnded", id: connection.id })
  }

  forget(connection: Connection): void {
    this.move(connection, "gone")
    this.connections.delete(connection.id)
    this.timewaits.delete(connection)
    if (this.remoteIds.get(connection.idKey) === connection) this.remoteIds.delete(connection.idKey)
    if (this.remoteQps.get(connection.qpKey) === connection) this.remoteQps.delete(connection.qpKey)
  }

  /** An event, unless the program has closed the id. */
  tell(connection: Connection, event: CmEvent): void {
    if (connection.wanted) this.events.push(event)
  }

  send(destination: CmAddress, octets: Uint8Array): void {
    if (this.transmits.length >= this.limits.queued) {
      this.counters.overflowed++
      return
    }
    this.counters.sent++
    this.transmits.push({ destination, octets: octets.slice() })
  }

  answer(destination: CmAddress, transactionId: bigint, message: CmMessage): void {
    this.send(destination, madOf(transactionId, message))
  }

  /** Sends what is repeated until an answer comes. The first of its kind. */
  sendRepeatedly(now: Time, connection: Connection, state: CmState, message: Uint8Array): void {
    this.move(connection, state)
    connection.message = message
    connection.retriesLeft = connection.cmRetries
    this.send(connection.address, message)
    this.deadlines.set(connection, now + connection.waitPs)
  }
}
