import type { CmMessage, CmRequest } from "@rdmakit/wire/cm"
import type { Sighting } from "../Sighting.ts"

/** One connection as connection management set it up. */
export interface Connection {
  /** Who asked. */
  readonly client: number
  readonly server: number
  readonly localId: number
  readonly requestFrame: number
  readonly requestNs: number
  /** REQs with the same number: more than one when no answer came. */
  requests: number
  readonly request: CmRequest
  replyFrame: number | undefined
  replyNs: number
  serverQp: number | undefined
  serverPsn: number | undefined
  serverId: number | undefined
  readyNs: number
  rejectFrame: number | undefined
  rejectReason: number | undefined
  disconnectFrame: number | undefined
  disconnectNs: number
  disconnectedNs: number
}

const CONNECTIONS_MAX = 1 << 16

/** Follows the messages of connection management. */
export class Connections {
  readonly all: Array<Connection> = []
  /** By the host that asked, and its number for the connection. */
  readonly #byClient = new Map<string, Connection>()
  readonly #byServer = new Map<string, Connection>()
  /** The queue pair of the other direction, by `source>destination:qp`. */
  readonly #partners = new Map<string, number>()
  /** Messages that belong to no request in the capture. */
  stray = 0

  /** The queue pair of the source, where the one at the destination was connected to it. */
  partnerOf(source: number, destination: number, qp: number): number | undefined {
    return this.#partners.get(`${source}>${destination}:${qp}`)
  }

  #join({ client, server, request }: Connection, serverQp: number): void {
    const forth = `${client}>${server}:${serverQp}`
    const back = `${server}>${client}:${request.qpn}`
    this.#partners.set(forth, request.qpn)
    this.#partners.set(back, serverQp)
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
    if (connection === undefined) {
      this.stray++
      return undefined
    }
    switch (cm.kind) {
      case "reply":
        if (connection.replyFrame !== undefined) return undefined
        connection.replyFrame = frame
        connection.replyNs = timeNs
        connection.serverQp = cm.qpn
        connection.serverPsn = cm.psn
        connection.serverId = cm.localId
        this.#byServer.set(`${source}:${cm.localId}`, connection)
        this.#join(connection, cm.qpn)
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
        if (Number.isNaN(connection.disconnectNs)) connection.disconnectNs = timeNs
        return undefined
      case "disconnectReply":
        if (Number.isNaN(connection.disconnectedNs)) connection.disconnectedNs = timeNs
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
      localId: request.localId,
      requestFrame: frame,
      requestNs: timeNs,
      requests: 1,
      // Private data is a view of the packet.
      request: { ...request, privateData: request.privateData.slice() },
      replyFrame: undefined,
      replyNs: Number.NaN,
      serverQp: undefined,
      serverPsn: undefined,
      serverId: undefined,
      readyNs: Number.NaN,
      rejectFrame: undefined,
      rejectReason: undefined,
      disconnectFrame: undefined,
      disconnectNs: Number.NaN,
      disconnectedNs: Number.NaN,
    }
    this.#byClient.set(key, connection)
    this.all.push(connection)
  }
}
