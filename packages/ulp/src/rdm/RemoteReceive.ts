import { type EfaRdmAtomic, EfaRdmFeature, type EfaRdmTarget, type EfaRdmWrite } from "@rdmakit/wire/efa-rdm"
import { Incoming } from "./Incoming.ts"
import type { Peer } from "./Peer.ts"
import type { Rdm } from "./Rdm.ts"
import type { RdmFailure, RdmOperation } from "./RdmEvent.ts"
import { type AtomicOptions, READ_RESPONSE_BYTES } from "./RemoteSend.ts"
import { Segments } from "./Segments.ts"
import type { Slot } from "./Transmitter.ts"

/** One that a program asked for: its end is an event. */
abstract class ProgramIncoming extends Incoming {
  readonly peer: Peer
  private readonly context: number
  private readonly operation: RdmOperation

  constructor(rdm: Rdm, peer: Peer, into: Uint8Array, operation: RdmOperation, context: number) {
    super(rdm, new Segments([into]))
    this.peer = peer
    this.operation = operation
    this.context = context
    this.total = into.length
  }

  protected complete(): void {
    const { operation, context, peer, total: bytes } = this
    const { number } = peer
    this.rdm.emit({
      type: "completed",
      operation,
      context,
      peer: number,
      bytes,
      tag: undefined,
      cqData: undefined,
    })
  }

  protected failed(reason: RdmFailure): void {
    const { operation, context, peer, total: bytes } = this
    this.rdm.emit({ type: "failed", operation, context, peer: peer.number, reason, bytes })
  }
}

/** A read: by RDMA READ where both sides can, else emulated: the responder sends. */
export class ReadRequest extends ProgramIncoming {
  protected override readonly emulatesRead = true
  private readonly targets: ReadonlyArray<EfaRdmTarget>
  private protocol: "direct" | "short" | "longCts" = "direct"
  private answered = false

  constructor(rdm: Rdm, peer: Peer, into: Uint8Array, targets: ReadonlyArray<EfaRdmTarget>, context: number) {
    super(rdm, peer, into, "read", context)
    this.targets = targets
  }

  begin(): void {
    const { rdm, peer, total } = this
    if (total > 0 && rdm.settings.rdmaRead && peer.can(EfaRdmFeature.RdmaRead)) {
      this.read(this.targets, 0)
      return
    }
    this.protocol = total <= rdm.settings.mtuBytes - READ_RESPONSE_BYTES ? "short" : "longCts"
    this.openWindow(0, rdm.settings.credits)
    this.windowLeft = this.protocol === "short" ? total : this.windowFor(total)
    this.owed = "request"
    rdm.transmitter.schedule(this)
  }

  protected override request(slot: Slot): void {
    const { rdm, peer, targets, id: receiveId, windowLeft: windowBytes } = this
    const options = rdm.optionsFor(peer, undefined)
    const messageBytes = BigInt(this.total)
    const protocol = this.protocol === "short" ? "short" : "longCts"
    peer.requestSent = true
    rdm.write(slot, peer, { kind: "read", ...options, protocol, messageBytes, receiveId, windowBytes, targets })
  }

  /** The first answer. Data may have come before it. */
  handleResponse(sendId: number, payload: Uint8Array): boolean {
    if (this.answered || this.protocol === "direct") return false
    this.answered = true
    this.sendId = sendId
    if (this.total > 0) return this.handleData(0n, payload)
    this.proceed()
    return true
  }

  protected override get inOrderToAsk(): boolean {
    return this.answered
  }

  /** A read that the device refuses has no other way. */
  protected override nack(): void {
    this.fail("refused")
  }
}

/** An atomic whose result is wanted: what memory held before it. It has its place in the order of messages. */
export class FetchRequest extends ProgramIncoming {
  private readonly operands: Segments
  private readonly targets: ReadonlyArray<EfaRdmTarget>
  private readonly options: AtomicOptions & { readonly compares: boolean }
  private atomicId = 0

  /** `operands` of a comparison end with the values to compare with. */
  constructor(
    rdm: Rdm,
    peer: Peer,
    result: Uint8Array,
    operands: Segments,
    targets: ReadonlyArray<EfaRdmTarget>,
    context: number,
    options: AtomicOptions & { readonly compares: boolean },
  ) {
    super(rdm, peer, result, "atomic", context)
    this.operands = operands
    this.targets = targets
    this.options = options
  }

  begin(): void {
    const { peer } = this
    this.atomicId = peer.nextMessage
    peer.nextMessage = (peer.nextMessage + 1) >>> 0
    this.owed = "request"
    this.rdm.transmitter.schedule(this)
  }

  protected override request(slot: Slot): void {
    const { rdm, peer, targets, atomicId: messageId, id: receiveId } = this
    const { datatype, operation, compares } = this.options
    const header: EfaRdmAtomic = {
      kind: "atomic",
      ...rdm.optionsFor(peer, undefined),
      protocol: compares ? "compare" : "fetch",
      deliveryComplete: false,
      messageId,
      datatype,
      operation,
      targets,
      receiveId,
    }
    peer.requestSent = true
    rdm.write(slot, peer, header, this.operands, 0, this.operands.bytes)
  }
}

/** A peer's write into memory of this side. */
export class WriteTake extends Incoming {
  readonly peer: Peer
  private readonly cqData: bigint | undefined

  constructor(rdm: Rdm, peer: Peer, into: Segments, cqData: bigint | undefined) {
    super(rdm, into)
    this.peer = peer
    this.cqData = cqData
    this.total = into.bytes
  }

  begin(write: EfaRdmWrite, payload: Uint8Array): void {
    if (write.protocol === "longRead") {
      this.sendId = write.sendId
      this.thanks = "endOfRead"
      this.read(write.sources, 0)
      return
    }
    if (write.deliveryComplete) {
      this.sendId = write.sendId
      this.thanks = "receipt"
    }
    if (payload.length > 0) this.handleData(0n, payload)
    else this.proceed()
    if (write.protocol !== "longCts") return
    this.openWindow(write.sendId, write.creditRequest)
    this.proceed()
  }

  protected complete(): void {
    const { peer, total: bytes, cqData } = this
    if (cqData !== undefined) this.rdm.emit({ type: "remoteWrite", peer: peer.number, bytes, cqData })
  }

  /** Whoever wrote is gone, and no one else asked for it. */
  protected failed(): void {}
}

/** The receipt of an atomic that has been done. */
export class AtomicReceipt extends Incoming {
  readonly peer: Peer
  private readonly number: number

  constructor(rdm: Rdm, peer: Peer, sendId: number, messageId: number) {
    super(rdm, new Segments([]))
    this.peer = peer
    this.number = messageId
    this.sendId = sendId
    this.thanks = "receipt"
    this.proceed()
  }

  protected override get messageId(): number {
    return this.number
  }

  protected complete(): void {}
  protected failed(): void {}
}
