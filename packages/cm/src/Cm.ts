import type { QpSettings, Time } from "@rdmakit/protocol"
import { EmitError } from "@rdmakit/wire"
import { type CmMessage, parseCm } from "@rdmakit/wire/cm"
import { MAD_METHOD_SEND, ManagementClass, parseMad } from "@rdmakit/wire/mad"
import { type CmCommand, type CmResult, refused } from "./Command.ts"
import { execute, giveUp } from "./Commands.ts"
import type { Connection } from "./Connection.ts"
import type { CmEvent } from "./Event.ts"
import { CM_CLASS_VERSION, MESSAGE_END, MESSAGE_START } from "./MadOctets.ts"
import type { CmCounters, CmOptions } from "./Options.ts"
import {
  receiveDelay,
  receiveDisconnect,
  receiveDisconnectReply,
  receiveReady,
  receiveReject,
  receiveReply,
} from "./Receive.ts"
import { receiveRequest } from "./Request.ts"
import { receiveResolve, receiveResolveReply } from "./Resolution.ts"
import type { CmAddress, CmRoute } from "./Route.ts"
import { type CmDatagram, Table } from "./Table.ts"

/** What the queue pair of a connection is brought up with, in the units of the wire. */
export interface CmSettings
  extends Pick<
    QpSettings,
    | "partition"
    | "pathMtuBytes"
    | "destinationQp"
    | "receivePsn"
    | "sendPsn"
    | "responderResources"
    | "initiatorDepth"
    | "timeout"
    | "retryCount"
    | "rnrRetry"
  > {
  readonly route: CmRoute
}

/**
 * The InfiniBand connection manager of one port, without IO (IBTA 1.7 chapter 12). After `handleMad`, `handleTimeout` and
 * `command` a world drains `pollTransmit` and `pollEvent`, and wakes it at `nextTimeout`. Time never decreases. Nothing
 * that a peer sends throws, or makes it hold more than its limits.
 */
export class Cm {
  private readonly table: Table

  constructor(options: CmOptions) {
    this.table = new Table(options)
  }

  /** When `handleTimeout` is wanted, ps; NEVER when idle. */
  get nextTimeout(): Time {
    return this.table.deadlines.next
  }

  get counters(): Readonly<CmCounters> {
    return this.table.counters
  }

  /** Ids that there are, those in timewait too; without listeners. */
  get size(): number {
    return this.table.connections.size
  }

  /** Ids of which something is still to be said: those in timewait only wait. */
  get open(): number {
    let count = 0
    for (const { state } of this.table.connections.values())
      if (state !== "timewait" && state !== "resolveAnswered") count++
    return count
  }

  /**
   * A datagram of queue pair 1 arrived: 256 octets, which are not kept. What is no message of communication management is
   * counted and dropped.
   */
  handleMad(now: Time, octets: Uint8Array, source: CmAddress): void {
    const { counters } = this.table
    counters.received++
    const mad = parseMad(octets)
    const isCm =
      mad.ok &&
      mad.value.managementClass === ManagementClass.Communication &&
      mad.value.classVersion === CM_CLASS_VERSION &&
      mad.value.method === MAD_METHOD_SEND
    if (!isCm) {
      counters.malformed++
      return
    }
    const message = parseCm(mad.value.attribute, octets, MESSAGE_START, MESSAGE_END)
    if (message.ok) this.receive(now, mad.value.transactionId, message.value, source)
    else counters.unsupported++
  }

  private receive(now: Time, transactionId: bigint, message: CmMessage, source: CmAddress): void {
    const { table } = this
    switch (message.kind) {
      case "request":
        receiveRequest(table, now, transactionId, message, source)
        break
      case "messageReceipt":
        receiveDelay(table, now, message)
        break
      case "reject":
        receiveReject(table, now, message)
        break
      case "reply":
        receiveReply(table, now, transactionId, message, source)
        break
      case "readyToUse":
        receiveReady(table, message)
        break
      case "disconnectRequest":
        receiveDisconnect(table, now, transactionId, message, source)
        break
      case "disconnectReply":
        receiveDisconnectReply(table, now, message)
        break
      case "resolveRequest":
        receiveResolve(table, transactionId, message, source)
        break
      case "resolveReply":
        receiveResolveReply(table, message)
        break
    }
  }

  /** `nextTimeout` was reached, or passed. */
  handleTimeout(now: Time): void {
    for (;;) {
      const connection = this.table.deadlines.take(now)
      if (connection === undefined) return
      this.expire(now, connection)
    }
  }

  private expire(now: Time, connection: Connection): void {
    const { table } = this
    const { id, state, message } = connection
    if (state === "timewait" || state === "resolveAnswered") {
      table.end(connection)
      return
    }
    if (connection.retriesLeft > 0 && message !== undefined) {
      connection.retriesLeft--
      table.counters.repeated++
      table.send(connection.address, message)
      table.deadlines.set(connection, now + connection.waitPs)
      return
    }
    switch (state) {
      case "requestSent":
      case "requestDelayReceived":
        giveUp(table, now, connection)
        table.tell(connection, { type: "unreachable", id, message: "request" })
        break
      case "replySent":
      case "replyDelayReceived":
        giveUp(table, now, connection)
        table.tell(connection, { type: "unreachable", id, message: "reply" })
        break
      case "disconnectSent":
        table.enterTimewait(now, connection)
        connection.message = undefined
        table.tell(connection, { type: "unreachable", id, message: "disconnectRequest" })
        break
      case "resolveSent":
        table.forget(connection)
        table.tell(connection, { type: "unreachable", id, message: "resolveRequest" })
        break
    }
  }

  /** What a program wants; refused, with nothing changed, when it cannot be. */
  command(now: Time, command: CmCommand): CmResult {
    try {
      return execute(this.table, now, command)
    } catch (error) {
      if (error instanceof EmitError) return refused("value", `cm: ${command.type}: ${error.message}`)
      throw error
    }
  }

  /** The next datagram; undefined: none. */
  pollTransmit(): CmDatagram | undefined {
    return this.table.transmits.shift()
  }

  pollEvent(): CmEvent | undefined {
    return this.table.events.shift()
  }

  /**
   * What the queue pair of this id is brought up with: from the event `request` on for RTR of the side that was asked,
   * whose depths, queue pair and PSN `accept` sets; from `reply` on for the side that asked. undefined before, and for ids
   * that are gone.
   */
  settings(id: number): CmSettings | undefined {
    const connection = this.table.connections.get(id)
    if (connection === undefined || connection.remoteQpn === 0) return undefined
    return {
      route: connection.route,
      partition: connection.route.partition,
      pathMtuBytes: connection.route.mtuBytes,
      destinationQp: connection.remoteQpn,
      receivePsn: connection.receivePsn,
      sendPsn: connection.sendPsn,
      responderResources: connection.responderResources,
      initiatorDepth: connection.initiatorDepth,
      timeout: connection.ackTimeout,
      retryCount: connection.retries,
      rnrRetry: connection.rnrRetries,
    }
  }
}
