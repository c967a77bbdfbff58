import { Opcode, type Packet } from "@rdmakit/packet"
import {
  type Ack,
  type Controller,
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
import { DATA, type PacketOwner, PeerSender } from "./PeerSender.ts"
import type { SrdConfig } from "./SrdConfig.ts"

/**
 * One end of a flow over SRD: the context of one peer, and messages that are cut into packets, each a datagram. Packets
 * are taken in in any order, messages end in any order.
 */
export class SrdEndpoint implements FlowEngine, PacketOwner {
  readonly node: number
  readonly priority: number
  readonly flow: number
  readonly controller: Controller
  readonly sender: PeerSender
  readonly receiver: PeerReceiver
  port = -1
  place = -1
  rateChanged = false
  timers: Timers | undefined = undefined
  /** Bytes of the peer's messages that came, each once. */
  bytesReceived = 0

  private readonly config: SrdConfig
  private readonly peer: number
  private readonly peerPort: number
  private readonly messages: Messages
  private readonly events: Array<FlowEvent> = []

  constructor(now: Time, config: SrdConfig, ack: Ack, address: FlowAddress) {
    this.config = config
    this.node = address.node
    this.peer = address.peer
    this.peerPort = address.peerUdpPort
    this.priority = address.priority
    this.flow = address.flow
    this.sender = new PeerSender(now, config, ack, address.path, address.flow >> 1)
    this.receiver = new PeerReceiver(config)
    this.controller = this.sender.controller
    this.messages = new Messages(config.mtuBytes)
  }

  // --- what a NIC and a world read

  get controlPending(): boolean {
    return this.receiver.pending
  }
  get hasData(): boolean {
    const { sender } = this
    if (sender.unresponsive) return false
    return sender.packets.lostCount > 0 || (this.messages.unsent > 0 && sender.hasRoom)
  }
  get windowBound(): boolean {
    return this.sender.isFull(this.config.mtuBytes)
  }
  get paceTime(): Time {
    return this.sender.paceTime
  }
  get nextSend(): Time {
    return this.hasData && !this.windowBound ? this.sender.paceTime : NEVER
  }
  get nextTimeout(): Time {
    return this.sender.nextTimeout
  }
  get finished(): boolean {
    return this.messages.open === 0
  }
  get controllerActions(): number {
    return this.sender.controllerActions
  }
  get retransmissions(): number {
    return this.sender.retransmissions
  }
  get bytesAcknowledged(): number {
    return this.sender.bytesDelivered
  }
  get waitingFor(): string {
    return `packet ${this.sender.packets.oldest}`
  }
  get failure(): string {
    return `no acknowledgement of packet ${this.sender.packets.oldest}: the peer has not answered for ${this.config.unresponsiveAfterPs / 1e9} ms`
  }

  // --- what a world does

  command(now: Time, command: FlowCommand): void {
    const { writeBytes, message } = command
    if (!Number.isSafeInteger(writeBytes) || writeBytes < 0)
      throw new RangeError(`srd: writeBytes is ${writeBytes}, expected a whole number of bytes`)
    const { sender } = this
    if (sender.unresponsive) {
      this.events.push({ type: "flushed", time: now, message, bytes: 0 })
      return
    }
    if (this.finished && sender.paceTime < now) sender.paceTime = now
    this.messages.add(message, writeBytes)
  }

  pollTransmit(now: Time, out: Packet): boolean {
    if (this.receiver.pending) {
      this.receiver.fillAck(out, this.priority)
      out.setNodes(this.node, this.peer)
      out.flow = this.flow
      return true
    }
    if (!this.hasData || this.windowBound || this.sender.paceTime > now) return false
    this.send(now, out)
    return true
  }

  private send(now: Time, out: Packet): void {
    const { config, messages, sender } = this
    let number = sender.packets.firstLost
    if (number < 0) {
      const tag = messages.sending
      number = sender.packets.add(messages.nextBytes(tag), tag)
      messages.sent(tag)
    }
    const payload = sender.packets.bytesOf(number)
    out.meta = DATA | (this.priority << 24) | (config.ecn << 28)
    out.wireBytes = Math.max(payload + config.framing.dataBytes, config.framing.leastBytes)
    out.payloadBytes = payload
    out.setNodes(this.node, this.peer)
    out.flow = this.flow
    sender.send(now, number, out, this.peerPort)
  }

  handlePacket(now: Time, packet: Packet): void {
    if (packet.opcode < Opcode.Acknowledge) {
      if (this.receiver.handleData(packet)) this.bytesReceived += packet.payloadBytes
    } else if (!this.sender.unresponsive) this.sender.handleAck(now, packet, this)
  }

  packetDelivered(now: Time, tag: number, bytes: number): void {
    const message = this.messages.delivered(tag, bytes)
    if (message !== undefined)
      this.events.push({ type: "completed", time: now, message: message.id, bytes: message.bytes })
  }

  handleTimeout(now: Time): void {
    this.sender.handleTimeout(now)
    if (this.sender.unresponsive) this.fail(now)
  }

  lendTimers(): void {
    this.timers = this.controller.timers
    this.sender.timersLent = this.timers !== undefined
    this.sender.updateTimeout()
  }

  handleTimer(now: Time, timer: number): void {
    this.sender.handleTimer(now, timer)
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
