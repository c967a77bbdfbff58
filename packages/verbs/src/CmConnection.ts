import { type CmEvent, type CmSettings, RejectCode } from "@rdmakit/cm"
import type { CarriedOpening } from "@rdmakit/cm/mpa"
import { Effect, Exit, type Scope, Stream } from "effect"
import { type BringUpOptions, bringUp, takeDown } from "./CmBringUp.ts"
import { type ConnectionError, ConnectionUnreachable, rejected } from "./CmError.ts"
import { agreeOn, unopened } from "./CmOpening.ts"
import type { CmService } from "./CmService.ts"
import { Mailbox, Signal } from "./Mailbox.ts"
import type { QueuePair } from "./QueuePair.ts"
import { attempt, refusalOf, type VerbsError } from "./VerbsError.ts"

/** What both ways of connecting take. */
export interface ConnectionOptions extends BringUpOptions {
  /** In RESET or INIT; receives that the peer's first sends need are posted beforehand, in INIT. */
  readonly queuePair: QueuePair
  readonly privateData?: Uint8Array
  /** READs and atomics of the peer that may be outstanding here, 0 to 255. Default 16. */
  readonly responderResources?: number
  /** READs and atomics of this side that may be outstanding at the peer, 0 to 255. Default 16. */
  readonly initiatorDepth?: number
  /** How often the peer tries again where no receive is posted, 0 to 7; 7, the default, is without end. */
  readonly rnrRetry?: number
}

/** What happens to a connection (rdma_cm_event_type). */
export type ConnectionEvent =
  /** The peer has asked for more time, ps. */
  | { readonly type: "delayed"; readonly serviceTimeoutPs: number }
  | { readonly type: "established" }
  /** It has ended: the peer wanted it so, or this side and the peer has agreed, or did not answer. */
  | { readonly type: "disconnected"; readonly by: "peer" | "self"; readonly privateData: Uint8Array }
  /** No packet of it can be on its way any more: the queue pair may be used for another one. */
  | { readonly type: "timewaitEnded" }

/** What the peer has said of itself. */
export interface ConnectionPeer {
  /** "10.0.0.2 port 7174". */
  readonly name: string
  readonly qpn: number
  /**
   * What its program has said with its request or its answer. InfiniBand's messages fill it with zeros: 56 octets of a request,
   * 196 of an answer to one (IBTA 1.7 §12.6). MPA of iWARP and of eRDMA has as many as were sent: of iWARP 512 at most
   * (RFC 5044 §7.1.1), 508 beside numbers of READs (RFC 6581 §9).
   */
  readonly privateData: Uint8Array
}

const NONE = new Uint8Array(0)

/**
 * A connected queue pair (struct rdma_cm_id). Made by `ConnectionManager.connect` and `ConnectionRequest.accept`. It ends with
 * its scope: the queue pair goes to ERR, which flushes what is posted, and the peer is told.
 */
export class Connection {
  readonly id: number
  readonly queuePair: QueuePair
  /** With everything known once it is established. */
  peer: ConnectionPeer
  /** What the queue pair has been brought up with. */
  settings: CmSettings | undefined
  private readonly port: CmService
  private readonly options: BringUpOptions
  private readonly opening: CarriedOpening | undefined
  private readonly outcome = new Signal<ConnectionError>()
  private readonly end = new Signal<never>()
  private readonly told = new Mailbox<ConnectionEvent>()
  private state: "connecting" | "established" | "ended" = "connecting"

  /** @param opening what the two ends agree on besides, of a transport that has such a thing */
  constructor(port: CmService, id: number, options: ConnectionOptions, peer: ConnectionPeer, opening?: CarriedOpening) {
    this.opening = opening
    this.port = port
    this.id = id
    this.options = options
    this.queuePair = options.queuePair
    this.peer = peer
    port.handle(id, (event) => this.handleEvent(event))
  }

  /** What happens to it, from now on and what nobody has taken yet. */
  readonly events: Stream.Stream<ConnectionEvent> = Stream.fromPull(
    Effect.sync(() => Effect.map(this.told.take, (event): [ConnectionEvent] => [event])),
  )

  /** Neither side has ended it. */
  get isEstablished(): boolean {
    return this.state === "established"
  }

