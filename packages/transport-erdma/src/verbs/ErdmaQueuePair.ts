import { Opcode, type Packet } from "@rdmakit/packet"
import {
  completionOpcodes,
  makeAck,
  NEVER,
  type PathInfo,
  type PeerPath,
  type QpSettings,
  QpState,
  type QpType,
  type ReceiveRequest,
  type SendRequest,
  type Time,
  type Timers,
  type VerbsCommand,
  type VerbsEngine,
  type VerbsEngineOptions,
  type VerbsEvent,
  WcOpcode,
} from "@rdmakit/protocol"
import { Cause, Context, Inbound, isProtection, Outbound, Receives, Requester } from "@rdmakit/transport-iwarp/rdmap"
import type { TcpConfig } from "@rdmakit/transport-tcp"
import { VXLAN_PORT } from "../Overlay.ts"
import { causeOf, ErdmaStream, isTerminate } from "./ErdmaStream.ts"
import { erdmaDialect, RetryExceeded } from "./Status.ts"

/** What a queue pair's frames have more of headers than RoCE's, by which a world reckons with its path MTU, bytes. */
const HEADER_DIFFERENCE = 64
const ALIGNMENT = 4
/** Hops whose telemetry an acknowledgement has room for. */
const HOPS_MAX = 64

/** The stream of a queue pair, by its path, its payload at most, and the congestion control that was agreed on. */
export type MakeConfig = (path: PeerPath, payloadBytes: number, congestionControl: number | undefined) => TcpConfig

/** The acknowledgement that controllers are handed: one for all queue pairs, since none keeps it. */
const ack = makeAck(HOPS_MAX)

/**
 * A reliable connection of eRDMA: a stream in each direction, messages of RDMAP in it. The states of the verbs stand for
 * the driver's (erdma_verbs.c: ib_to_iwarp_qps): RESET and INIT are IDLE, SQD is CLOSING, SQE would be TERMINATE.
 */
export class ErdmaQueuePair implements VerbsEngine {
  readonly type: QpType = "rc"
  readonly qpn: number
  /** It has work under way that keeps its send queue from being drained. */
  draining = false
  private readonly context: Context
  private readonly config: MakeConfig
  /** What the ends have agreed on; undefined: nothing. */
  private algorithm: number | undefined = undefined
  private readonly outbound: Outbound
  private readonly requester: Requester
  private readonly receives: Receives
  private readonly inbound: Inbound
  private stream: ErdmaStream | undefined = undefined
  /** A Terminate is to be sent, and what it says; whoever still sends is told again. */
  private terminatePending = false
  private terminateCause: Cause = Cause.Closed
  private lent = false
  private established = false

  constructor(options: VerbsEngineOptions, config: MakeConfig) {
    this.qpn = options.qpn
    this.config = config
    this.context = new Context(options, erdmaDialect)
    this.outbound = new Outbound(this.context)
    this.requester = new Requester(this.context, this.outbound, options.sendMax)
    this.receives = new Receives(this.context, options.receiveMax)
    this.inbound = new Inbound(this.context, this.receives, this.requester, this.outbound)
  }

  // --- what a device and a NIC read

  get state(): QpState {
    return this.context.state
  }
  get sendOutstanding(): number {
    return this.requester.length
  }
  get receiveOutstanding(): number {
    return this.receives.outstanding
  }
  get node(): number {
    return this.context.settings.path?.node ?? 0
  }
  get flow(): number {
    return this.context.settings.path?.flow ?? -1
  }
  get priority(): number {
    return this.context.settings.path?.priority ?? 0
  }
  private get live(): ErdmaStream | undefined {
    return this.context.state === QpState.Err ? undefined : this.stream
  }
  get hasData(): boolean {
    return this.live?.hasData ?? false
  }
  get windowBound(): boolean {
    return this.live?.windowBound ?? false
  }
  get controlPending(): boolean {
    return this.terminatePending || (this.live?.controlPending ?? false)
  }
  get paceTime(): Time {
    return this.live?.paceTime ?? 0
  }
  get nextSend(): Time {
    return this.live?.nextSend ?? NEVER
  }
  get nextTimeout(): Time {
    return this.live?.nextTimeout ?? NEVER
  }
  get finished(): boolean {
    return this.sendOutstanding === 0 && this.outbound.empty && !this.controlPending
  }
  get timers(): Timers | undefined {
    return this.live?.timers
  }
  lendTimers(): void {
    this.lent = true
    this.stream?.lendTimers()
  }
  handleTimer(now: Time, timer: number): void {
    this.live?.handleTimer(now, timer)
  }
  handleTimeout(now: Time): void {
    this.live?.handleTimeout(now)
    this.act(now)
  }
  pollEvent(): VerbsEvent | undefined {
    return this.context.poll()
  }

  agree(congestionControl: number): void {
    this.algorithm = congestionControl
  }

  // --- commands

  command(now: Time, command: VerbsCommand): void {
    if (command.type === "send") this.postSend(command.request)
    else if (command.type === "receive") this.postReceive(command.request)
    else this.modify(now, command.state, command.settings)
    this.act(now)
  }

  private postSend(request: SendRequest): void {
    if (this.context.state === QpState.Err)
      this.context.tellFailure(
        "send",
        request.id,
        this.context.dialect.failures.flushed,
        completionOpcodes[request.opcode],
      )
    else this.requester.post(request)
  }

  private postReceive(request: ReceiveRequest): void {
    if (this.context.state === QpState.Err) {
      this.context.tellFailure("receive", request.id, this.context.dialect.failures.flushed, WcOpcode.Recv)
      return
    }
    this.receives.post(request)
    this.stream?.resume()
  }

