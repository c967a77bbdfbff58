import type { Time } from "@rdmakit/protocol"
import type { CmDelay, CmDisconnectReply, CmDisconnectRequest, CmReady, CmReject, CmReply } from "@rdmakit/wire/cm"
import { type Connection, peerKey } from "./Connection.ts"
import { privateDataOf, withTransaction } from "./MadOctets.ts"
import { sendDelay, sendDisconnect } from "./Messages.ts"
import { RejectCode, Rejected, rejectOf } from "./Reject.ts"
import type { CmAddress } from "./Route.ts"
import type { Table } from "./Table.ts"
import { ackTimeoutCode, timeoutPs } from "./Timeout.ts"

/** A known connection turns out to be dead at the other end: it is ended from here (Linux cm_match_req). */
export const endStale = (table: Table, now: Time, connection: Connection): void => {
  if (connection.state === "established") sendDisconnect(table, now, connection, undefined)
}

/** REP (IBTA 1.7 §12.6.8). */
export const receiveReply = (
  table: Table,
  now: Time,
  transactionId: bigint,
  reply: CmReply,
  source: CmAddress,
): void => {
  const connection = table.connections.get(reply.remoteId)
  if (connection?.remoteId === reply.localId) {
    repeatReply(table, connection, source)
    return
  }
  if (connection === undefined || connection.remoteId !== 0) {
    table.counters.unmatched++
    return
  }
  if (connection.state !== "requestSent" && connection.state !== "requestDelayReceived") {
    table.counters.unexpected++
    return
  }
  const idKey = peerKey(reply.caGuid, reply.localId)
  const qpKey = peerKey(reply.caGuid, reply.qpn)
  if (reply.localId === 0 || table.remoteIds.has(idKey)) {
    table.counters.unexpected++
    return
  }
  const stale = table.remoteQps.get(qpKey)
  if (stale !== undefined) {
    const reject = rejectOf(connection.id, reply.localId, Rejected.Reply, RejectCode.StaleConnection)
    table.answer(source, transactionId, reject)
    endStale(table, now, stale)
    return
  }
  table.claim(connection, idKey, qpKey)
  table.move(connection, "replyReceived")
  connection.message = undefined
  connection.remoteId = reply.localId
  connection.remoteQpn = reply.qpn
  connection.sendPsn = reply.psn
  // A peer that answers with more than it was offered is held to the offer.
  connection.initiatorDepth = Math.min(connection.initiatorDepth, reply.responderResources)
  connection.responderResources = Math.min(connection.responderResources, reply.initiatorDepth)
  connection.rnrRetries = reply.rnrRetries
  connection.ackTimeout = ackTimeoutCode(reply.ackDelay, connection.route.packetLifetime)
  table.tell(connection, {
    type: "reply",
    id: connection.id,
    remoteQpn: reply.qpn,
    responderResources: connection.responderResources,
    initiatorDepth: connection.initiatorDepth,
    rnrRetries: reply.rnrRetries,
    flowControl: reply.flowControl,
    sharedReceive: reply.sharedReceive,
    privateData: reply.privateData.slice(),
  })
}

/** The peer has not heard the answer to its reply, or there is none yet: then it is asked to wait, as rdma_cm does. */
const repeatReply = (table: Table, connection: Connection, source: CmAddress): void => {
  table.counters.duplicates++
  const { state, message } = connection
  if (state === "replyReceived") sendDelay(table, connection, undefined, undefined)
  else if ((state === "established" || state === "replyDelaySent") && message !== undefined) table.send(source, message)
}

/** RTU (§12.6.9). */
export const receiveReady = (table: Table, ready: CmReady): void => {
  const connection = table.match(ready.remoteId, ready.localId)
  if (connection === undefined) table.counters.unmatched++
  else if (connection.state === "replySent" || connection.state === "replyDelayReceived") {
    establish(table, connection, ready.privateData.slice())
  } else if (connection.state === "established") table.counters.duplicates++
  else table.counters.unexpected++
}

export const establish = (table: Table, connection: Connection, privateData: Uint8Array): void => {
  table.move(connection, "established")
  connection.message = undefined
  table.tell(connection, { type: "established", id: connection.id, privateData })
}

