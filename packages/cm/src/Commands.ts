import type { Time } from "@rdmakit/protocol"
import { type CmReply, emitIpCm, IP_CM_BYTES, type IpCm } from "@rdmakit/wire/cm"
import {
  type CmAccept,
  type CmCommand,
  type CmConnect,
  type CmRefusal,
  type CmResolve,
  type CmResult,
  refused,
} from "./Command.ts"
import type { CmState, Connection } from "./Connection.ts"
import { madOf, privateDataOf } from "./MadOctets.ts"
import { sendDelay, sendDisconnect } from "./Messages.ts"
import { establish } from "./Receive.ts"
import { guidOctets, RejectCode, Rejected, rejectOf } from "./Reject.ts"
import { answerResolve, SidrStatus } from "./Resolution.ts"
import { mtuCodeOf, pathOf } from "./Route.ts"
import type { Table } from "./Table.ts"
import { ackTimeoutCode, timeoutPs } from "./Timeout.ts"

/** As Linux' rdma_cm (CMA_CM_RESPONSE_TIMEOUT, CMA_MAX_CM_RETRIES). */
const RESPONSE_TIMEOUT = 20
const CM_RETRIES = 15
const NONE = new Uint8Array(0)
const NO_ROOM = refused("limit", "cm: as many ids as the limit `connections` allows; close some, or raise it")

const withIp = (ip: IpCm | undefined, data: Uint8Array = NONE): Uint8Array => {
  if (ip === undefined) return data
  const octets = new Uint8Array(IP_CM_BYTES + data.length)
  emitIpCm(ip, octets)
  octets.set(data, IP_CM_BYTES)
  return octets
}

const listen = (table: Table, serviceId: bigint): CmResult => {
  const taken = `cm: service 0x${serviceId.toString(16)} has a listener; close it first, or take another port`
  if (table.listeners.has(serviceId)) return refused("service", taken)
  if (table.services.size >= table.limits.listeners)
    return refused("limit", "cm: as many listeners as the limit `listeners` allows; close some, or raise it")
  const id = table.newId()
  table.listeners.set(serviceId, id)
  table.services.set(id, serviceId)
  return { ok: true, id }
}

/** An id is made, then its first message; an `EmitError` of the latter leaves none behind. */
const begin = (table: Table, connection: Connection | undefined, message: (made: Connection) => void): CmResult => {
  if (connection === undefined) return NO_ROOM
  try {
    message(connection)
  } catch (error) {
    table.forget(connection)
    throw error
  }
  return { ok: true, id: connection.id }
}

const connect = (table: Table, now: Time, command: CmConnect): CmResult => {
  const { route, remoteResponseTimeout = RESPONSE_TIMEOUT, localResponseTimeout = RESPONSE_TIMEOUT } = command
  const mtuCode = mtuCodeOf(route.mtuBytes)
  if (mtuCode === 0) return refused("value", `cm: path MTU ${route.mtuBytes}, expected 256, 512, 1,024, 2,048 or 4,096`)
  const ackTimeout = ackTimeoutCode(table.localAckDelay, route.packetLifetime)
  const connection = table.add({
    state: "requestSent",
    remoteId: 0,
    serviceId: command.serviceId,
    transactionId: 0n,
    address: route,
    route,
    transport: command.transport,
    waitPs: 2 * timeoutPs(route.packetLifetime) + timeoutPs(remoteResponseTimeout),
    cmRetries: command.cmRetries ?? CM_RETRIES,
    localQpn: command.qpn,
    receivePsn: command.psn,
    responderResources: command.responderResources,
    initiatorDepth: command.initiatorDepth,
    retries: command.retries,
    rnrRetries: command.rnrRetries,
    ackTimeout: route.packetLifetime + 1,
  })
  return begin(table, connection, (made) => {
    const message = madOf(made.transactionId, {
      kind: "request",
      localId: made.id,
      serviceId: command.serviceId,
      caGuid: table.caGuid,
      queueKey: 0,
      qpn: command.qpn,
      responderResources: command.responderResources,
      localContext: 0,
      initiatorDepth: command.initiatorDepth,
      remoteContext: 0,
      remoteResponseTimeout,
      transport: command.transport === "rc" ? 0 : 1,
      flowControl: command.flowControl ?? false,
      psn: command.psn,
      localResponseTimeout,
      retries: command.retries,
      partition: route.partition,
      mtuCode,
      rdcExists: false,
      rnrRetries: command.rnrRetries,
      cmRetries: made.cmRetries,
      sharedReceive: command.sharedReceive ?? false,
      extendedTransport: 0,
      primary: pathOf(route, ackTimeout),
      alternate: undefined,
      privateData: privateDataOf("request", withIp(command.ip, command.privateData)),
    })
    table.sendRepeatedly(now, made, "requestSent", message)
  })
}

