import { Flag, Layout, type Packet, PSN_MASK } from "@rdmakit/packet"
import {
  Access,
  blankCompletion,
  completionOpcodes,
  MemoryFault,
  QpState,
  type SendRequest,
  type Time,
  WcStatus,
  WrOpcode,
} from "@rdmakit/protocol"
import { Bth, frameBytes, UC } from "./Bth.ts"
import type { Pacing } from "./Pacing.ts"
import { Break, type QueuePairContext } from "./QueuePairContext.ts"
import { Kind, SendQueue, type SendWork } from "./SendQueue.ts"
import { checkSges, SgeCursor } from "./SgeCursor.ts"

const { EXT } = Layout

/** Octets copied one by one up to here: a view of an array costs more. */
const COPY_BYTES = 64

/**
 * The half of a queue pair that sends: it takes work from the send queue in order, cuts messages into packets of the path
 * MTU (IBTA 1.7 §9.7.2), and carries out what is local. When work is complete is the subclass's.
 */
export abstract class Requester {
  readonly queue: SendQueue
  protected readonly context: QueuePairContext
  protected readonly pacing: Pacing
  /** Number of the next packet. */
  nxt = 0
  /** Bytes of SENDs and WRITEs in the packets before it. */
  sentBytes = 0
  /** READs and atomics that have been sent and not answered. */
  outstanding = 0
  /** The current work may send, as far as the queue is concerned. */
  ready = false
  /** Every packet that leaves a queue pair of this type has this in its opcode. */
  private readonly service: number
  private readonly gather = new SgeCursor()
  private gathered: SendWork | undefined = undefined

  constructor(context: QueuePairContext, pacing: Pacing, sendMax: number) {
    this.context = context
    this.pacing = pacing
    this.queue = new SendQueue(sendMax)
    this.service = context.type === "uc" ? UC : 0
  }

  /** There is a packet to send, the controller's window and pace aside. */
  abstract get hasData(): boolean

  post(now: Time, request: SendRequest): void {
    this.queue.post(request, this.context.settings.pathMtuBytes, this.context.type === "ud")
    if (!this.ready) this.settle(now)
  }

  /** From here on packets are numbered from this PSN. */
  startAt(psn: number): void {
    this.nxt = psn & PSN_MASK
    this.queue.end = this.nxt
  }

  reset(): void {
    this.queue.clear(0)
    this.nxt = 0
    this.sentBytes = 0
    this.outstanding = 0
    this.ready = false
    this.gathered = undefined
  }

  /** Something is under way that a send queue drain waits for (IBTA 1.7 §10.3.1, SQ drain). */
  get underWay(): boolean {
    return this.queue.oldest?.started === true
  }

  // --- the queue

  /** Finds out what may be sent next, and completes what is done. */
  settle(now: Time): void {
    this.admit()
    this.completeDone(now)
  }

  private admit(): void {
    this.ready = false
    for (let work = this.queue.current; work !== undefined; work = this.queue.current) {
      if (work.status !== WcStatus.Success || !this.mayStart(work)) return
      if (!work.checked && !this.serves(work)) {
        work.status = WcStatus.LocQpOpErr
        return
      }
      if (work.kind === Kind.Local) {
        this.perform(work)
        if (work.status !== WcStatus.Success) return
        this.queue.advance()
      } else {
        this.ready = work.checked || this.checkWork(work)
        return
      }
    }
  }

  /** State, fence and the limit on READs and atomics (IBTA vol. 1, ch. 9 and 10, order and fences). */
  private mayStart(work: SendWork): boolean {
    const { state, settings } = this.context
    if (work.started) return state === QpState.Rts || state === QpState.Sqd
    if (state !== QpState.Rts) return false
    if (work.request.fence === true && this.outstanding > 0) return false
    if (work.kind === Kind.Message || work.kind === Kind.Local) return true
    // A queue pair that may have none outstanding would wait for ever.
    if (settings.initiatorDepth === 0) work.status = WcStatus.LocQpOpErr
    return this.outstanding < settings.initiatorDepth
  }

