import type { Packet } from "@rdmakit/packet"
import { NEVER, type Time, type VerbsEngineOptions } from "@rdmakit/protocol"
import { DatagramReceiver } from "./DatagramReceiver.ts"
import { DatagramRequester } from "./UnreliableRequester.ts"
import type { VerbsConfig } from "./VerbsOptions.ts"
import { VerbsQueuePair } from "./VerbsQueuePair.ts"

/**
 * A queue pair of unreliable datagrams (IBTA 1.7 §9.8.3), and that of general services, number 1. Node, flow and priority
 * are those of the next datagram.
 */
export class DatagramQueuePair extends VerbsQueuePair {
  protected readonly requester: DatagramRequester
  private readonly receiver: DatagramReceiver

  constructor(options: VerbsEngineOptions, config: VerbsConfig) {
    super(options, config)
    this.requester = new DatagramRequester(this.context, this.pacing, options.sendMax)
    this.receiver = new DatagramReceiver(this.context, this.receives)
  }

  override get node(): number {
    return this.requester.path?.node ?? 0
  }
  override get flow(): number {
    return this.requester.path?.flow ?? -1
  }
  override get priority(): number {
    return this.requester.path?.priority ?? 0
  }
  get hasData(): boolean {
    return this.requester.hasData
  }
  get windowBound(): boolean {
    return false
  }
  get controlPending(): boolean {
    return false
  }
  get finished(): boolean {
    return this.sendOutstanding === 0
  }
  get nextTimeout(): Time {
    return NEVER
  }
  protected timeOut(): void {}
  protected receiveFrom(): void {}

  handlePacket(now: Time, packet: Packet): void {
    if (!this.admitsRequest(packet)) return
    this.receiver.handleRequest(packet)
    this.act(now)
  }

  pollTransmit(now: Time, out: Packet): boolean {
    if (!this.hasData) return false
    const sent = this.requester.fill(now, out)
    this.act(now)
    return sent
  }
}