/** MRA (§12.6.6): the next answer is waited for as long as it says. */
export const receiveDelay = (table: Table, now: Time, delay: CmDelay): void => {
  const remoteId = delay.message === Rejected.Request ? 0 : delay.localId
  const connection = table.match(delay.remoteId, remoteId)
  if (connection === undefined) {
    table.counters.unmatched++
    return
  }
  const { state } = connection
  const isRequest = state === "requestSent" && delay.message === Rejected.Request
  const isReply = state === "replySent" && delay.message === Rejected.Reply
  if (!isRequest && !isReply) {
    table.counters.unexpected++
    return
  }
  const serviceTimeoutPs = table.waitPs(delay.serviceTimeout)
  connection.waitPs = serviceTimeoutPs + timeoutPs(connection.route.packetLifetime)
  table.move(connection, isRequest ? "requestDelayReceived" : "replyDelayReceived")
  table.deadlines.set(connection, now + connection.waitPs)
  const privateData = delay.privateData.slice()
  table.tell(connection, { type: "delayed", id: connection.id, serviceTimeoutPs, privateData })
}

/** Whose reject it is: who gave up may know no id of this side, and says its GUID (§12.6.7.2). */
const rejected = (table: Table, reject: CmReject): Connection | undefined => {
  if (reject.reason === RejectCode.Timeout && reject.informationBytes >= 8) {
    const guid = new DataView(reject.information.buffer, reject.information.byteOffset).getBigUint64(0)
    const connection = table.remoteIds.get(peerKey(guid, reject.localId))
    if (connection !== undefined) return connection
  }
  return table.match(reject.remoteId, reject.message === Rejected.Request ? 0 : reject.localId)
}

/** REJ (§12.6.7). */
export const receiveReject = (table: Table, now: Time, reject: CmReject): void => {
  const connection = rejected(table, reject)
  if (connection === undefined) {
    table.counters.unmatched++
    return
  }
  switch (connection.state) {
    case "requestSent":
    case "requestDelayReceived":
    case "replySent":
    case "replyDelayReceived":
    case "requestReceived":
    case "requestDelaySent":
      if (reject.reason === RejectCode.StaleConnection) table.enterTimewait(now, connection)
      else table.forget(connection)
      break
    case "replyReceived":
    case "replyDelaySent":
    case "established":
    case "disconnectSent":
      table.enterTimewait(now, connection)
      break
    default:
      table.counters.unexpected++
      return
  }
  table.tell(connection, {
    type: "rejected",
    id: connection.id,
    reason: reject.reason,
    information: reject.information.slice(0, reject.informationBytes),
    privateData: reject.privateData.slice(),
  })
}

/** DREQ (§12.6.10). */
export const receiveDisconnect = (
  table: Table,
  now: Time,
  transactionId: bigint,
  request: CmDisconnectRequest,
  source: CmAddress,
): void => {
  const { remoteId, localId } = request
  const connection = table.match(remoteId, localId)
  const reply = (): CmDisconnectReply => ({
    kind: "disconnectReply",
    localId: remoteId,
    remoteId: localId,
    privateData: privateDataOf("disconnectReply", undefined),
  })
  if (connection === undefined) {
    // It has ended here already, and the peer has not heard of it.
    table.counters.unmatched++
    table.answer(source, transactionId, reply())
    return
  }
  if (request.qpn !== connection.localQpn) {
    table.counters.unexpected++
    return
  }
  switch (connection.state) {
    case "replySent":
    case "replyDelayReceived":
    case "established":
      table.move(connection, "disconnectReceived")
      connection.transactionId = transactionId
      connection.message = undefined
      table.tell(connection, {
        type: "disconnectRequested",
        id: connection.id,
        privateData: request.privateData.slice(),
      })
      // Nobody is left to answer.
      if (!connection.wanted) sendDisconnect(table, now, connection, undefined)
      break
    case "disconnectSent":
      // Both want to end it at once: each answers the other.
      table.answer(source, transactionId, reply())
      table.enterTimewait(now, connection)
      connection.message = undefined
      table.tell(connection, { type: "disconnected", id: connection.id, privateData: request.privateData.slice() })
      break
    case "timewait":
      table.counters.duplicates++
      if (connection.message === undefined) table.answer(source, transactionId, reply())
      else table.send(source, withTransaction(connection.message, transactionId))
      break
    case "disconnectReceived":
      table.counters.duplicates++
      break
    default:
      table.counters.unexpected++
  }
}

/** DREP (§12.6.11). */
export const receiveDisconnectReply = (table: Table, now: Time, reply: CmDisconnectReply): void => {
  const connection = table.match(reply.remoteId, reply.localId)
  if (connection === undefined) table.counters.unmatched++
  else if (connection.state !== "disconnectSent" && connection.state !== "disconnectReceived") {
    table.counters.unexpected++
  } else {
    table.enterTimewait(now, connection)
    connection.message = undefined
    table.tell(connection, { type: "disconnected", id: connection.id, privateData: reply.privateData.slice() })
  }
}
