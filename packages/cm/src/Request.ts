import type { Time } from "@rdmakit/protocol"
import { type CmRequest, IP_CM_BYTES, type IpCm, parseIpCm, portOf } from "@rdmakit/wire/cm"
import { type Connection, peerKey } from "./Connection.ts"
import { sendDelay } from "./Messages.ts"
import { endStale } from "./Receive.ts"
import { RejectCode, Rejected, rejectOf } from "./Reject.ts"
import { type CmAddress, routeOf } from "./Route.ts"
import type { Table } from "./Table.ts"

const MTU_CODE_MAX = 5
/** Queue pairs 0 and 1 are for management. */
const QPN_MIN = 2

/**
 * What IP addressing put in front of the private data of a service of the IP port space, and the rest of it. undefined:
 * such a service, and no such header.
 */
export const splitPrivateData = (
  serviceId: bigint,
  octets: Uint8Array,
): { readonly ip: IpCm | undefined; readonly privateData: Uint8Array } | undefined => {
  if (portOf(serviceId) === undefined) return { ip: undefined, privateData: octets.slice() }
  const ip = parseIpCm(octets)
  return ip.ok ? { ip: ip.value, privateData: octets.slice(IP_CM_BYTES) } : undefined
}

const sameOctets = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((octet, index) => octet === b[index])

/** REQ (IBTA 1.7 §12.6.5). */
export const receiveRequest = (
  table: Table,
  now: Time,
  transactionId: bigint,
  request: CmRequest,
  source: CmAddress,
): void => {
  if (request.localId === 0 || request.qpn < QPN_MIN) {
    table.counters.malformed++
    return
  }
  const reject = (reason: number, information?: Uint8Array): void =>
    table.answer(source, transactionId, rejectOf(0, request.localId, Rejected.Request, reason, information))
  const idKey = peerKey(request.caGuid, request.localId)
  const qpKey = peerKey(request.caGuid, request.qpn)
  const known = table.remoteIds.get(idKey)
  if (known !== undefined && known.remoteQpn === request.qpn && known.sendPsn === request.psn) {
    repeatRequest(table, known, source, reject)
    return
  }
  // The peer has lost this connection, or its adapter would not use the id or the queue pair again (§12.9).
  const stale = known ?? table.remoteQps.get(qpKey)
  if (stale !== undefined) {
    reject(RejectCode.StaleConnection)
    endStale(table, now, stale)
    return
  }
  const listener = table.listeners.get(request.serviceId)
  if (listener === undefined) {
    reject(RejectCode.InvalidServiceId)
    return
  }
  if (request.transport > 1) {
    reject(RejectCode.InvalidTransport)
    return
  }
  if (request.mtuCode === 0 || request.mtuCode > MTU_CODE_MAX) {
    reject(RejectCode.InvalidMtu)
    return
  }
  if (!sameOctets(request.primary.remoteGid, source.localGid)) {
    reject(RejectCode.PrimaryGid, source.localGid)
    return
  }
  const split = splitPrivateData(request.serviceId, request.privateData)
  // Linux' cma.c refuses it with the reason of consumers.
  if (split === undefined) {
    reject(RejectCode.Consumer)
    return
  }
  const route = routeOf(request.primary, request.partition, request.mtuCode)
  const connection = table.add({
    state: "requestReceived",
    remoteId: request.localId,
    serviceId: request.serviceId,
    transactionId,
    address: route,
    route,
    transport: request.transport === 0 ? "rc" : "uc",
    waitPs: table.waitPs(request.localResponseTimeout),
    cmRetries: request.cmRetries,
    remoteQpn: request.qpn,
    sendPsn: request.psn,
    responderResources: request.initiatorDepth,
    initiatorDepth: request.responderResources,
    retries: request.retries,
    rnrRetries: request.rnrRetries,
    ackTimeout: request.primary.ackTimeout,
    alternate: request.alternate !== undefined,
  })
  if (connection === undefined) {
    table.counters.overflowed++
    return
  }
  table.claim(connection, idKey, qpKey)
  table.tell(connection, {
    type: "request",
    id: connection.id,
    listener,
    serviceId: request.serviceId,
    transport: connection.transport,
    route,
    ...split,
    remoteQpn: request.qpn,
    responderResources: request.initiatorDepth,
    initiatorDepth: request.responderResources,
    retries: request.retries,
    rnrRetries: request.rnrRetries,
    flowControl: request.flowControl,
    sharedReceive: request.sharedReceive,
  })
}

/** The peer has heard no answer yet. */
const repeatRequest = (
  table: Table,
  connection: Connection,
  source: CmAddress,
  reject: (reason: number) => void,
): void => {
  table.counters.duplicates++
  switch (connection.state) {
    case "requestReceived":
      // As rdma_cm has it: who has not decided when a request is repeated asks for time.
      sendDelay(table, connection, undefined, undefined)
      break
    case "requestDelaySent":
    case "replySent":
    case "replyDelayReceived":
      if (connection.message !== undefined) table.send(source, connection.message)
      break
    case "timewait":
      reject(RejectCode.StaleConnection)
      break
  }
}
