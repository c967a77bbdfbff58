import type { EfaRdmMessage } from "@rdmakit/wire/efa-rdm"
import { Incoming } from "./Incoming.ts"
import type { Peer } from "./Peer.ts"
import type { Rdm } from "./Rdm.ts"
import type { RdmEvent, RdmFailure } from "./RdmEvent.ts"
import { Segments } from "./Segments.ts"

/** What a receive takes. */
export interface ReceiveOptions {
  /** Tagged messages, or the others. A message matches when it differs from `tag` in bits of `ignore` alone. */
  readonly tag: bigint | undefined
  readonly ignore: bigint
  /** Messages of this peer alone (FI_DIRECTED_RECV); undefined: of any. */
  readonly from: number | undefined
}

/** A receive: it waits for a message that matches, and takes it in. */
export class MessageReceive extends Incoming {
  readonly options: ReceiveOptions
  /** What is told when it is its turn; undefined until the message is here. */
  outcome: RdmEvent | undefined = undefined
  readonly context: number
  private readonly deliver: (receive: MessageReceive) => void
  private sender: Peer | undefined = undefined
  private message: EfaRdmMessage | undefined = undefined

  constructor(
    rdm: Rdm,
    buffer: Uint8Array,
    context: number,
    options: ReceiveOptions,
    deliver: (receive: MessageReceive) => void,
  ) {
    super(rdm, new Segments([buffer]))
    this.options = options
    this.context = context
    this.deliver = deliver
  }

  get peer(): Peer | undefined {
    return this.sender
  }

  protected override get messageId(): number {
    return this.message?.messageId ?? 0
  }

  /** A message matches it. Lengths above 2^53 are no one's. */
  begin(peer: Peer, message: EfaRdmMessage, payload: Uint8Array): void {
    this.sender = peer
    this.message = message
    if (this.rdm.settings.order === "completion") peer.deliveries.push(this)
    this.total = message.protocol === "eager" ? payload.length : Number(message.messageBytes)
    if (message.deliveryComplete) {
      this.thanks = "receipt"
      this.sendId = message.sendId
    }
    switch (message.protocol) {
      case "longCts":
        this.sendId = message.sendId
        this.startWindow(message.creditRequest, payload)
        return
      case "longRead":
        this.sendId = message.sendId
        this.thanks = "endOfRead"
        this.read(message.sources, 0)
        this.proceed()
        return
      case "runtRead": {
        const runt = Number(message.runtBytes)
        this.sendId = message.sendId
        if (runt < this.total) {
          this.thanks = "endOfRead"
          this.read(message.sources, runt)
        }
        this.handleSegment(message, payload)
        return
      }
      default:
        this.handleSegment(message, payload)
    }
  }

  /** The first of several requests' data, and what follows it. False for what does not belong to it. */
  handleSegment(message: EfaRdmMessage, payload: Uint8Array): boolean {
    if (payload.length === 0 && this.total === 0) {
      this.proceed()
      return true
    }
    return this.handleData("offset" in message ? message.offset : 0n, payload)
  }

  /** Whether all requests of the message are here; data may still be read. */
  get assembled(): boolean {
    return this.packetBytes >= this.requestBytes
  }

  protected override get requestBytes(): number {
    const { message } = this
    if (message?.protocol === "runtRead") return Number(message.runtBytes)
    return message?.protocol === "medium" ? this.total : 0
  }

  private startWindow(creditRequest: number, payload: Uint8Array): void {
    this.openWindow(this.sendId, creditRequest)
    // What comes with the request was not asked for.
    this.windowLeft = -1
    if (payload.length > 0) this.handleData(0n, payload)
    this.windowLeft = 0
    this.proceed()
  }

  protected override handleNackSent(): void {
    this.sender!.refused.set(this.messageId, this)
  }

  /** What it could not read comes by long-CTS. */
  handleAfterNack(message: EfaRdmMessage & { readonly protocol: "longCts" }): void {
    this.thanks = message.deliveryComplete ? "receipt" : "nothing"
    this.message = message
    this.sendId = message.sendId
    this.startWindow(message.creditRequest, new Uint8Array(0))
  }

  protected complete(): void {
    const { context, total: bytes, message } = this
    const peer = this.sender!.number
    this.outcome =
      bytes > this.into.bytes
        ? { type: "failed", operation: "receive", context, peer, reason: "truncated", bytes }
        : {
            type: "completed",
            operation: "receive",
            context,
            peer,
            bytes,
            tag: message!.tag,
            cqData: message!.cqData,
          }
    this.deliver(this)
  }

  protected failed(reason: RdmFailure): void {
    const peer = this.sender?.number ?? this.options.from ?? -1
    this.outcome = { type: "failed", operation: "receive", context: this.context, peer, reason, bytes: this.total }
    this.deliver(this)
  }
}