const accept = (table: Table, now: Time, connection: Connection, command: CmAccept): void => {
  const reply: CmReply = {
    kind: "reply",
    localId: connection.id,
    remoteId: connection.remoteId,
    queueKey: 0,
    qpn: command.qpn,
    context: 0,
    psn: command.psn,
    responderResources: command.responderResources,
    initiatorDepth: command.initiatorDepth,
    ackDelay: table.localAckDelay,
    failover: connection.alternate ? 1 : 0,
    flowControl: command.flowControl ?? false,
    rnrRetries: command.rnrRetries,
    sharedReceive: command.sharedReceive ?? false,
    caGuid: table.caGuid,
    privateData: privateDataOf("reply", command.privateData),
  }
  table.sendRepeatedly(now, connection, "replySent", madOf(connection.transactionId, reply))
  connection.localQpn = command.qpn
  connection.receivePsn = command.psn
  connection.responderResources = command.responderResources
  connection.initiatorDepth = command.initiatorDepth
}

const ready = (table: Table, connection: Connection, privateData: Uint8Array | undefined): void => {
  const { id: localId, remoteId, transactionId } = connection
  const message = madOf(transactionId, {
    kind: "readyToUse",
    localId,
    remoteId,
    privateData: privateDataOf("readyToUse", privateData),
  })
  table.move(connection, "established")
  // The peer repeats its reply when this is lost.
  connection.message = message
  table.send(connection.address, message)
}

const messageRejected = (state: CmState): number => {
  switch (state) {
    case "requestReceived":
    case "requestDelaySent":
      return Rejected.Request
    case "replyReceived":
    case "replyDelaySent":
      return Rejected.Reply
    default:
      return Rejected.Other
  }
}

const reject = (
  table: Table,
  now: Time,
  connection: Connection,
  reason: number,
  information?: Uint8Array,
  privateData?: Uint8Array,
): void => {
  const { id, remoteId, state, address, transactionId } = connection
  table.answer(address, transactionId, rejectOf(id, remoteId, messageRejected(state), reason, information, privateData))
  // The peer may have begun to send.
  if (state === "replySent" || state === "replyDelayReceived") table.enterTimewait(now, connection)
  else table.forget(connection)
}

/** No answer came, however often it was asked for: the peer may have heard, and is told (IBTA 1.7 §12.9). */
export const giveUp = (table: Table, now: Time, connection: Connection): void =>
  reject(table, now, connection, RejectCode.Timeout, guidOctets(table.caGuid))

const resolve = (table: Table, now: Time, command: CmResolve): CmResult => {
  const connection = table.add({
    state: "resolveSent",
    remoteId: 0,
    serviceId: command.serviceId,
    transactionId: 0n,
    address: command.route,
    route: command.route,
    transport: "rc",
    waitPs: timeoutPs(command.responseTimeout ?? RESPONSE_TIMEOUT),
    cmRetries: command.cmRetries ?? CM_RETRIES,
  })
  return begin(table, connection, (made) => {
    const message = madOf(made.transactionId, {
      kind: "resolveRequest",
      requestId: made.id,
      partition: command.route.partition,
      serviceId: command.serviceId,
      privateData: privateDataOf("resolveRequest", withIp(command.ip, command.privateData)),
    })
    table.sendRepeatedly(now, made, "resolveSent", message)
  })
}

