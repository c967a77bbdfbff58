import { type CmRequestEvent, RejectCode } from "@rdmakit/cm"
import type { CarriedOpening } from "@rdmakit/cm/mpa"
import { Effect, type Scope, Stream } from "effect"
import { bringUp, checkIsQueuePair, checkQueuePair, takeDown } from "./CmBringUp.ts"
import { Connection, type ConnectionOptions, connecting } from "./CmConnection.ts"
import { type ConnectionError, type ConnectionRejected, rejected } from "./CmError.ts"
import { agreeOn, opened } from "./CmOpening.ts"
import { addressOf } from "./CmRoute.ts"
import type { CmService } from "./CmService.ts"
import { Mailbox } from "./Mailbox.ts"
import { attempt, checkFields, VerbsError } from "./VerbsError.ts"

export type AcceptOptions = ConnectionOptions

const DEFAULT_DEPTH = 16
const RNR_RETRY = 7

/** A peer asks for a connection (RDMA_CM_EVENT_CONNECT_REQUEST): `accept` it, or `reject` it. */
export class ConnectionRequest {
  readonly id: number
  /** Which queue pair it takes. */
  readonly type: "rc" | "uc"
  /** "10.0.0.1 port 50000". */
  readonly peer: string
  /** The address of this side that was asked. */
  readonly address: string
  /** 56 octets, filled with zeros; over MPA as many as were sent, see `ConnectionPeer`. */
  readonly privateData: Uint8Array
  /** READs and atomics that the peer wants served at once, and serves at once itself. */
  readonly responderResources: number
  readonly initiatorDepth: number
  private readonly port: CmService
  private readonly event: CmRequestEvent
  private withdrawn: ConnectionRejected | undefined
  private answered = false

  private readonly opening: CarriedOpening | undefined

  /** @param opening what the two ends agree on besides, which has taken the request's */
  constructor(port: CmService, event: CmRequestEvent, opening?: CarriedOpening) {
    this.opening = opening
    const { id, transport, ip, privateData, responderResources, initiatorDepth } = event
    this.port = port
    this.event = event
    this.id = id
    this.type = transport
    this.peer = ip === undefined ? "a peer without an IP address" : `${addressOf(ip.source)} port ${ip.sourcePort}`
    this.address = ip === undefined ? "" : addressOf(ip.destination)
    this.privateData = privateData
    this.responderResources = responderResources
    this.initiatorDepth = initiatorDepth
    port.handle(id, (next) => {
      if (next.type !== "rejected") return
      this.withdrawn = rejected(this.peer, next.reason, next.privateData)
      port.unhandle(id)
    })
  }

  /**
   * Brings the queue pair up to RTS, answers, and waits until the peer is ready too. Depths are held to what the peer offered.
   * Fails with EINVAL for a queue pair of another type than the request's; the request is rejected then.
   */
  accept(options: AcceptOptions): Effect.Effect<Connection, ConnectionError, Scope.Scope> {
    return Effect.suspend(() => {
      if (this.withdrawn !== undefined) return Effect.fail(this.withdrawn)
      return connecting(() => this.begin(options))
    })
  }

  /** @param privateData 148 octets at most; over iWARP 508 */
  reject(privateData?: Uint8Array): Effect.Effect<void, VerbsError> {
    return attempt(() => {
      this.answerOnce("rdma_reject")
      if (this.withdrawn !== undefined) return
      this.port.unhandle(this.id)
      this.port.command("rdma_reject", {
        type: "reject",
        id: this.id,
        ...(privateData === undefined ? {} : { privateData }),
      })
    })
  }

  /** Nobody has answered it, and nobody will. */
  dismiss(): void {
    if (!this.answered) this.port.close(this.id)
    this.answered = true
  }

  private answerOnce(verb: string): void {
    if (this.answered)
      throw new VerbsError({
        errno: "EINVAL",
        verb,
        problem: "the request has been answered",
        remedy: "answer each request once",
      })
    this.answered = true
  }

  private begin(options: AcceptOptions): Connection {
    checkFields("rdma_accept", "options", options, "give { queuePair }")
    const { queuePair } = options
    checkIsQueuePair("rdma_accept", queuePair)
    this.answerOnce("rdma_accept")
    try {
      checkQueuePair("rdma_accept", queuePair, this.type)
      const responderResources = Math.min(options.responderResources ?? DEFAULT_DEPTH, this.responderResources)
      const initiatorDepth = Math.min(options.initiatorDepth ?? DEFAULT_DEPTH, this.initiatorDepth)
      const settings = {
        ...this.port.cm.settings(this.id)!,
        receivePsn: queuePair.psn,
        responderResources,
        initiatorDepth,
      }
      const { opening } = this
      const answer =
        opening === undefined
          ? options.privateData
          : opened(() => opening.accept(this.port.device.world.now, options.privateData ?? new Uint8Array(0)))
      if (opening !== undefined) agreeOn(queuePair, opening)
      bringUp(queuePair, settings, options)
      const { privateData } = this
      const peer = { name: this.peer, qpn: this.event.remoteQpn, privateData }
      const connection = new Connection(this.port, this.id, options, peer)
      connection.settings = settings
      this.port.command("rdma_accept", {
        type: "accept",
        id: this.id,
        qpn: queuePair.number,
        psn: queuePair.psn,
        responderResources,
        initiatorDepth,
        rnrRetries: options.rnrRetry ?? RNR_RETRY,
        sharedReceive: queuePair.handle.srq !== undefined,
        ...(answer === undefined ? {} : { privateData: answer }),
      })
      return connection
    } catch (thrown) {
      this.port.cm.command(this.port.device.world.now, {
        type: "reject",
        id: this.id,
        reason: RejectCode.Consumer,
      })
      this.port.close(this.id)
      takeDown(queuePair)
      throw thrown
    }
  }
}

export const BACKLOG_MAX = 65_536

export interface ListenOptions {
  /** 1 to 65,535. */
  readonly port: number
  /** Requests for other addresses of this side are rejected. Default: all are taken. */
  readonly address?: string
  /** Requests that may wait to be taken; further ones are not answered, so that peers try again. 1 to 65,536. Default 128. */
  readonly backlog?: number
}

/** Takes requests of one port (rdma_listen). It ends with its scope, and rejects what waits. */
export class Listener<Request extends { readonly address: string; dismiss(): void }> {
  readonly port: number
  private readonly waiting = new Mailbox<Request>()
  private readonly options: ListenOptions

  constructor(options: ListenOptions) {
    this.port = options.port
    this.options = options
  }

  /** The next request, as soon as there is one. */
  get next(): Effect.Effect<Request> {
    return this.waiting.take
  }

  /** Requests as they come. */
  readonly requests: Stream.Stream<Request> = Stream.fromPull(
    Effect.sync(() => Effect.map(this.waiting.take, (request): [Request] => [request])),
  )

  get isFull(): boolean {
    return this.waiting.length >= (this.options.backlog ?? 128)
  }

  /** What came, for the program; dismissed when it is for another address. */
  offer(request: Request): void {
    if (this.options.address !== undefined && this.options.address !== request.address) request.dismiss()
    else this.waiting.offer(request)
  }

  /** No more is taken. */
  end(): void {
    for (let request = this.waiting.shift(); request !== undefined; request = this.waiting.shift()) request.dismiss()
  }
}
