import type { EfaRdm, EfaRdmCts, EfaRdmTarget } from "@rdmakit/wire/efa-rdm"
import type { DatagramStatus } from "./Datagram.ts"
import type { Peer } from "./Peer.ts"
import type { Rdm } from "./Rdm.ts"
import type { RdmFailure, RdmOperation } from "./RdmEvent.ts"
import type { Segments } from "./Segments.ts"
import { Sendable, type Slot } from "./Transmitter.ts"

/** Octets of a CTSDATA header, and of the connection behind it (table 3.7). */
const CTS_DATA_BYTES = 24
const CONNID_BYTES = 8

/** An operation that sends data: a message, a write, an atomic, the answer to a read. */
export abstract class Outgoing extends Sendable {
  readonly urgent: boolean = false
  readonly id: number
  readonly peer: Peer
  protected readonly rdm: Rdm
  protected readonly data: Segments
  protected requestPending = false
  /** The next byte of data to send. */
  protected offset = 0
  /** Data may be sent up to here; a CTS raises it. */
  protected allowed = 0
  /** Data that this side sends at all; the rest is read by the peer. */
  protected goal = 0
  /** What says that the peer is done has come, or is not waited for. */
  protected confirmed = true
  /** Whether CTS are for it. */
  protected windowed = false
  protected receiveId = 0
  private ended = false

  constructor(rdm: Rdm, peer: Peer, data: Segments) {
    super()
    this.rdm = rdm
    this.peer = peer
    this.data = data
    this.id = rdm.outgoing.add(this)
  }

  get hasPacket(): boolean {
    return !this.ended && (this.requestPending || this.offset < this.allowed)
  }

  /** The next request. */
  protected abstract fillRequest(slot: Slot): void
  /** It has ended well. */
  protected abstract complete(): void
  /** It has ended; `complete` is not called. */
  protected abstract failed(reason: RdmFailure): void

  fill(slot: Slot): void {
    if (this.requestPending) this.fillRequest(slot)
    else this.fillData(slot)
  }

  /** Data that a CTS allowed. */
  private fillData(slot: Slot): void {
    const { rdm, peer, receiveId, offset } = this
    const connid = peer.features === undefined ? undefined : rdm.settings.address.connid
    const headerBytes = CTS_DATA_BYTES + (connid === undefined ? 0 : CONNID_BYTES)
    const bytes = Math.min(this.allowed - offset, rdm.settings.mtuBytes - headerBytes)
    const header = { kind: "ctsData", receiveId, segmentBytes: BigInt(bytes), offset: BigInt(offset), connid } as const
    this.offset += rdm.write(slot, peer, header, this.data, offset, bytes)
  }

  handleDone(_slot: Slot, status: DatagramStatus): void {
    if (this.ended) return
    if (status === "unreachable") this.rdm.lose(this.peer)
    else if (status === "refused") this.fail("refused")
    else this.settle()
  }

  /** False for one that does not wait for it. */
  handleCts({ receiveId, windowBytes }: EfaRdmCts): boolean {
    if (!this.windowed || this.requestPending || windowBytes === 0n) return false
    this.receiveId = receiveId
    this.allowed = Math.min(this.goal, this.offset + Number(windowBytes))
    this.rdm.transmitter.schedule(this)
    return true
  }

  /** The peer is done: a receipt, or the end of a read. */
  handleConfirmed(): boolean {
    if (this.confirmed || this.requestPending) return false
    this.confirmed = true
    this.settle()
    return true
  }

  /** The peer cannot read. False for one that is not being read. */
  handleReadNack(): boolean {
    return false
  }

  fail(reason: RdmFailure): void {
    if (this.ended) return
    this.end()
    this.failed(reason)
  }

  /** Ends it when all is sent, acknowledged and confirmed. */
  protected settle(): void {
    if (this.requestPending || this.offset < this.goal || this.inFlight > 0 || !this.confirmed) return
    this.end()
    this.complete()
  }

  protected end(): void {
    this.ended = true
    this.rdm.outgoing.remove(this.id)
  }
}

/** One that a program asked for: its end is an event. */
export abstract class ProgramOutgoing extends Outgoing {
  protected readonly context: number
  protected readonly cqData: bigint | undefined
  protected sources: ReadonlyArray<EfaRdmTarget> = []
  /** The peer could not read it, and takes it in packets. */
  protected afterNack = false
  private readonly operation: RdmOperation

  constructor(
    rdm: Rdm,
    peer: Peer,
    data: Segments,
    operation: RdmOperation,
    context: number,
    cqData: bigint | undefined,
  ) {
    super(rdm, peer, data)
    this.operation = operation
    this.context = context
    this.cqData = cqData
  }

  /** Lets the peer read the data; false when it cannot be registered. */
  protected lend(): boolean {
    const source = this.rdm.settings.memory.register(this.data.run(0, this.data.bytes))
    if (source === undefined) return false
    this.sources = [source]
    return true
  }

  private takeBack(): void {
    for (const source of this.sources) this.rdm.settings.memory.release(source)
    this.sources = []
  }

  /** What the peer could not read is sent by long-CTS, from where the packets with data ended (§4.7). */
  protected sendInstead(deliveryComplete: boolean): void {
    this.takeBack()
    this.afterNack = true
    this.goal = this.data.bytes
    this.windowed = true
    this.confirmed = !deliveryComplete
    this.requestPending = true
    this.rdm.transmitter.schedule(this)
  }

  protected override end(): void {
    this.takeBack()
    super.end()
  }

  protected complete(): void {
    const { operation, context, peer, data } = this
    const { number } = peer
    this.rdm.emit({
      type: "completed",
      operation,
      context,
      peer: number,
      bytes: data.bytes,
      tag: undefined,
      cqData: undefined,
    })
  }

  protected failed(reason: RdmFailure): void {
    const { operation, context, peer, data } = this
    this.rdm.emit({ type: "failed", operation, context, peer: peer.number, reason, bytes: data.bytes })
  }

  /** Writes a request, with as much of the data as fits. */
  protected writeRequest(slot: Slot, header: EfaRdm, bytes: number): number {
    this.peer.requestSent = true
    return this.rdm.write(slot, this.peer, header, this.data, this.offset, bytes)
  }
}