  /** Waits for its end, whoever wants it: the queue pair is in ERR then. */
  readonly ended: Effect.Effect<void> = this.end.wait

  /**
   * Ends it (rdma_disconnect): the queue pair goes to ERR, and the peer is told and asked until it agrees, or has not answered
   * for as long as was agreed.
   */
  readonly disconnect: Effect.Effect<void, VerbsError> = Effect.suspend(() => {
    if (this.state !== "established") return this.ended
    return attempt(() => {
      takeDown(this.queuePair)
      this.port.command("rdma_disconnect", { type: "disconnect", id: this.id })
    }).pipe(Effect.andThen(this.ended))
  })

  /** Comes about, or does not. */
  get established(): Effect.Effect<void, ConnectionError> {
    return this.outcome.wait
  }

  /** No more is wanted of it. */
  readonly release: Effect.Effect<void> = Effect.sync(() => {
    if (this.state === "established") takeDown(this.queuePair)
    this.port.close(this.id)
    this.finish("self", NONE)
  })

  private handleEvent(event: CmEvent): void {
    switch (event.type) {
      case "delayed":
        this.told.offer({ type: "delayed", serviceTimeoutPs: event.serviceTimeoutPs })
        break
      case "reply":
        this.peer = { ...this.peer, qpn: event.remoteQpn, privateData: event.privateData }
        this.answer()
        break
      case "established":
        this.establish()
        break
      case "rejected":
        this.fail(rejected(this.peer.name, event.reason, event.privateData))
        break
      case "unreachable":
        this.fail(new ConnectionUnreachable({ peer: this.peer.name, unanswered: event.message }))
        break
      case "disconnectRequested":
        // Answered at once: nothing that is posted could still be of use to the peer.
        takeDown(this.queuePair)
        this.port.command("rdma_disconnect", { type: "disconnect", id: this.id })
        this.finish("peer", event.privateData)
        break
      case "disconnected":
        this.finish("self", event.privateData)
        break
      case "timewaitEnded":
        this.told.offer({ type: "timewaitEnded" })
        break
    }
  }

  /** The peer has accepted: the queue pair comes up before the peer hears of it. */
  private answer(): void {
    try {
      this.settings = this.port.cm.settings(this.id)!
      this.agree()
      bringUp(this.queuePair, this.settings, this.options)
      this.port.command("rdma_establish", { type: "ready", id: this.id })
      this.establish()
    } catch (thrown) {
      const refusal = refusalOf(thrown)
      this.port.command("rdma_reject", { type: "reject", id: this.id, reason: RejectCode.Consumer })
      this.fail(refusal)
    }
  }

  /** What the peer has answered, where there is something to agree on. @throws VerbsError */
  private agree(): void {
    const { opening, peer, queuePair } = this
    if (opening === undefined) return
    const privateData = opening.takeAnswer(this.port.device.world.now, peer.privateData)
    if (privateData === undefined) throw unopened(peer.name)
    this.peer = { ...peer, privateData }
    agreeOn(queuePair, opening)
  }

  private establish(): void {
    if (this.state !== "connecting") return
    this.state = "established"
    this.told.offer({ type: "established" })
    this.outcome.fire(Effect.void)
  }

  /** It does not come about; or the peer has ended what this side took for established. */
  private fail(error: ConnectionError): void {
    this.outcome.fire(Effect.fail(error))
    takeDown(this.queuePair)
    this.finish(error._tag === "ConnectionRejected" ? "peer" : "self", NONE)
  }

  private finish(by: "peer" | "self", privateData: Uint8Array): void {
    if (this.state === "established") this.told.offer({ type: "disconnected", by, privateData })
    this.state = "ended"
    this.end.fire(Effect.void)
  }
}

/** From its first message to its end with the scope. Who is interrupted while it comes about leaves nothing behind. */
export const connecting = (begin: () => Connection): Effect.Effect<Connection, ConnectionError, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const connection = yield* attempt(begin)
      yield* restore(connection.established).pipe(
        Effect.onExit((exit) => (Exit.isFailure(exit) ? connection.release : Effect.void)),
      )
      yield* Effect.addFinalizer(() => connection.release)
      return connection
    }),
  )
