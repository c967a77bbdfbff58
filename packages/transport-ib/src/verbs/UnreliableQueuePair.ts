import type { Packet } from "@rdmakit/packet"
import type { Time, VerbsEngineOptions } from "@rdmakit/protocol"
import { UnreliableReceiver } from "./UnreliableReceiver.ts"
import { UnreliableRequester } from "./UnreliableRequester.ts"
import type { VerbsConfig } from "./VerbsOptions.ts"
import { VerbsQueuePair } from "./VerbsQueuePair.ts"

/** An unreliable connection's queue pair (IBTA 1.7 §9.8.2): nothing is acknowledged. A controller paces it by CNPs. */
export class UnreliableQueuePair extends VerbsQueuePair {
  protected readonly requester: UnreliableRequester
  private readonly receiver: UnreliableReceiver

  constructor(options: VerbsEngineOptions, config: VerbsConfig) {
    super(options, config)
    this.requester = new UnreliableRequester(this.context, this.pacing, options.sendMax)
    this.receiver = new UnreliableReceiver(this.context, this.receives)
  }

  get hasData(): boolean {
    return this.requester.hasData
  }
  /** Without acknowledgements there is no window. */
  get windowBound(): boolean {
    return false
  }
  get controlPending(): boolean {
    return this.notifications.pending
  }
  get finished(): boolean {
    return this.sendOutstanding === 0
  }
  get nextTimeout(): Time {
    return this.pacing.nextTimer
  }
  protected timeOut(): void {}

  protected receiveFrom(psn: number): void {
    this.receiver.startAt(psn)
  }

  handlePacket(now: Time, packet: Packet): void {
    if (this.takeNotification(now, packet) || !this.admitsRequest(packet)) return
    this.notifications.note(now, packet)
    this.receiver.handleRequest(packet)
    this.act(now)
  }

  pollTransmit(now: Time, out: Packet): boolean {
    if (this.notifications.pending) {
      this.notifications.fill(out)
      return true
    }
    if (!this.hasData || this.pacing.paceTime > now) return false
    const sent = this.requester.fill(now, out)
    this.act(now)
    return sent
  }
}
