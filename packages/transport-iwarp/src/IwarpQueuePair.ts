import {
  completionOpcodes,
  NEVER,
  type QpSettings,
  QpState,
  type QpType,
  type Time,
  type VerbsCommand,
  type VerbsEngine,
  type VerbsEngineOptions,
  type VerbsEvent,
  WcOpcode,
} from "@rdmakit/protocol"
import { RDMAP_READ_REQUEST, type Terminate } from "@rdmakit/wire/rdmap"
import { FpduReader } from "./FpduReader.ts"
import { iwarpDialect } from "./iwarpDialect.ts"
import { type Cause, isProtection } from "./rdmap/Cause.ts"
import { Context } from "./rdmap/Context.ts"
import { Inbound } from "./rdmap/Inbound.ts"
import { Outbound } from "./rdmap/Outbound.ts"
import { Receives } from "./rdmap/Receives.ts"
import { Requester } from "./rdmap/Requester.ts"
import { SegmentReader } from "./SegmentReader.ts"
import { SegmentWriter } from "./SegmentWriter.ts"

/** What MPA has agreed on for a stream (RFC 5044 §7.1, RFC 6581). */
export interface IwarpStreamMode {
  /** Who opened the connection: it has the first word. */
  readonly initiator: boolean
  readonly crc: boolean
  /** The peer wants markers in what it receives; this side never asks for them. */
  readonly markers: boolean
  /** The initiator's first word is a WRITE of no octets, which nobody is told of. */
  readonly ready: boolean
}

const TAGGED = 0x80
const HEADER_BYTES = { tagged: 14, untagged: 18 } as const
const REQUEST_BYTES = 28
const READ_REQUEST = 1
const REQUEST_QUEUE = 1
const MPA_LAYER = 2

/**
 * A reliable connection of iWARP on a stream of octets that loses nothing. A world hands it the stream (`attach`), what
 * comes of it (`handleOctets`, `handleClosed`), and takes from it what is to go (`pollOctets`). It sends no packets, has
 * no timers, and its events are those of any queue pair.
 *
 * A SEND or WRITE is done when its last octet has been taken for the stream, as in Linux' siw: what a peer objects to
 * afterwards ends the connection, and is told of by an event.
 */
export class IwarpQueuePair implements VerbsEngine {
  readonly type: QpType = "rc"
  readonly qpn: number
  draining = false
  readonly node = 0
  readonly flow = -1
  readonly priority = 0
  readonly controlPending = false
  readonly windowBound = false
  readonly paceTime: Time = 0
  readonly nextSend: Time = NEVER
  readonly nextTimeout: Time = NEVER
  readonly timers = undefined
  private readonly context: Context
  private readonly outbound: Outbound
  private readonly requester: Requester
  private readonly receives: Receives
  private readonly inbound: Inbound
  private readonly segmentBytes: number
  private mode: IwarpStreamMode | undefined = undefined
  private writer: SegmentWriter | undefined = undefined
  private reader: SegmentReader | undefined = undefined
  private units: FpduReader | undefined = undefined
  /** The peer's first unit has come: this side may speak. */
  private heard = false
  /** Units ahead of all messages: the ready-to-receive, a Terminate. */
  private ahead: Array<Uint8Array> = []
  private offending: Uint8Array | undefined = undefined

  constructor(options: VerbsEngineOptions, segmentBytes: number) {
    this.qpn = options.qpn
    this.segmentBytes = segmentBytes
    this.context = new Context(options, iwarpDialect)
    this.outbound = new Outbound(this.context)
    this.requester = new Requester(this.context, this.outbound, options.sendMax)
    this.receives = new Receives(this.context, options.receiveMax)
    this.inbound = new Inbound(this.context, this.receives, this.requester, this.outbound)
  }