  /** Whether this service has such work. */
  protected serves(_work: SendWork): boolean {
    return true
  }

  /** Whether all of its memory may be touched: once for each work request, before its first packet. */
  private checkWork(work: SendWork): boolean {
    const { memory, user } = this.context
    const { sges, inline } = work.request
    const writes = work.kind === Kind.Read || work.kind === Kind.Atomic
    work.checked = true
    if (inline === undefined && checkSges(memory, user, sges, writes ? Access.LocalWrite : 0) !== MemoryFault.None) {
      work.status = WcStatus.LocProtErr
    }
    return work.status === WcStatus.Success
  }

  /** Carries out local work (IBTA 1.7 §10.6.7.2). */
  private perform(work: SendWork): void {
    const { memory, user } = this.context
    const { request } = work
    work.started = true
    if (request.opcode === WrOpcode.BindMw) {
      const fault = request.bind === undefined ? MemoryFault.Key : memory.bind(user, request.bind)
      if (fault !== MemoryFault.None) work.status = WcStatus.MwBindErr
    } else if (memory.invalidate(user, request.invalidateKey ?? 0, false) !== MemoryFault.None) {
      work.status = WcStatus.LocQpOpErr
    }
    work.done = work.status === WcStatus.Success
  }

  /** Completes the oldest work for as long as it is done; work that failed ends everything at its turn. */
  protected completeDone(now: Time): void {
    for (let work = this.queue.oldest; work !== undefined; work = this.queue.oldest) {
      if (this.context.broken !== Break.None) return
      if (work.status !== WcStatus.Success) {
        this.fail(now, work.status)
        return
      }
      if (!work.done) return
      this.complete()
    }
  }

  /** The oldest work has succeeded. */
  protected complete(): void {
    const { bytes, kind, request, started } = this.queue.shift()
    if (started && kind !== Kind.Message && kind !== Kind.Local) this.outstanding--
    const { context } = this
    if (!request.signaled && !context.signalAll) return
    const opcode = completionOpcodes[request.opcode]
    context.tell({
      type: "completion",
      queue: "send",
      solicited: false,
      completion: { ...blankCompletion, id: request.id, opcode, byteLength: bytes, qpn: context.qpn },
    })
  }

  /** The oldest work has failed: its completion is told of whether it was asked for or not (IBTA 1.7 §10.7.3.1). */
  protected fail(_now: Time, status: WcStatus): void {
    this.flushOldest(status)
    // What a service does not have ends all of it, as in Linux rxe; else UC and UD may go on from SQE (IBTA 1.7 §10.3.1).
    const all = this.context.type === "rc" || status === WcStatus.LocQpOpErr
    this.context.broken = all ? Break.Error : Break.SendError
  }

  private flushOldest(status: WcStatus): void {
    const { request } = this.queue.shift()
    this.context.tellFailure("send", request.id, status, completionOpcodes[request.opcode])
  }

  /** All work comes back, flushed, in order. */
  flush(): void {
    while (this.queue.length > 0) this.flushOldest(WcStatus.WrFlushErr)
    this.queue.clear(this.nxt)
    this.sentBytes = 0
    this.outstanding = 0
    this.ready = false
    this.gathered = undefined
  }

  // --- packets

  /** Fills a packet of the current work; there is one. False: its memory is gone, and the packet as good as fresh. */
  protected fillMessage(now: Time, out: Packet, work: SendWork, askEarly: boolean): boolean {
    const { context, pacing } = this
    const { destinationQp, partition, pathMtuBytes } = context.settings
    const index = this.nxt - work.firstPacket
    const offset = index * pathMtuBytes
    const left = work.bytes - offset
    const bytes = left < pathMtuBytes ? left : pathMtuBytes
    if (bytes > 0 && !this.copyPayload(out, work, offset, bytes)) {
      this.lose(now, out, work)
      return false
    }
    const first = index === 0
    const last = index === work.packets - 1
    const opcode = messageOpcode(work.request.opcode, first, last) | this.service
    const flags =
      (last && work.request.solicited === true && work.consumesReceive ? Flag.Solicited : 0) |
      (last || askEarly ? Flag.AckRequest : 0)
    context.header.put(out, opcode | flags, destinationQp, partition, pacing.capable)
    const at = out.extend()
    const { extension } = out.pool
    if (first && (opcode & 0x1f) >= Bth.WriteFirst && (opcode & 0x1f) <= Bth.WriteOnlyImmediate) {
      putRemote(extension, at, work, 0)
      extension[at + EXT.dmaLength] = work.bytes
    }
    if (last) extension[at + EXT.immediate] = trailerOf(work.request)
    this.finishPacket(now, out, opcode, bytes)
    return true
  }

