import { Layout, Opcode, type Packet } from "@rdmakit/packet"
import {
  completionOpcodes,
  NEVER,
  type QpSettings,
  QpState,
  type QpType,
  type Time,
  type Timers,
  type VerbsCommand,
  type VerbsEngine,
  type VerbsEngineOptions,
  type VerbsEvent,
  WcOpcode,
  WcStatus,
} from "@rdmakit/protocol"
import { wordOf } from "./Extension.ts"
import { Notifications } from "./Notifications.ts"
import { Pacing } from "./Pacing.ts"
import { Break, QueuePairContext } from "./QueuePairContext.ts"
import { ReceiveSide } from "./ReceiveSide.ts"
import type { Requester } from "./Requester.ts"
import type { VerbsConfig } from "./VerbsOptions.ts"

/** Full membership of a partition, in its key (IBTA 1.7 §10.9). */
const FULL_MEMBER = 0x8000
const PARTITION = 0x7fff

/**
 * One queue pair of the verbs as an engine: state machine, queues and events (IBTA 1.7 §10.3.1). What is on the wire is
 * the subclass's.
 */
export abstract class VerbsQueuePair implements VerbsEngine {
  readonly type: QpType
  readonly qpn: number
  /** Port of the NIC this queue pair sends through, and its place in the NIC's lists; the world's and the NIC's to set. */
  port = -1
  place = -1
  /** It has work under way that keeps its send queue from being drained. */
  draining = false
  protected readonly context: QueuePairContext
  protected readonly pacing: Pacing
  protected readonly receives: ReceiveSide
  protected readonly notifications: Notifications
  protected abstract readonly requester: Requester
  private established = false

  constructor(options: VerbsEngineOptions, config: VerbsConfig) {
    this.type = options.type
    this.qpn = options.qpn
    this.context = new QueuePairContext(options, config)
    this.pacing = new Pacing(config)
    this.receives = new ReceiveSide(this.context, options.receiveMax)
    this.notifications = new Notifications(this.context)
  }

  // --- what a device and a NIC read

  get state(): QpState {
    return this.context.state
  }
  get sendOutstanding(): number {
    return this.requester.queue.length
  }
  get receiveOutstanding(): number {
    return this.receives.outstanding
  }
  get node(): number {
    return this.context.header.path?.node ?? 0
  }
  get flow(): number {
    return this.context.header.path?.flow ?? -1
  }
  get priority(): number {
    return this.context.header.path?.priority ?? 0
  }
  get rateChanged(): boolean {
    return this.pacing.rateChanged
  }
  set rateChanged(changed: boolean) {
    this.pacing.rateChanged = changed
  }
  get paceTime(): Time {
    return this.pacing.paceTime
  }
  get nextSend(): Time {
    return this.hasData && !this.windowBound ? this.pacing.paceTime : NEVER
  }
  get timers(): Timers | undefined {
    return this.pacing.timers
  }
  abstract get hasData(): boolean
  abstract get windowBound(): boolean
  abstract get controlPending(): boolean
  abstract get finished(): boolean
  abstract get nextTimeout(): Time

  pollEvent(): VerbsEvent | undefined {
    return this.context.poll()
  }

  lendTimers(): void {
    this.pacing.lendTimers()
  }
  handleTimer(now: Time, timer: number): void {
    this.pacing.handleTimer(now, timer)
  }
  handleTimeout(now: Time): void {
    this.pacing.handleTimeout(now)
    this.timeOut(now)
    this.act(now)
  }
  protected abstract timeOut(now: Time): void

  // --- commands

  command(now: Time, command: VerbsCommand): void {
    if (command.type === "send") this.postSend(now, command.request)
    else if (command.type === "receive") this.postReceive(command.request)
    else this.modify(now, command.state, command.settings)
    this.act(now)
  }

  private postSend(now: Time, request: Extract<VerbsCommand, { type: "send" }>["request"]): void {
    const { state } = this.context
    // Work posted to a queue that has failed comes back at once (IBTA 1.7 §10.3.1, SQ error and error state).
    if (state === QpState.Err || state === QpState.Sqe) {
      this.context.tellFailure("send", request.id, WcStatus.WrFlushErr, completionOpcodes[request.opcode])
      return
    }
    this.requester.post(now, request)
  }

  private postReceive(request: Extract<VerbsCommand, { type: "receive" }>["request"]): void {
    if (this.context.state === QpState.Err) {
      this.context.tellFailure("receive", request.id, WcStatus.WrFlushErr, WcOpcode.Recv)
      return
    }
    this.receives.post(request)
  }

