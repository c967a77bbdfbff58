import {
  Access,
  blankCompletion,
  bytesOf,
  type Completion,
  checkSges,
  completionOpcodes,
  type Memory,
  MemoryFault,
  type MemoryUser,
  NEVER,
  type QpSettings,
  QpState,
  type QpType,
  type SendRequest,
  type Time,
  type VerbsCommand,
  type VerbsEngine,
  type VerbsEngineOptions,
  type VerbsEvent,
  WcOpcode,
} from "@rdmakit/protocol"
import type { Carrier } from "./Carrier.ts"
import { EfaStatus, wcStatusOf } from "./EfaStatus.ts"
import { Message, segmentOf } from "./Message.ts"
import { Bit, Operation } from "./Operation.ts"
import { Receives } from "./Receives.ts"

/** RNR retries without end. */
const WITHOUT_END = 7
/** The node of packets to a multicast group, which SRD has not. */
const GROUP_NODE = 0xffff

/**
 * A queue pair of SRD: states as of UD, a send queue whose requests go to any number of peers and end in any order, a receive
 * queue. Its packets are the device's, whose engine it names as its carrier: it sends and receives none itself. What goes
 * wrong with a request ends that request alone.
 */
export class SrdQueuePair implements VerbsEngine {
  readonly type: QpType = "srd"
  readonly qpn: number
  readonly carrier: Carrier
  readonly user: MemoryUser
  readonly memory: Memory
  readonly receives: Receives
  state: QpState = QpState.Reset
  draining = false
  queueKey = 0
  private rnrRetry = 0
  private readonly sendMax: number
  private readonly signalAll: boolean
  /** Requests that are the carrier's, in the order in which they were posted; and those that wait for RTS. */
  private readonly open = new Set<Message>()
  private waiting: Array<SendRequest> = []

  constructor(options: VerbsEngineOptions, carrier: Carrier) {
    this.qpn = options.qpn
    this.user = options.user
    this.memory = options.memory
    this.sendMax = options.sendMax
    this.signalAll = options.signalAll
    this.receives = new Receives(options.receiveMax)
    this.carrier = carrier
  }

  // --- what a device reads

  get sendOutstanding(): number {
    return this.open.size + this.waiting.length
  }
  get receiveOutstanding(): number {
    return this.receives.outstanding
  }
  /** Requests may come in. */
  get isReceiving(): boolean {
    return this.state >= QpState.Rtr && this.state !== QpState.Err
  }

  // --- commands

  command(now: Time, command: VerbsCommand): void {
    this.carrier.now = now
    if (command.type === "send") this.postSend(now, command.request)
    else if (command.type === "modify") this.modify(now, command.state, command.settings)
    else if (this.state === QpState.Err) this.tellReceive(command.request.id, EfaStatus.Flushed)
    else this.receives.post(command.request)
  }

  private postSend(now: Time, request: SendRequest): void {
    if (this.sendOutstanding >= this.sendMax) throw new RangeError(`send queue: more than ${this.sendMax} requests`)
    if (this.state === QpState.Err) this.tellSend(request, EfaStatus.Flushed, 0)
    else if (this.state === QpState.Rts) this.start(now, request)
    else this.waiting.push(request)
  }

  private start(now: Time, request: SendRequest): void {
    const { carrier } = this
    const status = this.check(request)
    if (status !== EfaStatus.Ok) {
      this.tellSend(request, status, 0)
      return
    }
    const message = new Message(carrier.peerOf(now, request.datagram!.path), this, request, carrier.nextNumber())
    this.open.add(message)
    carrier.add(now, message)
  }

  /** What is wrong with a request before anything is sent. */
  private check({ opcode, datagram, inline, sges }: SendRequest): EfaStatus {
    const { capabilities } = this.carrier.config
    const operation = segmentOf(opcode) & Bit.Operation
    const isRead = operation === Operation.ReadRequest
    const isWrite = operation === Operation.Write
    if (operation === 0 || (isRead && !capabilities.rdmaRead) || (isWrite && !capabilities.rdmaWrite))
      return EfaStatus.UnsupportedOp
    if (datagram === undefined || datagram.path.peer === GROUP_NODE) return EfaStatus.InvalidAh
    const most = operation === Operation.Send ? this.carrier.mtuBytes : capabilities.maxRdmaBytes
    if ((inline?.length ?? bytesOf(sges)) > most) return EfaStatus.BadLength
    if (inline !== undefined) return EfaStatus.Ok
    const fault = checkSges(this.memory, this.user, sges, isRead ? Access.LocalWrite : 0)
    return fault === MemoryFault.None ? EfaStatus.Ok : EfaStatus.InvalidLkey
  }

