import type { EfaRdm, EfaRdmTarget } from "@rdmakit/wire/efa-rdm"
import type { DatagramStatus } from "./Datagram.ts"
import type { Peer } from "./Peer.ts"
import type { Rdm } from "./Rdm.ts"
import type { RdmFailure } from "./RdmEvent.ts"
import { RDMA_BYTES_MAX } from "./RemoteSend.ts"
import type { Segments } from "./Segments.ts"
import { targetRun } from "./Targets.ts"
import { Sendable, type Slot } from "./Transmitter.ts"

/** What an operation that takes data in has to tell its peer. */
type Owed = "nothing" | "request" | "cts" | "endOfRead" | "readNack" | "receipt"

/** Octets of a CTSDATA header with its connection: what a window counts packets by. */
const DATA_HEADER_BYTES = 32

/**
 * An operation that takes data in: a receive, a read, the result of an atomic, a peer's write. Data comes in packets,
 * in any order, or is read by RDMA.
 */
export abstract class Incoming extends Sendable {
  readonly urgent = true
  readonly id: number
  protected readonly rdm: Rdm
  protected into: Segments
  /** Bytes that come, of which `into` may hold fewer. */
  protected total = 0
  protected received = 0
  /** Of these, in packets and not by RDMA READ. */
  protected packetBytes = 0
  /** Bytes of the window that are still to come; -1: no CTS are sent. */
  protected windowLeft = -1
  /** The peer's number of the operation that sends. */
  protected sendId = 0
  protected owed: Owed = "nothing"
  /** What is told when all is here. */
  protected thanks: Owed = "nothing"
  /** Its CTS belong to an emulated READ. */
  protected readonly emulatesRead: boolean = false
  private credits = 1
  private sources: ReadonlyArray<EfaRdmTarget> = []
  private readOffset = 0
  private readEnd = 0
  private readsOut = 0
  private readRefused = false
  private full = false
  private ended = false

  constructor(rdm: Rdm, into: Segments) {
    super()
    this.rdm = rdm
    this.into = into
    this.id = rdm.incoming.add(this)
  }

  /** Whom it is from; undefined for a receive that nothing has matched. */
  abstract readonly peer: Peer | undefined

  /** All is here. */
  protected abstract complete(): void
  protected abstract failed(reason: RdmFailure): void

  /** The request that asks for the data; of requesters alone. */
  protected request(_slot: Slot): void {}

  get hasPacket(): boolean {
    return !this.ended && (this.owed !== "nothing" || this.readOffset < this.readEnd)
  }

  fill(slot: Slot): void {
    const { owed } = this
    if (owed === "nothing") {
      this.fillRead(slot)
      return
    }
    this.owed = "nothing"
    if (owed === "request") {
      this.request(slot)
      return
    }
    this.rdm.write(slot, this.peer!, this.reply(owed))
    if (owed === "readNack") this.handleNackSent()
    else if (owed !== "cts") this.end()
  }

  private reply(owed: "cts" | "endOfRead" | "readNack" | "receipt"): EfaRdm {
    const { connid } = this.rdm.settings.address
    const { sendId, id: receiveId } = this
    if (owed === "cts") {
      this.windowLeft = this.windowFor(this.total - this.received)
      const windowBytes = BigInt(this.windowLeft)
      return { kind: "cts", connid, sendId, receiveId, windowBytes, emulatedRead: this.emulatesRead }
    }
    if (owed === "receipt") return { kind: "receipt", connid, sendId, messageId: this.messageId }
    return { kind: owed, connid, sendId, receiveId }
  }

  /** Of receipts; 0 where there are no message numbers. */
  protected get messageId(): number {
    return 0
  }

  /** How many of so many bytes may come in one window. */
  protected windowFor(bytes: number): number {
    return Math.min(bytes, this.credits * (this.rdm.settings.mtuBytes - DATA_HEADER_BYTES))
  }

  /** The peer sends as CTS allow: it would like so many packets each time, and gets one at least. */
  protected openWindow(sendId: number, creditRequest: number): void {
    this.sendId = sendId
    this.credits = Math.max(1, Math.min(creditRequest, this.rdm.settings.credits))
    this.windowLeft = 0
  }

  /** Reads the rest, from `offset` on, out of the peer's buffer. What `into` has no room for is not read. */
  protected read(sources: ReadonlyArray<EfaRdmTarget>, offset: number): void {
    this.sources = sources
    this.readOffset = offset
    this.readEnd = Math.max(offset, Math.min(this.total, this.into.bytes))
    this.received += this.total - this.readEnd
    this.rdm.transmitter.schedule(this)
  }

  private fillRead(slot: Slot): void {
    const { readOffset } = this
    const remote = targetRun(this.sources, readOffset, Math.min(RDMA_BYTES_MAX, this.readEnd - readOffset))
    const local = this.into.run(readOffset, Number(remote.bytes))
    slot.rdma("read", this.peer!.number, local, { ...remote, bytes: BigInt(local.length) })
    this.readOffset += local.length
    this.readsOut++
  }

  handleDone(slot: Slot, status: DatagramStatus): void {
    if (this.ended) return
    if (status === "unreachable") {
      this.rdm.lose(this.peer!)
      return
    }
    if (slot.kind !== "read") return
    this.readsOut--
    if (status === "refused") {
      // What is not read comes another way, and is not here yet.
      this.readRefused = true
      this.readEnd = this.readOffset
    } else if (!this.readRefused) this.received += slot.bytes
    this.proceed()
  }

  /** Data at an offset. False for what is not wanted, which has changed nothing. */
  handleData(offset: bigint, octets: Uint8Array): boolean {
    const end = offset + BigInt(octets.length)
    if (this.full || end > BigInt(this.total) || this.received + octets.length > this.total) return false
    if (this.windowLeft >= 0) {
      if (octets.length > this.windowLeft) return false
      this.windowLeft -= octets.length
    }
    this.into.put(Number(offset), octets)
    this.received += octets.length
    this.packetBytes += octets.length
    this.proceed()
    return true
  }

  /** Bytes that come in requests, whether the rest is read or not. */
  protected get requestBytes(): number {
    return 0
  }

  /** After something came: ends, asks for more, or says that it cannot read. */
  protected proceed(): void {
    if (this.full) return
    if (this.readRefused) {
      if (this.readsOut === 0 && this.packetBytes >= this.requestBytes) this.nack()
      return
    }
    if (this.received === this.total && this.readsOut === 0) {
      this.full = true
      this.owed = this.thanks
      this.complete()
      if (this.thanks === "nothing") this.end()
      else this.rdm.transmitter.schedule(this)
    } else if (this.windowLeft === 0 && this.inOrderToAsk) {
      this.owed = "cts"
      this.rdm.transmitter.schedule(this)
    }
  }

  /** Whether it knows whom to send CTS: a reader learns it from the first answer. */
  protected get inOrderToAsk(): boolean {
    return true
  }

  /** What was refused is asked for in packets. */
  protected nack(): void {
    this.readRefused = false
    this.received = this.packetBytes
    this.owed = "readNack"
    this.rdm.transmitter.schedule(this)
  }

  /** The peer begins anew: by another request, for which this operation waits or not. */
  protected handleNackSent(): void {
    this.end()
  }

  fail(reason: RdmFailure): void {
    if (this.ended) return
    this.end()
    if (!this.full) this.failed(reason)
  }

  protected end(): void {
    this.ended = true
    this.owed = "nothing"
    this.rdm.incoming.remove(this.id)
  }
}
