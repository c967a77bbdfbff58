import { Opcode, type Packet } from "@rdmakit/packet"
import {
  type FlowAddress,
  type FlowCommand,
  type FlowEngine,
  type FlowEvent,
  NEVER,
  type Time,
  type Timers,
} from "@rdmakit/protocol"
import { Messages } from "./Messages.ts"
import { PeerReceiver } from "./PeerReceiver.ts"
import { PeerSender, type SharedParts } from "./PeerSender.ts"

/**
 * One end of a flow over SRD: the context of one peer, and messages that are cut into packets, each a datagram. Packets
 * are taken in in any order, messages end in any order.
 */
export class SrdEndpoint extends PeerSender implements FlowEngine {
  readonly node: number
  readonly priority: number
  readonly flow: number
  readonly receiver: PeerReceiver
  port = -1
  place = -1
  rateChanged = false
  timers: Timers | undefined = undefined
  /** Bytes of the peer's messages that came, each once. */
  bytesReceived = 0

  private readonly peer: number
  private readonly peerPort: number
  private readonly messages: Messages
  private readonly events: Array<FlowEvent> = []

  constructor(now: Time, shared: SharedParts, address: FlowAddress) {
    super(now, shared, address.path, address.flow >> 1)
    const { config } = shared
    this.node = address.node
    this.peer = address.peer
    this.peerPort = address.peerUdpPort
    this.priority = address.priority
    this.flow = address.flow
    this.receiver = new PeerReceiver(config)
    this.messages = new Messages(config.mtuBytes)
  }

  // --- what a NIC and a world read

  get controlPending(): boolean {
    return this.receiver.pending
  }
  get hasData(): boolean {
    if (this.packets.lostCount === 0 && (this.messages.unsent === 0 || !this.hasRoom)) return false
    return !this.unresponsive
  }
  get windowBound(): boolean {
    return this.isFull(this.config.mtuBytes)
  }
  get nextSend(): Time {
    return this.hasData && !this.windowBound ? this.paceTime : NEVER
  }
  get finished(): boolean {
    return this.messages.open === 0
  }
  get bytesAcknowledged(): number {
    return this.bytesDelivered
  }
  get waitingFor(): string {
    return `packet ${this.packets.oldest}`
  }
  get failure(): string {
    return `no acknowledgement of packet ${this.packets.oldest}: the peer has not answered for ${this.unresponsiveAfterPs / 1e9} ms`
  }

  // --- what a world does

  command(now: Time, command: FlowCommand): void {
    const { writeBytes, message } = command
    if (!Number.isSafeInteger(writeBytes) || writeBytes < 0)
      throw new RangeError(`srd: writeBytes is ${writeBytes}, expected a whole number of bytes`)
    if (this.unresponsive) {
      this.events.push({ type: "flushed", time: now, message, bytes: 0 })
      return
    }
    if (this.finished && this.paceTime < now) this.paceTime = now
    this.messages.add(message, writeBytes)
  }

  pollTransmit(now: Time, out: Packet): boolean {
    if (this.receiver.pending) {
      this.receiver.fillAck(out, this.priority)
      out.setNodes(this.node, this.peer)
      out.flow = this.flow
      return true
    }
    if (!this.hasData || this.windowBound || this.paceTime > now) return false
    this.send(now, out)
    return true
  }

  private send(now: Time, out: Packet): void {
    const { config, messages, packets } = this
    let number = packets.firstLost
    if (number < 0) {
      const tag = messages.sending
      number = packets.add(messages.nextBytes(tag), tag)
      messages.sent(tag)
    }
    const payload = packets.bytesOf(number)
    out.meta = Opcode.SendOnly | (this.priority << 24) | (config.ecn << 28)
    out.wireBytes = Math.max(payload + config.framing.dataBytes, config.framing.leastBytes)
    out.payloadBytes = payload
    out.setNodes(this.node, this.peer)
    out.flow = this.flow
    this.sendNumber(now, number, out, this.peerPort)
  }

  handlePacket(now: Time, packet: Packet): void {
    if (packet.opcode < Opcode.Acknowledge) {
      if (this.receiver.handleData(packet)) this.bytesReceived += packet.payloadBytes
    } else if (!this.unresponsive) {
      this.handleAck(now, packet)
      // Most flows are one message: what is kept for others is given to them.
      if (this.messages.open === 0) this.forget()
    }
  }

  protected override packetDelivered(now: Time, tag: number, bytes: number): void {
    const message = this.messages.delivered(tag, bytes)
    if (message !== undefined)
      this.events.push({ type: "completed", time: now, message: message.id, bytes: message.bytes })
  }

  override handleTimeout(now: Time): void {
    super.handleTimeout(now)
    if (this.unresponsive) this.fail(now)
  }

  lendTimers(): void {
    this.timers = this.controller.timers
    this.timersLent = this.timers !== undefined
    this.updateTimeout()
  }

  pollEvent(): FlowEvent | undefined {
    return this.events.length === 0 ? undefined : this.events.shift()
  }

  /** The peer is unresponsive: what has begun has failed, what has not is flushed. */
  private fail(now: Time): void {
    for (const { id, bytes, bytesLeft, packets, unsent } of this.messages.takeAll())
      this.events.push({
        type: unsent < packets ? "failed" : "flushed",
        time: now,
        message: id,
        bytes: bytes - bytesLeft,
      })
  }
}