  private modify(now: Time, state: QpState, settings: Partial<QpSettings>): void {
    const before = this.state
    if (state === QpState.Reset) {
      this.reset(now)
      return
    }
    if (before === QpState.Reset) this.carrier.queuePairs.set(this.qpn, this)
    if (settings.queueKey !== undefined) this.queueKey = settings.queueKey
    if (settings.rnrRetry !== undefined) this.rnrRetry = settings.rnrRetry
    this.state = state
    if (state === QpState.Err) {
      if (before !== QpState.Err) this.flush()
      return
    }
    if (state === QpState.Rts && before !== QpState.Rts) {
      const { waiting } = this
      this.waiting = []
      for (const request of waiting) this.start(now, request)
    }
    this.draining = state === QpState.Sqd && (before !== QpState.Sqd || this.draining)
    this.settle()
  }

  /** Everything posted is forgotten, without a completion. */
  private reset(now: Time): void {
    this.state = QpState.Reset
    this.carrier.queuePairs.delete(this.qpn)
    this.draining = false
    this.queueKey = 0
    this.rnrRetry = 0
    for (const message of this.open) this.carrier.drop(now, message)
    this.open.clear()
    this.waiting = []
    this.receives.takeAll()
    this.carrier.abortAnswers(this)
  }

  /** All work comes back, the send queue's first. */
  private flush(): void {
    this.draining = false
    const { waiting } = this
    this.waiting = []
    for (const message of [...this.open]) this.end(message, EfaStatus.Flushed)
    for (const request of waiting) this.tellSend(request, EfaStatus.Flushed, 0)
    for (const { id } of this.receives.takeAll()) this.tellReceive(id, EfaStatus.Flushed)
    this.carrier.abortAnswers(this)
  }

  /** An address handle is gone: what was to go by it comes back (amzn-drivers, SRD.txt §3.3.1). */
  endPath(path: NonNullable<SendRequest["datagram"]>["path"]): void {
    for (const message of [...this.open])
      if (message.request?.datagram?.path === path) this.end(message, EfaStatus.Flushed)
    const gone = this.waiting.filter(({ datagram }) => datagram?.path === path)
    this.waiting = this.waiting.filter(({ datagram }) => datagram?.path !== path)
    for (const request of gone) this.tellSend(request, EfaStatus.Flushed, 0)
  }

  // --- requests

  /** Requests of this queue pair that are under way. */
  get requests(): Iterable<Message> {
    return this.open
  }

  /** A request that finds no receive is tried again without end. */
  get triesForEver(): boolean {
    return this.rnrRetry === WITHOUT_END
  }
  /** Whether a request that found no receive is sent once more. */
  triesAgain({ retries, request }: Message): boolean {
    return request !== undefined && (this.triesForEver || retries < this.rnrRetry)
  }

  /** A message has ended: a request completes, an answer is no more. */
  end(message: Message, status: EfaStatus): void {
    if (message.hasEnded) return
    const { request } = message
    this.carrier.drop(this.carrier.now, message)
    if (request === undefined) return
    this.open.delete(message)
    this.carrier.counters.end(message, status)
    this.tellSend(request, status, message.length)
    this.settle()
  }

  private settle(): void {
    if (!this.draining || this.state !== QpState.Sqd || this.open.size > 0) return
    this.draining = false
    this.carrier.tell({ type: "async", event: "SQ_DRAINED", qpn: this.qpn })
  }

  // --- completions

  private tellSend(request: SendRequest, status: EfaStatus, byteLength: number): void {
    const { id, opcode, signaled } = request
    const failed = status !== EfaStatus.Ok
    if (!failed && !signaled && !this.signalAll) return
    const completion = { ...blankCompletion, id, opcode: completionOpcodes[opcode], qpn: this.qpn }
    this.carrier.tell({
      type: "completion",
      queue: "send",
      solicited: failed,
      completion: failed
        ? { ...completion, status: wcStatusOf(status), vendorError: status }
        : { ...completion, byteLength },
    })
  }

  /** A receive that failed, or was flushed. */
  tellReceive(id: number, status: EfaStatus): void {
    const failure = { status: wcStatusOf(status), vendorError: status }
    this.tellArrival(true, { id, opcode: WcOpcode.Recv, ...failure })
  }

  tellArrival(solicited: boolean, arrival: Partial<Completion>): void {
    const completion = { ...blankCompletion, qpn: this.qpn, ...arrival }
    this.carrier.tell({ type: "completion", queue: "receive", solicited, completion })
  }

  // --- an engine that has no packets of its own

  get node(): number {
    return this.carrier.node
  }
  get flow(): number {
    return -1
  }
  get priority(): number {
    return 0
  }
  get hasData(): boolean {
    return false
  }
  get windowBound(): boolean {
    return false
  }
  get controlPending(): boolean {
    return false
  }
  get paceTime(): Time {
    return 0
  }
  get nextSend(): Time {
    return NEVER
  }
  get nextTimeout(): Time {
    return NEVER
  }
  get finished(): boolean {
    return this.sendOutstanding === 0
  }
  get timers(): undefined {
    return undefined
  }
  lendTimers(): void {}
  handleTimer(): void {}
  handleTimeout(): void {}
  handlePacket(): void {}
  pollTransmit(): boolean {
    return false
  }
  pollEvent(): VerbsEvent | undefined {
    return undefined
  }
}
