import type { Time } from "@rdmakit/protocol"
import type { Connection } from "./Connection.ts"
import { madOf, privateDataOf } from "./MadOctets.ts"
import { Rejected } from "./Reject.ts"
import type { Table } from "./Table.ts"

/** What rdma_cm asks a peer to wait when it repeats itself: 69 s (CMA_CM_MRA_SETTING of Linux' cma.c). */
const SERVICE_TIMEOUT = 24

/** MRA: the answer to a request or a reply takes longer (IBTA 1.7 §12.6.6). */
export const sendDelay = (
  table: Table,
  connection: Connection,
  serviceTimeout = SERVICE_TIMEOUT,
  privateData: Uint8Array | undefined,
): void => {
  const isRequest = connection.state === "requestReceived" || connection.state === "requestDelaySent"
  const message = madOf(connection.transactionId, {
    kind: "messageReceipt",
    localId: connection.id,
    remoteId: connection.remoteId,
    message: isRequest ? Rejected.Request : Rejected.Reply,
    serviceTimeout,
    privateData: privateDataOf("messageReceipt", privateData),
  })
  table.move(connection, isRequest ? "requestDelaySent" : "replyDelaySent")
  connection.message = message
  table.send(connection.address, message)
}

/** DREQ from an established connection, DREP from one that the peer wants to end. */
export const sendDisconnect = (
  table: Table,
  now: Time,
  connection: Connection,
  privateData: Uint8Array | undefined,
): void => {
  const { id: localId, remoteId } = connection
  if (connection.state === "disconnectReceived") {
    const message = madOf(connection.transactionId, {
      kind: "disconnectReply",
      localId,
      remoteId,
      privateData: privateDataOf("disconnectReply", privateData),
    })
    table.enterTimewait(now, connection)
    connection.message = message
    table.send(connection.address, message)
    return
  }
  const transactionId = table.transactionOf(localId)
  const message = madOf(transactionId, {
    kind: "disconnectRequest",
    localId,
    remoteId,
    qpn: connection.remoteQpn,
    privateData: privateDataOf("disconnectRequest", privateData),
  })
  connection.transactionId = transactionId
  table.sendRepeatedly(now, connection, "disconnectSent", message)
}