/** What ib_destroy_cm_id of Linux does in each state, but that a DREQ is repeated until it is answered. */
const close = (table: Table, now: Time, connection: Connection): void => {
  connection.wanted = false
  switch (connection.state) {
    case "requestSent":
    case "requestDelayReceived":
      giveUp(table, now, connection)
      break
    case "requestReceived":
    case "requestDelaySent":
    case "replyReceived":
    case "replyDelaySent":
    case "replySent":
    case "replyDelayReceived":
      reject(table, now, connection, RejectCode.Consumer)
      break
    case "established":
    case "disconnectReceived":
      sendDisconnect(table, now, connection, undefined)
      break
    case "resolveSent":
      table.forget(connection)
      break
    case "resolveReceived":
      answerResolve(table, now, connection, SidrStatus.Reject)
      break
  }
}

const wrongState = (connection: Connection, command: string, expected: string): CmRefusal =>
  refused("state", `cm: ${command} of id ${connection.id} in state ${connection.state}, expected ${expected}`)

/** Of commands for an id: the states in which each is allowed. */
const allowed: Readonly<
  Record<Exclude<CmCommand["type"], "listen" | "connect" | "resolve" | "close">, ReadonlyArray<CmState>>
> = {
  delay: ["requestReceived", "requestDelaySent", "replyReceived", "replyDelaySent"],
  accept: ["requestReceived", "requestDelaySent"],
  ready: ["replyReceived", "replyDelaySent"],
  established: ["replySent", "replyDelayReceived"],
  reject: [
    "requestReceived",
    "requestDelaySent",
    "replyReceived",
    "replyDelaySent",
    "replySent",
    "replyDelayReceived",
    "requestSent",
    "requestDelayReceived",
  ],
  disconnect: ["established", "disconnectReceived"],
  answer: ["resolveReceived"],
  ignore: ["requestReceived", "requestDelaySent", "resolveReceived"],
}

/** Does a command. Throws an `EmitError` for a value out of its range; then nothing has changed. */
export const execute = (table: Table, now: Time, command: CmCommand): CmResult => {
  if (command.type === "listen") return listen(table, command.serviceId)
  if (command.type === "connect") return connect(table, now, command)
  if (command.type === "resolve") return resolve(table, now, command)
  const { id } = command
  if (command.type === "close") {
    const serviceId = table.services.get(id)
    if (serviceId !== undefined) {
      table.listeners.delete(serviceId)
      table.services.delete(id)
      return { ok: true, id }
    }
  }
  const connection = table.connections.get(id)
  // What has ended already needs no closing.
  if (command.type === "close") {
    if (connection !== undefined) close(table, now, connection)
    return { ok: true, id }
  }
  if (connection === undefined || !connection.wanted)
    return refused("id", `cm: ${command.type} of id ${id}, which there is not, or no longer`)
  const states = allowed[command.type]
  if (!states.includes(connection.state)) return wrongState(connection, command.type, states.join(" or "))
  switch (command.type) {
    case "delay":
      sendDelay(table, connection, command.serviceTimeout, command.privateData)
      break
    case "accept":
      accept(table, now, connection, command)
      break
    case "ready":
      ready(table, connection, command.privateData)
      break
    case "established":
      establish(table, connection, NONE)
      break
    case "reject":
      reject(table, now, connection, command.reason ?? RejectCode.Consumer, command.information, command.privateData)
      break
    case "disconnect":
      sendDisconnect(table, now, connection, command.privateData)
      break
    case "ignore":
      table.forget(connection)
      break
    case "answer":
      answerResolve(table, now, connection, command.status, command)
  }
  return { ok: true, id }
}
