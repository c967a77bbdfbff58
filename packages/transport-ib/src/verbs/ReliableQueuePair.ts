import type { Packet } from "@rdmakit/packet"
import type { Time, VerbsEngineOptions } from "@rdmakit/protocol"
import { Part, rcParts } from "./Bth.ts"
import { ReliableRequester } from "./ReliableRequester.ts"
import { Responder } from "./Responder.ts"
import { SelectiveRequester } from "./SelectiveRequester.ts"
import { SelectiveResponder } from "./SelectiveResponder.ts"
import type { VerbsConfig } from "./VerbsOptions.ts"
import { VerbsQueuePair } from "./VerbsQueuePair.ts"

/** A reliable connection's queue pair: requester and responder, and which of them sends next. */
export class ReliableQueuePair extends VerbsQueuePair {
  protected readonly requester: ReliableRequester
  private readonly responder: Responder
  /** The last data packet was a response: it is the requester's turn. */
  private responded = false

  constructor(options: VerbsEngineOptions, config: VerbsConfig) {
    super(options, config)
    const selective = config.recovery === "selective-repeat"
    const { context, pacing, receives } = this
    this.requester = new (selective ? SelectiveRequester : ReliableRequester)(context, pacing, options.sendMax)
    this.responder = new (selective ? SelectiveResponder : Responder)(context, receives)
  }

  get hasData(): boolean {
    return this.requester.hasData || this.responder.replies.dataPending
  }
  get windowBound(): boolean {
    return !this.responder.replies.dataPending && this.requester.windowBound
  }
  get controlPending(): boolean {
    return this.notifications.pending || this.responder.replies.controlPending
  }
  get finished(): boolean {
    return this.sendOutstanding === 0 && this.responder.replies.idle
  }
  get receiveAwaitedSince(): Time | undefined {
    return this.responder.replies.idle && !this.notifications.pending ? this.requester.receiveAwaitedSince : undefined
  }
  get nextTimeout(): Time {
    const timeout = this.requester.nextTimeout
    const timer = this.pacing.nextTimer
    // Whoever arms timers is to see what is no number.
    return timer >= timeout ? timeout : timer
  }

  protected timeOut(now: Time): void {
    this.requester.handleTimeout(now)
  }

  protected receiveFrom(psn: number): void {
    this.responder.startAt(psn)
  }
  protected override configure(): void {
    this.requester.configure()
    this.responder.replies.setMost(this.context.settings.responderResources)
  }
  protected override silence(): void {
    this.responder.close()
  }

  handlePacket(now: Time, packet: Packet): void {
    if (this.takeNotification(now, packet)) return
    const { opcode } = packet
    const response = opcode < rcParts.length && (rcParts[opcode]! & Part.Response) !== 0
    if (response) {
      if (!this.admitsResponse(packet)) return
      this.notifications.note(now, packet)
      this.requester.handleResponse(now, packet)
    } else {
      if (opcode >= rcParts.length || !this.admitsRequest(packet)) return
      this.notifications.note(now, packet)
      this.responder.handleRequest(now, packet)
    }
    this.act(now)
  }

  pollTransmit(now: Time, out: Packet): boolean {
    const { pacing, requester } = this
    const { replies } = this.responder
    if (this.notifications.pending) {
      this.notifications.fill(out)
      return true
    }
    if (replies.controlPending) {
      replies.fillControl(out)
      return true
    }
    if (pacing.paceTime > now) return false
    const requests = requester.hasData && !requester.windowBound
    if (replies.dataPending && !(requests && this.responded)) {
      this.responded = true
      replies.fillRead(now, out, pacing)
      this.act(now)
      return true
    }
    this.responded = false
    if (!requests) return false
    const sent = requester.fill(now, out)
    this.act(now)
    return sent
  }
}