  get state(): QpState {
    return this.context.state
  }
  /** What `modify` has set. */
  get settings(): Readonly<QpSettings> {
    return this.context.settings
  }
  get sendOutstanding(): number {
    return this.requester.length
  }
  get receiveOutstanding(): number {
    return this.receives.outstanding
  }
  get hasData(): boolean {
    return this.ahead.length > 0 || (this.canSend && !(this.writer!.idle && this.sendOutstanding === 0))
  }
  get finished(): boolean {
    return this.sendOutstanding === 0 && this.outbound.empty && this.ahead.length === 0
  }
  /** It has a stream. */
  get attached(): boolean {
    return this.mode !== undefined
  }
  /** All that is to go has gone: the stream may be closed. */
  get over(): boolean {
    return this.context.state === QpState.Err && this.ahead.length === 0
  }
  private get canSend(): boolean {
    const { mode, heard, context } = this
    return mode !== undefined && (mode.initiator || heard) && context.state !== QpState.Err
  }

  // --- what a world of packets would ask: there are none

  handlePacket(): void {}
  pollTransmit(): boolean {
    return false
  }
  handleTimeout(): void {}
  lendTimers(): void {}
  handleTimer(): void {}

  pollEvent(): VerbsEvent | undefined {
    return this.context.poll()
  }

  // --- the stream

  /** From now on it has this stream, behind MPA's opening frames; from RTR on. */
  attach(now: Time, mode: IwarpStreamMode): void {
    const { outbound, segmentBytes } = this
    this.mode = mode
    this.heard = false
    this.units = new FpduReader(mode.crc)
    this.reader = new SegmentReader(this.inbound, this.requester)
    this.writer = new SegmentWriter(outbound, { crc: mode.crc, markers: mode.markers, segmentBytes })
    if (mode.initiator && mode.ready) this.ahead.push(this.writer.ready())
    this.act(now)
  }

  /** Octets came of the stream. */
  handleOctets(now: Time, octets: Uint8Array): void {
    const { units, context } = this
    if (units === undefined || context.state === QpState.Err) return
    units.push(octets)
    for (let unit = units.next(); unit !== undefined; unit = units.next()) {
      if (typeof unit === "number") this.inbound.refuse(unit)
      else this.takeUnit(unit)
      if (context.broken !== undefined || this.state === QpState.Err) break
    }
    this.act(now)
  }

  /** The stream has ended: nothing comes any more, and nothing gets there. */
  handleClosed(now: Time): void {
    if (this.mode === undefined || this.state === QpState.Err) return
    this.toError()
    this.act(now)
  }

  /** It has waited for a stream in vain, in RTR or RTS: it fails, and its work comes back. */
  handleUnreachable(now: Time): void {
    if (this.mode !== undefined || this.state < QpState.Rtr || this.state === QpState.Err) return
    this.context.raise("QP_FATAL")
    this.toError()
    this.act(now)
  }

  /** The next octets for the stream, whole units; undefined: none now. */
  pollOctets(now: Time): Uint8Array | undefined {
    const first = this.ahead.shift()
    if (first !== undefined || !this.canSend) return first
    const writer = this.writer!
    this.requester.pump(now, writer)
    const unit = writer.idle ? undefined : writer.next(this.onLeft)
    this.act(now)
    // A segment whose memory is gone ends the connection: that is sent in its place.
    return unit ?? this.ahead.shift()
  }

  private readonly onLeft = (message: Parameters<Requester["taken"]>[0]): void => {
    this.requester.taken(message)
  }

  private takeUnit(ulpdu: Uint8Array): void {
    const first = !this.heard
    this.heard = true
    if (first && this.mode!.ready && !this.mode!.initiator && isEmptyWrite(ulpdu)) return
    const { context } = this
    const terminate = this.reader!.take(ulpdu)
    if (terminate !== undefined) this.terminated(terminate)
    else if (context.broken !== undefined) this.offending = ulpdu.slice(0, HEADER_BYTES.untagged + REQUEST_BYTES)
    if (first && context.state === QpState.Rtr) context.raise("COMM_EST")
  }

  /** The peer has ended the connection: a request that it names is the one that it means. */
  private terminated({ layer, errorType, errorCode, segment }: Terminate): void {
    const { context, requester, reader } = this
    const { remoteAccess, general } = context.dialect.failures
    const cause = (layer << 12) | (errorType << 8) | errorCode
    if (segment !== undefined && (segment.header[0]! & TAGGED) === 0) {
      const view = new DataView(segment.header.buffer, segment.header.byteOffset, HEADER_BYTES.untagged)
      const failure = isProtection(cause) ? remoteAccess : general
      if (view.getUint32(6) === REQUEST_QUEUE) requester.failRead(reader!.unansweredIndex(view.getUint32(10)), failure)
    }
    context.raise(isProtection(cause) ? "QP_ACCESS_ERR" : "QP_FATAL")
    this.toError()
  }

