import type { CmMessage, CmRequest } from "@rdmakit/wire/cm"
import type { Sighting } from "../Sighting.ts"

/** One connection as connection management set it up. */
export interface Connection {
  /** Who asked. */
  readonly client: number
  readonly server: number
  readonly requestFrame: number
  readonly requestNs: number
  /** REQs with the same number: more than one when no answer came. */
  requests: number
  readonly request: CmRequest
  replyFrame: number | undefined
  replyNs: number
  serverQp: number | undefined
  serverPsn: number | undefined
  readyNs: number
  rejectFrame: number | undefined
  rejectReason: number | undefined
  disconnectFrame: number | undefined
}

const CONNECTIONS_MAX = 1 << 16

/** Follows the messages of connection management. */
export class Connections {
  readonly all: Array<Connection> = []
  /** By the host that asked, and its number for the connection. */
  readonly #byClient = new Map<string, Connection>()
  readonly #byServer = new Map<string, Connection>()
  /** The last one of each queue pair, by `source>destination:qp`. */
  readonly #byQueuePair = new Map<string, Connection>()

  /** The connection that a direction belongs to; `qp` is the one at the destination. */
  of(source: number, destination: number, qp: number): Connection | undefined {
    return this.#byQueuePair.get(`${source}>${destination}:${qp}`)
  }

  /** The queue pair of the source, where the one at the destination was connected to it. */
  partnerOf(source: number, destination: number, qp: number): number | undefined {
    const connection = this.of(source, destination, qp)
    if (connection === undefined) return undefined
    const { client, serverQp, request } = connection
    return client === source && serverQp === qp ? request.qpn : serverQp
  }

  /** Takes a message; answers the connection when this makes both of its queue pairs known. */
  take(cm: CmMessage, { source, destination, frame, timeNs }: Sighting): Connection | undefined {
    if (cm.kind === "request") {
      this.#request(cm, source, destination, frame, timeNs)
      return undefined
    }
    if (!("localId" in cm)) return undefined
    const asServer = this.#byClient.get(`${destination}:${cm.remoteId}`)
    const asClient =
      this.#byServer.get(`${destination}:${cm.remoteId}`) ?? this.#byClient.get(`${source}:${cm.localId}`)
    const connection = cm.kind === "reply" ? asServer : (asClient ?? asServer)
    // A message that belongs to no request in the capture.
    if (connection === undefined) return undefined
    switch (cm.kind) {
      case "reply":
        if (connection.replyFrame !== undefined) return undefined
        connection.replyFrame = frame
        connection.replyNs = timeNs
        connection.serverQp = cm.qpn
        connection.serverPsn = cm.psn
        this.#byServer.set(`${source}:${cm.localId}`, connection)
        this.#byQueuePair.set(`${connection.client}>${connection.server}:${cm.qpn}`, connection)
        return connection
      case "readyToUse":
        if (Number.isNaN(connection.readyNs)) connection.readyNs = timeNs
        return undefined
      case "reject":
        connection.rejectFrame ??= frame
        connection.rejectReason ??= cm.reason
        return undefined
      case "disconnectRequest":
        connection.disconnectFrame ??= frame
        return undefined
      default:
        return undefined
    }
  }

  #request(request: CmRequest, client: number, server: number, frame: number, timeNs: number): void {
    const key = `${client}:${request.localId}`
    const known = this.#byClient.get(key)
    if (known !== undefined && known.request.psn === request.psn && known.request.qpn === request.qpn) {
      known.requests++
      return
    }
    if (this.all.length === CONNECTIONS_MAX) return
    const connection: Connection = {
      client,
      server,
      requestFrame: frame,
      requestNs: timeNs,
      requests: 1,
      // Private data is a view of the packet.
      request: { ...request, privateData: request.privateData.slice() },
      replyFrame: undefined,
      replyNs: Number.NaN,
      serverQp: undefined,
      serverPsn: undefined,
      readyNs: Number.NaN,
      rejectFrame: undefined,
      rejectReason: undefined,
      disconnectFrame: undefined,
    }
    this.#byClient.set(key, connection)
    this.#byQueuePair.set(`${server}>${client}:${request.qpn}`, connection)
    this.all.push(connection)
  }
}