  private modify(now: Time, state: QpState, settings: Partial<QpSettings>): void {
    const { context } = this
    const before = context.state
    if (state === QpState.Reset) {
      this.reset()
      return
    }
    Object.assign(context.settings, settings)
    if (settings.path !== undefined) context.header.set(settings.path)
    if (settings.receivePsn !== undefined) this.receiveFrom(settings.receivePsn)
    if (settings.sendPsn !== undefined) this.requester.startAt(settings.sendPsn)
    this.configure()
    if (state === QpState.Err) {
      if (before !== QpState.Err) this.toError(true)
      return
    }
    context.state = state
    if (state === QpState.Rts && before === QpState.Rtr) this.start(now)
    this.draining = state === QpState.Sqd && before !== QpState.Sqd ? true : this.draining && state === QpState.Sqd
    this.requester.settle(now)
  }

  /** The responder's or receiver's packets are numbered from this PSN. */
  protected abstract receiveFrom(psn: number): void
  /** Settings have changed. */
  protected configure(): void {}
  /** Sending begins. */
  protected start(now: Time): void {
    const { path } = this.context.header
    if (path !== undefined) this.pacing.start(now, path, this.context.settings.pathMtuBytes)
  }

  /** Everything posted is forgotten, without a completion (IBTA 1.7 §10.3.1, reset state). */
  private reset(): void {
    const { context } = this
    context.state = QpState.Reset
    context.broken = Break.None
    context.header.clear()
    context.restoreSettings()
    this.requester.reset()
    this.receives.reset()
    this.receiveFrom(0)
    this.notifications.reset()
    this.pacing.stop()
    this.draining = false
    this.established = false
  }

  // --- errors and draining

  /** What the last call has led to. */
  protected act(now: Time): void {
    const { context } = this
    if (context.broken === Break.Error) this.toError(false)
    else if (context.broken === Break.SendError) {
      context.broken = Break.None
      context.state = QpState.Sqe
      this.draining = false
      this.requester.flush()
    }
    if (this.draining && context.state === QpState.Sqd && !this.requester.underWay) {
      this.draining = false
      context.raise("SQ_DRAINED")
    }
    if (context.broken !== Break.None) this.act(now)
  }

  /**
   * All work comes back flushed, the send queue's first (IBTA 1.7 §10.3.1, error state).
   * @param silent nothing more is sent, not even what is owed
   */
  private toError(silent: boolean): void {
    const { context } = this
    context.broken = Break.None
    context.state = QpState.Err
    this.draining = false
    this.notifications.reset()
    if (silent) this.silence()
    this.requester.flush()
    this.receives.flush()
    if (context.sharedReceives !== undefined) context.raise("QP_LAST_WQE_REACHED")
  }

  /** What is owed to the peer is forgotten. */
  protected silence(): void {}

  // --- packets

  /** Whether a request may come in: the state, the peer, the partition (IBTA 1.7 §9.6.1). */
  protected admitsRequest(packet: Packet): boolean {
    const { state } = this.context
    if (state < QpState.Rtr || state === QpState.Err || !this.isPeers(packet)) return false
    if (!this.established) {
      this.established = true
      // The first packet of a connection that may not know that it is one (IBTA 1.7 §11.6.3).
      if (state === QpState.Rtr && this.type !== "ud") this.context.raise("COMM_EST")
    }
    return true
  }

  protected admitsResponse(packet: Packet): boolean {
    const { state } = this.context
    return (state === QpState.Rts || state === QpState.Sqd) && this.isPeers(packet)
  }

  /** It comes from the connection's other end, and shares its partition. */
  private isPeers(packet: Packet): boolean {
    const { header, settings } = this.context
    if (this.type !== "ud" && packet.source !== header.path?.peer) return false
    return partitionsMatch(wordOf(packet, Layout.EXT.partition), settings.partition)
  }

  abstract handlePacket(now: Time, packet: Packet): void
  abstract pollTransmit(now: Time, out: Packet): boolean

  /** A congestion notification came for data of this end. */
  protected takeNotification(now: Time, packet: Packet): boolean {
    if (packet.opcode !== Opcode.Cnp) return false
    if (this.admitsResponse(packet)) this.pacing.notified(now)
    return true
  }
}

/** The same partition, and one of the two a full member of it (IBTA 1.7 §10.9). */
const partitionsMatch = (one: number, other: number): boolean =>
  (one & PARTITION) === (other & PARTITION) && ((one | other) & FULL_MEMBER) !== 0