  // --- commands

  command(now: Time, command: VerbsCommand): void {
    if (command.type === "send") this.postSend(command.request)
    else if (command.type === "receive") this.postReceive(command.request)
    else this.modify(command.state, command.settings)
    this.act(now)
  }

  private postSend(request: Extract<VerbsCommand, { type: "send" }>["request"]): void {
    const { context } = this
    if (context.state !== QpState.Err) this.requester.post(request)
    else context.tellFailure("send", request.id, context.dialect.failures.flushed, completionOpcodes[request.opcode])
  }

  private postReceive(request: Extract<VerbsCommand, { type: "receive" }>["request"]): void {
    const { context } = this
    if (context.state !== QpState.Err) this.receives.post(request)
    else context.tellFailure("receive", request.id, context.dialect.failures.flushed, WcOpcode.Recv)
  }

  private modify(state: QpState, settings: Partial<QpSettings>): void {
    const { context } = this
    const before = context.state
    if (state === QpState.Reset) {
      this.reset()
      return
    }
    Object.assign(context.settings, settings)
    if (state === QpState.Err) {
      if (before !== QpState.Err) this.toError()
      return
    }
    context.state = state
    this.draining = state === QpState.Sqd && (before !== QpState.Sqd || this.draining)
  }

  /** Everything posted is forgotten, without a completion, and so is the stream. */
  private reset(): void {
    this.context.reset()
    this.requester.reset()
    this.receives.reset()
    this.outbound.clear()
    this.mode = undefined
    this.writer = undefined
    this.reader = undefined
    this.units = undefined
    this.ahead = []
    this.draining = false
  }

  // --- what the last call has led to

  private act(now: Time): void {
    const { context, requester, writer } = this
    requester.complete()
    if (context.state !== QpState.Err && writer !== undefined && this.canSend) requester.pump(now, writer)
    requester.complete()
    const { broken } = context
    if (broken !== undefined && context.state !== QpState.Err) {
      if (writer !== undefined) this.ahead.push(writer.terminate(this.terminateOf(broken)))
      this.toError()
    }
    if (this.draining && context.state === QpState.Sqd && !requester.underWay) {
      this.draining = false
      context.raise("SQ_DRAINED")
    }
  }

  /** With the header at fault, and a READ request's whole, unless it is of the layer below (RFC 5040 §4.8). */
  private terminateOf(cause: Cause): Terminate {
    const layer = cause >>> 12
    const octets = this.offending
    const codes = { layer, errorType: (cause >>> 8) & 15, errorCode: cause & 0xff }
    if (octets === undefined || layer === MPA_LAYER) return { ...codes, segment: undefined }
    const tagged = (octets[0]! & TAGGED) !== 0
    const bytes = tagged ? HEADER_BYTES.tagged : HEADER_BYTES.untagged
    if (octets.length < bytes) return { ...codes, segment: undefined }
    const whole = !tagged && (octets[1]! & 15) === READ_REQUEST && octets.length >= bytes + RDMAP_READ_REQUEST.bytes
    return {
      ...codes,
      segment: {
        bytes: undefined,
        header: octets.subarray(0, bytes),
        readRequest: whole ? octets.subarray(bytes, bytes + REQUEST_BYTES) : undefined,
      },
    }
  }

  /** All work comes back, the send queue's first. */
  private toError(): void {
    const { context } = this
    context.broken = undefined
    context.state = QpState.Err
    this.draining = false
    this.requester.flush()
    context.broken = undefined
    this.receives.flush()
    this.outbound.clear()
  }
}

/** A WRITE of no octets, in one segment. */
const isEmptyWrite = (ulpdu: Uint8Array): boolean =>
  ulpdu.length === HEADER_BYTES.tagged && (ulpdu[0]! & TAGGED) !== 0 && (ulpdu[1]! & 15) === 0