  protected finishPacket(now: Time, out: Packet, opcode: number, bytes: number): void {
    const { context, pacing } = this
    out.psn = this.nxt & PSN_MASK
    out.payloadBytes = bytes
    const wireBytes = frameBytes(opcode, bytes, context.header.ipv6)
    out.wireBytes = wireBytes
    out.stamp = now
    if (pacing.telemetry && out.pool.telemetryStride > 0) {
      out.set(Flag.Telemetry)
      out.addTelemetry()
    }
    this.sentBytes += bytes
    pacing.sent(now, bytes, wireBytes)
  }

  /** A payload from the work's memory; false: some of it may not be read any more. */
  protected copyPayload(out: Packet, work: SendWork, offset: number, bytes: number): boolean {
    const { octets, start } = out.addPayload(bytes)
    const { inline, sges } = work.request
    if (inline !== undefined) {
      if (bytes > COPY_BYTES) octets.set(inline.subarray(offset, offset + bytes), start)
      else for (let at = 0; at < bytes; at++) octets[start + at] = inline[offset + at]!
      return true
    }
    if (this.gathered !== work) {
      this.gathered = work
      this.gather.set(sges)
    }
    const { memory, user } = this.context
    return this.gather.read(memory, user, offset, bytes, octets, start) === MemoryFault.None
  }

  /** The memory of work under way is gone. */
  protected lose(now: Time, out: Packet, work: SendWork): void {
    out.pool.recycle(out.handle)
    work.status = WcStatus.LocProtErr
    this.settle(now)
  }
}

/** RETH or AtomicETH: where at the peer, `offset` bytes on. */
export const putRemote = (extension: Int32Array, at: number, work: SendWork, offset: number): void => {
  const low = work.addressLow + offset
  extension[at + EXT.remoteAddress] = work.addressHigh + (low >= 2 ** 32 ? 1 : 0)
  extension[at + EXT.remoteAddress + 1] = low
  extension[at + EXT.remoteKey] = work.request.remoteKey ?? 0
}

/** ImmDt or IETH of a last packet; it is looked at where the opcode says so. */
const trailerOf = (request: SendRequest): number => {
  const { opcode } = request
  if (opcode === WrOpcode.SendWithInv) return request.invalidateKey ?? 0
  // What a request has no use for was not looked at when it was posted.
  return opcode === WrOpcode.SendWithImm || opcode === WrOpcode.RdmaWriteWithImm ? (request.immediate ?? 0) : 0
}

const messageOpcode = (request: WrOpcode, first: boolean, last: boolean): number => {
  const write = request === WrOpcode.RdmaWrite || request === WrOpcode.RdmaWriteWithImm
  const base = write ? Bth.WriteFirst : Bth.SendFirst
  if (!last) return first ? base : base + 1
  if (request === WrOpcode.SendWithInv) return first ? Bth.SendOnlyInvalidate : Bth.SendLastInvalidate
  const immediate = request === WrOpcode.RdmaWriteWithImm || request === WrOpcode.SendWithImm ? 1 : 0
  return (first ? base + 4 : base + 2) + immediate
}

/** Of a READ, an atomic or an ATOMIC_WRITE. */
export const respondingOpcode = (work: SendWork): number => {
  if (work.kind === Kind.Read) return Bth.ReadRequest
  if (work.kind === Kind.AtomicWrite) return Bth.AtomicWrite
  return work.request.opcode === WrOpcode.AtomicCmpAndSwp ? Bth.CompareSwap : Bth.FetchAdd
}
