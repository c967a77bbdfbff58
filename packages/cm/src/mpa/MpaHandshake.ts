import { NEVER, type Time } from "@rdmakit/protocol"
import { emitFrame, type OpeningFrame, privateBytesMax, readFrame } from "./OpeningFrame.ts"
import { agree, answerOf, type MpaAgreement, type MpaEvent, type MpaParameters, type MpaReason } from "./Parameters.ts"

/** As siw and erdma wait, ps (siw_cm.h, erdma_cm.h: MPAREQ_TIMEOUT, MPAREP_TIMEOUT). */
const TIMEOUT_PS = 10e12
const NONE = new Uint8Array(0)

export interface MpaOptions {
  /** Who opened the stream of TCP sends the request. */
  readonly role: "initiator" | "responder"
  readonly parameters: MpaParameters
  /** The initiator's, at most 512 octets, 508 with READs agreed on. */
  readonly privateData?: Uint8Array
  /** How long the peer's frame is waited for, ps. Default 10 s. */
  readonly timeoutPs?: Time
}

/** A request, an option or a call that MPA cannot work with. */
export class MpaError extends Error {
  readonly _tag = "MpaError"
  override readonly name = "MpaError"
}

/** READs of a connection: the peer's here, this side's there. Default: what the parameters have. */
export interface MpaReads {
  readonly inboundReads?: number
  readonly outboundReads?: number
}

type State = "awaiting-request" | "awaiting-answer" | "awaiting-reply" | "established" | "ended"

/**
 * How an iWARP connection is set up on a stream of TCP, without IO: a request, a reply, and the stream carries FPDUs
 * (RFC 5044 §7.1, RFC 6581; eRDMA's dialect as its driver has it). After each call a world drains `pollTransmit` and
 * `pollEvent`, and wakes it at `nextTimeout`. Nothing that a peer sends throws.
 */
export class MpaHandshake {
  private readonly options: MpaOptions
  private state: State
  private deadline: Time
  private received: Uint8Array = NONE
  private request: OpeningFrame | undefined = undefined
  private readonly outgoing: Array<Uint8Array> = []
  private readonly events: Array<MpaEvent> = []

  /** @throws MpaError when there is too much private data; EmitError for numbers out of range */
  constructor(now: Time, options: MpaOptions) {
    this.options = options
    this.deadline = now + (options.timeoutPs ?? TIMEOUT_PS)
    if (options.role === "responder") {
      this.state = "awaiting-request"
      return
    }
    this.state = "awaiting-reply"
    const { parameters, privateData = NONE } = options
    this.outgoing.push(emitFrame("request", parameters, false, checked(parameters, privateData)))
  }

  /** When `handleTimeout` is wanted, ps; NEVER: never again. */
  get nextTimeout(): Time {
    return this.deadline
  }

  /** Octets for the stream, in order. */
  pollTransmit(): Uint8Array | undefined {
    return this.outgoing.shift()
  }

  pollEvent(): MpaEvent | undefined {
    return this.events.shift()
  }

  /** Octets came from the stream. Once it is established they are no concern of this machine. */
  handleOctets(_now: Time, octets: Uint8Array): void {
    if (this.state === "ended" || this.state === "established" || octets.length === 0) return
    if (this.state === "awaiting-answer") {
      this.fail("early-data", "octets came behind a request before it was answered")
      return
    }
    this.received = joined(this.received, octets)
    const opening = readFrame(this.received, this.options.parameters.dialect)
    if (opening.type === "incomplete") return
    if (opening.type === "wrong") {
      if (this.state === "awaiting-request" && opening.reason === "revision") this.answer(true, NONE)
      this.fail(opening.reason, opening.message)
      return
    }
    const rest = this.received.slice(opening.bytes)
    this.received = NONE
    if (this.state === "awaiting-request") this.takeRequest(opening.frame, rest)
    else this.takeReply(opening.frame, rest)
  }

  /** The stream has closed. */
  handleClose(_now: Time): void {
    if (this.state !== "ended" && this.state !== "established")
      this.fail("closed", "the stream closed before its reply")
  }

  handleTimeout(now: Time): void {
    if (now < this.deadline) return
    const frame = this.state === "awaiting-request" ? "request" : "reply"
    this.fail("timeout", `no ${frame} came in time`)
  }

