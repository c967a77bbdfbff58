import type { Time } from "@rdmakit/protocol"
import type { CmResolveReply, CmResolveRequest } from "@rdmakit/wire/cm"
import type { CmAnswer } from "./Command.ts"
import type { Connection } from "./Connection.ts"
import { madOf, privateDataOf } from "./MadOctets.ts"
import { splitPrivateData } from "./Request.ts"
import type { CmAddress, CmRoute } from "./Route.ts"
import type { Table } from "./Table.ts"

/** Answers to a resolve request (IBTA 1.7 §12.11). */
export const SidrStatus = {
  Success: 0,
  /** Nobody listens to the service. */
  Unsupported: 1,
  Reject: 2,
  NoQueuePair: 3,
  Redirect: 4,
  UnsupportedVersion: 5,
} as const

const NO_INFORMATION = new Uint8Array(72)
/** A resolve request says nothing of its path: what Linux' rdma_cm assumes of RoCE. */
const PATH = { rate: 0, mtuBytes: 1024, packetLifetime: 18 } as const

const replyOf = (
  requestId: number,
  serviceId: bigint,
  status: number,
  { qpn = 0, queueKey = 0, privateData }: Pick<CmAnswer, "qpn" | "queueKey" | "privateData"> = {},
): CmResolveReply => ({
  kind: "resolveReply",
  requestId,
  status,
  informationBytes: 0,
  qpn,
  serviceId,
  queueKey,
  information: NO_INFORMATION,
  privateData: privateDataOf("resolveReply", privateData),
})

/** SIDR_REQ (IBTA 1.7 §12.11): which datagram queue pair serves a service? */
export const receiveResolve = (
  table: Table,
  transactionId: bigint,
  request: CmResolveRequest,
  source: CmAddress,
): void => {
  const { requestId, serviceId } = request
  const key = `sidr:${source.remoteGid}:${requestId}`
  const known = table.remoteIds.get(key)
  if (known !== undefined) {
    table.counters.duplicates++
    if (known.message !== undefined) table.send(source, known.message)
    return
  }
  const listener = table.listeners.get(serviceId)
  const split = splitPrivateData(serviceId, request.privateData)
  if (listener === undefined || split === undefined) {
    const status = listener === undefined ? SidrStatus.Unsupported : SidrStatus.Reject
    table.answer(source, transactionId, replyOf(requestId, serviceId, status))
    return
  }
  const route: CmRoute = { ...source, ...PATH, partition: request.partition }
  const connection = table.add({
    state: "resolveReceived",
    remoteId: requestId,
    serviceId,
    transactionId,
    address: source,
    route,
    transport: "rc",
    waitPs: 0,
    cmRetries: 0,
  })
  if (connection === undefined) {
    table.counters.overflowed++
    return
  }
  table.claim(connection, key, "")
  table.tell(connection, { type: "resolveRequest", id: connection.id, listener, serviceId, route, ...split })
}

export const answerResolve = (
  table: Table,
  now: Time,
  connection: Connection,
  status: number,
  answer: Pick<CmAnswer, "qpn" | "queueKey" | "privateData"> = {},
): void => {
  const reply = replyOf(connection.remoteId, connection.serviceId, status, answer)
  connection.message = madOf(connection.transactionId, reply)
  table.send(connection.address, connection.message)
  table.keepAnswer(now, connection)
}

/** SIDR_REP (§12.11). */
export const receiveResolveReply = (table: Table, reply: CmResolveReply): void => {
  const connection = table.connections.get(reply.requestId)
  if (connection === undefined) {
    table.counters.unmatched++
    return
  }
  if (connection.state !== "resolveSent" || connection.serviceId !== reply.serviceId) {
    table.counters.unexpected++
    return
  }
  table.forget(connection)
  table.tell(connection, {
    type: "resolved",
    id: connection.id,
    status: reply.status,
    qpn: reply.qpn,
    queueKey: reply.queueKey,
    information: reply.information.slice(0, Math.min(reply.informationBytes, NO_INFORMATION.length)),
    privateData: reply.privateData.slice(),
  })
}
