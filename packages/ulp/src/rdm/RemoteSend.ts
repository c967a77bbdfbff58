import {
  type EfaRdmAtomic,
  EfaRdmFeature,
  type EfaRdmTarget,
  type EfaRdmWrite,
  efaRdmBytes,
} from "@rdmakit/wire/efa-rdm"
import { Outgoing, ProgramOutgoing } from "./Outgoing.ts"
import type { Peer } from "./Peer.ts"
import type { Rdm } from "./Rdm.ts"
import { Segments } from "./Segments.ts"
import { targetRun } from "./Targets.ts"
import type { Slot } from "./Transmitter.ts"

/** The most that one RDMA operation moves, bytes: 1 GiB. */
export const RDMA_BYTES_MAX = 1_073_741_824

export interface WriteOptions {
  readonly cqData: bigint | undefined
  /** It completes when the data is in the remote memory, not when the responder's device has the packets. */
  readonly deliveryComplete: boolean
}

/** A write: by RDMA WRITE where both sides can and no data goes to the completion, else emulated with packets. */
export class WriteSend extends ProgramOutgoing {
  protocol: EfaRdmWrite["protocol"] | "direct" = "eager"
  private readonly options: WriteOptions
  private readonly targets: ReadonlyArray<EfaRdmTarget>

  constructor(
    rdm: Rdm,
    peer: Peer,
    data: Segments,
    targets: ReadonlyArray<EfaRdmTarget>,
    context: number,
    options: WriteOptions,
  ) {
    super(rdm, peer, data, "write", context, options.cqData)
    this.options = options
    this.targets = targets
  }

  begin(): void {
    const { rdm, peer, options, data } = this
    this.protocol = this.choose()
    const mustConfirm = options.deliveryComplete && (this.protocol === "eager" || this.protocol === "longCts")
    if (mustConfirm && !peer.can(EfaRdmFeature.DeliveryComplete)) {
      this.fail("unsupported")
      return
    }
    this.goal = this.protocol === "longRead" ? 0 : data.bytes
    this.requestPending = this.protocol !== "direct"
    this.allowed = this.protocol === "direct" ? data.bytes : 0
    this.windowed = this.protocol === "longCts"
    this.confirmed = !(this.protocol === "longRead" || mustConfirm)
    rdm.transmitter.schedule(this)
  }

  /** As libfabric chooses (`efa_rdm_rma_post_write`). Nothing is written directly when there is nothing to write. */
  private choose(): WriteSend["protocol"] {
    const { settings } = this.rdm
    const { bytes } = this.data
    const { peer } = this
    const direct = settings.rdmaWrite && peer.can(EfaRdmFeature.RdmaWrite)
    if (direct && bytes > 0 && this.options.cqData === undefined) return "direct"
    const reads = settings.rdmaRead && peer.can(EfaRdmFeature.RdmaRead)
    if (reads && bytes > 0 && bytes >= settings.readWriteBytesMin && this.lend()) return "longRead"
    return efaRdmBytes(this.header("eager")) + bytes <= settings.mtuBytes ? "eager" : "longCts"
  }

  private header(protocol: EfaRdmWrite["protocol"]): EfaRdmWrite {
    const { rdm, peer, targets, id: sendId, sources } = this
    const { deliveryComplete } = this.options
    const write = { kind: "write", ...rdm.optionsFor(peer, this.cqData), targets } as const
    const messageBytes = BigInt(this.data.bytes)
    if (protocol === "longRead") return { ...write, protocol, deliveryComplete: false, messageBytes, sendId, sources }
    if (protocol === "longCts") {
      const creditRequest = rdm.settings.credits
      const { afterNack } = this
      return { ...write, protocol, deliveryComplete, messageBytes, sendId, creditRequest, afterNack }
    }
    return deliveryComplete
      ? { ...write, protocol, deliveryComplete, sendId }
      : { ...write, protocol, deliveryComplete }
  }

  protected fillRequest(slot: Slot): void {
    const most = this.afterNack ? 0 : this.goal
    this.offset += this.writeRequest(slot, this.header(this.protocol as EfaRdmWrite["protocol"]), most)
    this.allowed = this.offset
    this.requestPending = false
  }

  override fill(slot: Slot): void {
    if (this.protocol !== "direct") {
      super.fill(slot)
      return
    }
    const remote = targetRun(this.targets, this.offset, RDMA_BYTES_MAX)
    const local = this.data.run(this.offset, Number(remote.bytes))
    slot.rdma("write", this.peer.number, local, { ...remote, bytes: BigInt(local.length) })
    this.offset += local.length
  }