  /**
   * Takes the request. Fewer READs than the parameters have may be said here, where they are agreed on.
   * @throws MpaError when there is none, or too much private data
   */
  accept(_now: Time, privateData: Uint8Array = NONE, reads: MpaReads = {}): void {
    this.refuseWithoutRequest("accept")
    checked(this.options.parameters, privateData)
    const parameters = withReads(this.options.parameters, reads)
    // Fewer READs are no reason not to agree.
    const agreement = agree("responder", parameters, this.request!.parameters) as MpaAgreement
    this.answer(false, privateData, answerOf(parameters, agreement))
    this.establish(agreement, this.request!.privateData, NONE)
  }

  /** Refuses the request. @throws MpaError as `accept` */
  reject(_now: Time, privateData: Uint8Array = NONE): void {
    this.refuseWithoutRequest("reject")
    this.answer(true, checked(this.options.parameters, privateData))
    this.end()
  }

  // --- inside

  private takeRequest(frame: OpeningFrame, rest: Uint8Array): void {
    if (frame.kind !== "request") {
      this.fail("format", "the peer opened with a reply")
      return
    }
    if (rest.length > 0) {
      this.fail("early-data", "octets came behind a request before it was answered")
      return
    }
    const agreement = frame.impossible ? "unsupported" : agree("responder", this.options.parameters, frame.parameters)
    if (typeof agreement === "string") {
      this.answer(true, NONE)
      this.fail(agreement, "the request asks for what this side has not")
      return
    }
    this.request = frame
    this.state = "awaiting-answer"
    // It is the consumer who is waited for now, and he has all the time he wants.
    this.deadline = NEVER
    this.events.push({ type: "request", peer: frame.parameters, privateData: frame.privateData })
  }

  private takeReply(frame: OpeningFrame, rest: Uint8Array): void {
    if (frame.kind !== "reply") {
      this.fail("format", "the peer answered a request with a request")
      return
    }
    if (frame.rejected) {
      this.events.push({ type: "rejected", privateData: frame.privateData })
      this.end()
      return
    }
    const agreement = frame.impossible ? "unsupported" : agree("initiator", this.options.parameters, frame.parameters)
    if (typeof agreement === "string") this.fail(agreement, "the reply says what this side cannot agree to")
    else this.establish(agreement, frame.privateData, rest)
  }

  private establish(agreement: MpaAgreement, privateData: Uint8Array, rest: Uint8Array): void {
    this.state = "established"
    this.deadline = NEVER
    this.events.push({ type: "established", agreement, privateData, rest })
  }

  private answer(
    rejected: boolean,
    privateData: Uint8Array,
    parameters: MpaParameters = this.options.parameters,
  ): void {
    this.outgoing.push(emitFrame("reply", parameters, rejected, privateData))
  }

  private fail(reason: MpaReason, message: string): void {
    this.events.push({ type: "failed", reason, message })
    this.end()
  }

  private end(): void {
    this.state = "ended"
    this.deadline = NEVER
    this.received = NONE
  }

  private refuseWithoutRequest(call: string): void {
    if (this.state !== "awaiting-answer")
      throw new MpaError(`mpa: ${call}: there is no request to answer; wait for the event "request"`)
  }
}

const withReads = (parameters: MpaParameters, reads: MpaReads): MpaParameters =>
  parameters.dialect === "iwarp" && parameters.enhanced !== undefined
    ? { ...parameters, enhanced: { ...parameters.enhanced, ...reads } }
    : parameters

const checked = (parameters: MpaParameters, privateData: Uint8Array): Uint8Array => {
  const most = privateBytesMax(parameters)
  if (privateData.length <= most) return privateData
  throw new MpaError(`mpa: private data of ${privateData.length} octets; give at most ${most}`)
}

/** What is kept is never more than a frame: `readFrame` has said what is wrong by then. */
const joined = (received: Uint8Array, octets: Uint8Array): Uint8Array => {
  if (received.length === 0) return octets.slice()
  const whole = new Uint8Array(received.length + octets.length)
  whole.set(received)
  whole.set(octets, received.length)
  return whole
}
