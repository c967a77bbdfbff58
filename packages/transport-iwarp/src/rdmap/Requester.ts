import {
  Access,
  checkSges,
  completionOpcodes,
  MemoryFault,
  moveSges,
  QpState,
  type SendRequest,
  type Time,
  WcStatus,
  WrOpcode,
} from "@rdmakit/protocol"
import { Cause } from "./Cause.ts"
import type { Context } from "./Context.ts"
import type { Failure, MessageStream } from "./Dialect.ts"
import type { Outbound, Outgoing } from "./Outbound.ts"
import { Kind, SendWork } from "./SendWork.ts"

const ATOMIC_BYTES = 8

/** The send queue: work begins in order, and completes in order. */
export class Requester {
  private readonly context: Context
  private readonly outbound: Outbound
  private readonly most: number
  private works: Array<SendWork> = []
  /** Index of the first that has not begun. */
  private next = 0
  /** READs and atomics that have been sent and not answered, oldest first. */
  private reads: Array<SendWork> = []
  private readonly atomicOctets = new Uint8Array(ATOMIC_BYTES)
  /** The last message that was given to the stream was an answer: it is the queue's turn. */
  private answered = false

  /** @param most work requests it holds */
  constructor(context: Context, outbound: Outbound, most: number) {
    this.context = context
    this.outbound = outbound
    this.most = most
  }

  get length(): number {
    return this.works.length
  }
  /** Something is under way that the draining of the send queue waits for. */
  get underWay(): boolean {
    return this.works[0]?.started === true
  }

  /** @throws RangeError when it is full: the device has counted */
  post(request: SendRequest): void {
    if (this.works.length >= this.most) throw new RangeError(`send queue: more than ${this.most} work requests`)
    this.works.push(new SendWork(request))
  }

  // --- what begins

  /** Gives the stream the next message, when all it had has left; answers and the queue's work in turns. */
  pump(now: Time, stream: MessageStream): void {
    while (stream.idle && this.context.broken === undefined) {
      const work = this.startable()
      if (this.outbound.answersWait && !(this.answered && work !== undefined)) {
        if (this.context.state < QpState.Rts) return
        this.answered = true
        this.outbound.giveAnswer(now, stream)
      } else {
        this.answered = false
        if (work === undefined) return
        this.start(now, stream, work)
      }
    }
  }

  /** The next that may begin; what is local has been carried out on the way there. */
  private startable(): SendWork | undefined {
    for (let work = this.works[this.next]; work !== undefined; work = this.works[this.next]) {
      if (work.failure !== undefined || !this.mayStart(work)) return undefined
      work.failure = this.check(work)
      if (work.failure !== undefined) return undefined
      if (work.kind !== Kind.Local) return work
      this.perform(work)
      if (work.failure !== undefined) return undefined
      this.next++
    }
    return undefined
  }

  /** State, fence, and how many READs and atomics may be outstanding. */
  private mayStart(work: SendWork): boolean {
    const { state, settings } = this.context
    if (state !== QpState.Rts) return false
    if (work.request.fence === true && this.reads.length > 0) return false
    return !work.answered || settings.initiatorDepth === 0 || this.reads.length < settings.initiatorDepth
  }

  private check(work: SendWork): Failure | undefined {
    const { memory, user, settings, dialect } = this.context
    const { invalidRequest, noReads, send } = dialect.failures
    const { kind, request } = work
    if (kind === Kind.Unknown) return invalidRequest
    if (request.opcode === WrOpcode.SendWithImm && !dialect.sendImmediates) return invalidRequest
    // A READ's response goes to one place (RFC 5040 §4.4).
    if (work.answered && request.sges.length > 1) return invalidRequest
    if (work.answered && settings.initiatorDepth === 0) return noReads
    if (request.inline !== undefined) return undefined
    const fault = checkSges(memory, user, request.sges, work.answered ? Access.LocalWrite : 0)
    return fault === MemoryFault.None ? undefined : send(fault)
  }

  /** A key of this device is made void. */
  private perform(work: SendWork): void {
    const { memory, user, dialect } = this.context
    work.started = true
    const fault = memory.invalidate(user, work.request.invalidateKey ?? 0, false)
    if (fault === MemoryFault.None) work.done = true
    else work.failure = dialect.failures.invalidRequest
  }

  private start(now: Time, stream: MessageStream, work: SendWork): void {
    work.started = true
    this.next++
    if (work.answered) this.reads.push(work)
    this.outbound.giveWork(now, stream, work)
  }

  // --- what ends

  /** The peer has taken a message. */
  taken({ work }: Outgoing): void {
    if (work?.kind === Kind.Message) work.done = true
  }

  /** The READ, or atomic, that is answered next. */
  get awaited(): SendWork | undefined {
    return this.reads[0]
  }

  /** Octets of the READ that is answered next, from `offset` on. False: its memory may not be written to any more. */
  place(offset: number, octets: Uint8Array, start: number, bytes: number): boolean {
    const { memory, user, dialect } = this.context
    const work = this.reads[0]!
    const fault = moveSges(memory, user, work.request.sges, offset, bytes, octets, start, true)
    if (fault === MemoryFault.None) return true
    work.failure = dialect.failures.send(fault)
    this.context.broken = Cause.Local
    return false
  }

  /** What an atomic found goes to memory as the machine has numbers: low octet first. */
  placeOriginal(original: bigint): boolean {
    for (let at = 0; at < ATOMIC_BYTES; at++) this.atomicOctets[at] = Number((original >> BigInt(8 * at)) & 0xffn)
    return this.place(0, this.atomicOctets, 0, ATOMIC_BYTES)
  }

  /** The READ, or atomic, that is answered next is. */
  finishRead(): void {
    this.reads.shift()!.done = true
  }

  /** Completes the oldest for as long as it is done; one that failed ends everything at its turn. */
  complete(): void {
    let count = 0
    for (; this.works[count]?.done === true; count++) this.tell(this.works[count]!)
    if (count > 0) {
      this.works.splice(0, count)
      this.next -= count
    }
    if (this.works[0]?.failure !== undefined) this.context.broken ??= Cause.Local
  }

  private tell({ request, bytes }: SendWork): void {
    if (!request.signaled && !this.context.signalAll) return
    this.context.tell("send", false, {
      id: request.id,
      status: WcStatus.Success,
      opcode: completionOpcodes[request.opcode],
      byteLength: bytes,
    })
  }

  /** The peer refused a READ, or an atomic: the so many-th of those that are not answered, from 0. */
  failRead(index: number, failure: Failure): void {
    const work = this.reads[index]
    if (work !== undefined) work.failure = failure
  }

  /** A message was refused, or never taken; where all were taken it is a READ that is not answered. */
  fail(message: Outgoing | undefined, failure: Failure): void {
    const work = message === undefined ? this.reads[0] : message.work
    if (work !== undefined) work.failure = failure
  }

  /** All work comes back, in order: what is done as it should, what failed with its reason, the rest flushed. */
  flush(): void {
    this.complete()
    const { flushed } = this.context.dialect.failures
    for (const { request, failure = flushed } of this.works)
      this.context.tellFailure("send", request.id, failure, completionOpcodes[request.opcode])
    this.reset()
  }

  reset(): void {
    this.works = []
    this.next = 0
    this.reads = []
    this.answered = false
  }
}