  private modify(now: Time, state: QpState, settings: Partial<QpSettings>): void {
    const { context } = this
    const before = context.state
    if (state === QpState.Reset) {
      this.reset()
      return
    }
    Object.assign(context.settings, settings)
    if (state === QpState.Err) {
      if (before !== QpState.Err) this.toError(Cause.Closed)
      return
    }
    if (state === QpState.Rtr && before < QpState.Rtr) this.open(now)
    if (settings.sendPsn !== undefined && before < QpState.Rts) this.stream?.sendFrom(settings.sendPsn)
    context.state = state
    this.draining = state === QpState.Sqd && (before !== QpState.Sqd || this.draining)
  }

  /** The peer and the way to it are known. */
  private open(now: Time): void {
    const { path, pathMtuBytes, destinationQp, receivePsn } = this.context.settings
    if (path === undefined) return
    const room = pathMtuBytes - HEADER_DIFFERENCE
    const config = this.config(path, room - (room % ALIGNMENT), this.algorithm)
    const address = {
      node: path.node,
      peer: path.peer,
      udpPort: path.udpSourcePort,
      peerUdpPort: VXLAN_PORT,
      priority: path.priority,
      flow: path.flow,
      path: pathInfo(path, config.mtuBytes),
    }
    const user = {
      fill: (out: Packet, message: number, offset: number, bytes: number, last: boolean) =>
        this.outbound.fill(out, message, offset, bytes, last),
      deliver: (packet: Packet) => this.inbound.take(packet),
    }
    this.stream = new ErdmaStream(now, config, ack, address, user, destinationQp)
    this.stream.receiveFrom(receivePsn)
    if (this.lent) this.stream.lendTimers()
  }

  /** Everything posted is forgotten, without a completion. */
  private reset(): void {
    this.stream?.close()
    this.stream = undefined
    this.context.reset()
    this.requester.reset()
    this.receives.reset()
    this.outbound.clear()
    this.terminatePending = false
    this.draining = false
    this.established = false
    this.algorithm = undefined
  }

  // --- packets

  handlePacket(now: Time, packet: Packet): void {
    const { context, stream } = this
    if (stream === undefined || packet.source !== context.settings.path?.peer) return
    const isData = packet.opcode < Opcode.Acknowledge
    if (context.state === QpState.Err) {
      this.terminatePending ||= isData
      return
    }
    if (isData && !this.established) {
      this.established = true
      if (context.state === QpState.Rtr) context.raise("COMM_EST")
    }
    stream.handlePacket(now, packet)
    if (!isData && isTerminate(packet)) this.terminated(now, causeOf(packet))
    this.act(now)
  }

  /** The peer has ended the connection: the message that it has not taken is the one it means, if it means one. */
  private terminated(now: Time, cause: Cause): void {
    this.drainStream()
    const { context, outbound, requester } = this
    const { remoteAccess, general } = context.dialect.failures
    if (cause !== Cause.Closed) {
      requester.fail(outbound.oldest, isProtection(cause) ? remoteAccess : general)
      context.raise("QP_FATAL")
    }
    this.toError(Cause.Closed)
    this.act(now)
  }

  pollTransmit(now: Time, out: Packet): boolean {
    if (this.fillTerminate(out)) return true
    const sent = this.live?.pollTransmit(now, out) ?? false
    this.act(now)
    // A segment whose memory is gone ends the connection: that is sent in its place.
    return sent || this.fillTerminate(out)
  }

  private fillTerminate(out: Packet): boolean {
    if (!this.terminatePending || this.stream === undefined) return false
    this.terminatePending = false
    this.stream.fillTerminate(out, this.terminateCause)
    return true
  }

  // --- what the last call has led to

  private act(now: Time): void {
    const { context, requester } = this
    this.drainStream()
    requester.complete()
    if (this.live !== undefined) requester.pump(now, this.live)
    requester.complete()
    if (context.broken !== undefined && context.state !== QpState.Err) {
      this.toError(context.broken)
      this.terminatePending = this.stream !== undefined
    }
    if (this.draining && context.state === QpState.Sqd && !requester.underWay) {
      this.draining = false
      context.raise("SQ_DRAINED")
    }
  }

  private drainStream(): void {
    const { stream, outbound, requester, context } = this
    for (let event = stream?.pollEvent(); event !== undefined; event = stream?.pollEvent()) {
      if (event.type === "completed") {
        const message = outbound.taken(event.message)
        if (message !== undefined) requester.taken(message)
      } else if (event.type === "failed" && context.broken === undefined) {
        requester.fail(outbound.oldest, RetryExceeded)
        context.broken = Cause.Operation
      }
    }
  }

  /** All work comes back, the send queue's first; the peer is told, at the latest when it sends something. */
  private toError(cause: Cause): void {
    const { context } = this
    context.broken = undefined
    context.state = QpState.Err
    this.terminateCause = cause
    this.draining = false
    this.requester.flush()
    context.broken = undefined
    this.receives.flush()
    this.outbound.clear()
    this.stream?.close()
  }
}

const pathInfo = (path: PeerPath, mtuBytes: number): PathInfo => ({
  lineRateBps: path.lineRateBps,
  baseRttPs: path.baseRttPs,
  windowBytes: Math.ceil((path.lineRateBps * path.baseRttPs) / 8e12),
  mtuBytes,
  timeModulusPs: NEVER,
  bytesModulus: NEVER,
  flow: path.flow,
  seed: 0,
})