  override handleReadNack(): boolean {
    if (this.protocol !== "longRead" || this.requestPending) return false
    this.protocol = "longCts"
    this.sendInstead(this.options.deliveryComplete)
    return true
  }
}

/** What an atomic does: libfabric's `enum fi_datatype` and `enum fi_op`. */
export interface AtomicOptions {
  readonly datatype: number
  readonly operation: number
}

/** An atomic whose result is not wanted. It has its place in the order of messages. */
export class AtomicSend extends ProgramOutgoing {
  private readonly options: AtomicOptions & { readonly deliveryComplete: boolean }
  private readonly targets: ReadonlyArray<EfaRdmTarget>
  private messageId = 0

  constructor(
    rdm: Rdm,
    peer: Peer,
    data: Segments,
    targets: ReadonlyArray<EfaRdmTarget>,
    context: number,
    options: AtomicOptions & { readonly deliveryComplete: boolean },
  ) {
    super(rdm, peer, data, "atomic", context, undefined)
    this.options = options
    this.targets = targets
  }

  begin(): void {
    const { peer, options } = this
    if (options.deliveryComplete && !peer.can(EfaRdmFeature.DeliveryComplete)) {
      this.fail("unsupported")
      return
    }
    this.messageId = peer.nextMessage
    peer.nextMessage = (peer.nextMessage + 1) >>> 0
    this.goal = this.data.bytes
    this.confirmed = !options.deliveryComplete
    this.requestPending = true
    this.rdm.transmitter.schedule(this)
  }

  protected fillRequest(slot: Slot): void {
    const { rdm, peer, messageId, targets, id: sendId } = this
    const { datatype, operation, deliveryComplete } = this.options
    const atomic = {
      kind: "atomic",
      ...rdm.optionsFor(peer, undefined),
      messageId,
      datatype,
      operation,
      targets,
    } as const
    const header: EfaRdmAtomic = deliveryComplete
      ? { ...atomic, protocol: "write", deliveryComplete, sendId }
      : { ...atomic, protocol: "write", deliveryComplete }
    this.offset += this.writeRequest(slot, header, this.goal)
    this.requestPending = false
  }
}

/** What a responder sends of its memory: the first in a READRSP, the rest as CTS allow. */
export class ReadAnswer extends Outgoing {
  private readonly requesterId: number
  private readonly firstBytes: number

  constructor(rdm: Rdm, peer: Peer, data: Segments, requesterId: number, windowBytes: number) {
    super(rdm, peer, data)
    this.requesterId = requesterId
    this.receiveId = requesterId
    this.firstBytes = Math.min(data.bytes, windowBytes)
    this.goal = data.bytes
    this.windowed = true
    this.requestPending = true
    rdm.transmitter.schedule(this)
  }

  protected fillRequest(slot: Slot): void {
    const { rdm, peer, requesterId: receiveId, id: sendId } = this
    const { connid } = rdm.settings.address
    const most = Math.min(this.firstBytes, rdm.settings.mtuBytes - READ_RESPONSE_BYTES)
    const header = { kind: "readResponse", connid, receiveId, sendId, segmentBytes: BigInt(most) } as const
    this.offset = rdm.write(slot, peer, header, this.data, 0, most)
    this.allowed = this.firstBytes
    this.requestPending = false
  }

  protected complete(): void {}
  protected failed(): void {}
}

/** Octets of a READRSP header, and of an ATOMRSP's (tables 3.11, 3.15). */
export const READ_RESPONSE_BYTES = 24
export const ATOMIC_RESPONSE_BYTES = 24

/** What memory held before an atomic. */
export class AtomicAnswer extends Outgoing {
  override readonly urgent = true
  private readonly requesterId: number

  constructor(rdm: Rdm, peer: Peer, octets: Uint8Array, requesterId: number) {
    super(rdm, peer, new Segments([octets]))
    this.requesterId = requesterId
    this.goal = octets.length
    this.requestPending = true
    rdm.transmitter.schedule(this)
  }

  protected fillRequest(slot: Slot): void {
    const { connid } = this.rdm.settings.address
    const segmentBytes = BigInt(this.goal)
    const header = { kind: "atomicResponse", connid, receiveId: this.requesterId, segmentBytes } as const
    this.offset = this.rdm.write(slot, this.peer, header, this.data, 0, this.goal)
    this.requestPending = false
  }

  protected complete(): void {}
  protected failed(): void {}
}
