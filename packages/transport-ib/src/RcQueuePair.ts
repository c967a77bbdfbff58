import { Ecn, Flag, Opcode, type Packet } from "@rdmakit/packet"
import { type Ack, type Controller, fireTimer, NEVER, type QueuePair, type Time, type Timers } from "@rdmakit/protocol"
import { checkController } from "./ControllerFault.ts"
import { MessageQueue } from "./MessageQueue.ts"
import { PSN_MASK, PSN_WINDOW, psnDistance } from "./Psn.ts"
import { checkInteger, type RcConfig } from "./RcConfig.ts"
import type { RcAddress, RcCommand, RcEvent } from "./RcEndpoint.ts"
import { unpaced } from "./unpaced.ts"

/**
 * One end of a reliable connection: requester of RDMA WRITEs and responder to the peer's. Go-back-N recovery (IBTA 1.7
 * §9.7): a NAK or a timeout takes the requester back to the oldest unacknowledged packet.
 *
 * Inside, packets are counted from the first PSN on without wrapping; the 24-bit PSN is made and undone at the packet.
 *
 * A connection whose retries are exceeded is silent from then on: its messages come back as events, "failed" the one
 * that was not acknowledged and "flushed" those behind it, as does every later command; packets are ignored; both
 * `nextSend` and `nextTimeout` are NEVER, and `finished` is true.
 */
export class RcQueuePair implements QueuePair<RcCommand, RcEvent> {
  readonly node: number
  readonly priority: number
  /** Port of the NIC this queue pair sends through; the world's to set. */
  port = -1
  /** Where a NIC's scheduler keeps this queue pair; the NIC's to set. */
  place = -1
  /** Index of this end among its world's endpoints; the same number packets of its direction carry. */
  readonly flow: number
  readonly controller: Controller
  /** Times the controller set its rate or window. */
  controllerActions = 0
  /** Packets sent again. */
  retransmissions = 0

  /** When pacing next allows a packet. */
  paceTime: Time
  nextTimeout: Time = NEVER
  controlPending = false
  /** The controller's timers, once lent: the world runs them. */
  timers: Timers | undefined = undefined
  /** The controller ran on the last acknowledgement: a NIC that keeps a wake-up may have to move it. */
  rateChanged = false

  private readonly config: RcConfig
  private readonly ack: Ack
  private readonly peer: number
  private readonly udpPorts: number
  private readonly lineRateBps: number
  private readonly messages: MessageQueue

  // Requester: numbers of the oldest unacknowledged packet, the next to send, the end of what may be sent now and of
  // what there is, and the end of what was ever sent; the first two as bytes.
  private una: number
  private nxt: number
  private limit: number
  private end: number
  private highest: number
  private ackedBytes = 0
  private sentBytes = 0
  private lastWireBytes = 0
  /** What the last packet costs at the controller's rate, ps: the part of `paceTime` that a rate change moves. */
  private lastPacePs: Time = 0
  private ackDeadline: Time = NEVER
  private retries = 0
  private failed = false
  private afterTimeout = false
  private eventPending = false
  private readonly events: Array<RcEvent> = []

  // Responder: number of the packet it expects, bytes received in order, and the acknowledgement it owes.
  private expected: number
  private receivedBytes = 0
  private unacknowledged = 0
  private nakFor = -1
  private nakTime: Time = 0
  private replyOpcode = 0
  private replyPsn = 0
  private replyCongestion = false
  private replyTelemetry = -1
  private replyPathId = 0
  private replyStamp: Time = 0
  private replyUdpPorts = 0

  /**
   * @param ack is filled for each acknowledgement and handed to the controller; every queue pair of a world may share it
   */
  constructor(now: Time, config: RcConfig, ack: Ack, address: RcAddress) {
    this.config = config
    this.ack = ack
    this.node = address.node
    this.peer = address.peer
    this.priority = address.priority
    this.flow = address.flow
    this.udpPorts = address.udpPort | (address.peerUdpPort << 16)
    this.controller = address.path === undefined ? unpaced : config.controller.make(now, address.path)
    checkController(this.controller, address.flow >> 1, now)
    this.lineRateBps = address.path?.lineRateBps ?? 0
    this.paceTime = now
    const first = (address.sendPsn ?? 0) & PSN_MASK
    this.messages = new MessageQueue(first, config.mtuBytes)
    this.una = first
    this.nxt = first
    this.limit = first
    this.end = first
    this.highest = first
    this.expected = (address.receivePsn ?? 0) & PSN_MASK
    this.nextTimeout = this.controller.nextTimer
  }

  // --- what a NIC reads

  get hasData(): boolean {
    return this.nxt < this.limit
  }
  get windowBound(): boolean {
    return this.sentBytes - this.ackedBytes >= this.controller.window
  }
  get finished(): boolean {
    return this.una >= this.end
  }
  get nextSend(): Time {
    return this.hasData && !this.windowBound ? this.paceTime : NEVER
  }
  /** Number of the packet the requester waits to be acknowledged: its PSN, unwrapped. */
  get unacknowledgedPacket(): number {
    return this.una
  }
  /** Bytes of this end's messages that the peer has acknowledged. */
  get bytesAcknowledged(): number {
    return this.ackedBytes
  }
  /** Bytes of the peer's messages that came in order. */
  get bytesReceived(): number {
    return this.receivedBytes
  }

  /** Throws `RcOptionsError` when the size is no whole number of bytes. */
  command(now: Time, command: RcCommand): void {
    checkInteger("writeBytes", command.writeBytes, 0)
    if (this.failed) {
      this.tell({ type: "flushed", time: now, message: command.message, bytes: 0 })
      return
    }
    if (this.finished && this.paceTime < now) this.paceTime = now
    this.end += this.messages.add(command.message, command.writeBytes)
    this.extendLimit()
  }

  /** What may be sent ends where the messages do, or the numbers that can be told apart. */
  private extendLimit(): void {
    const most = this.una + PSN_WINDOW
    this.limit = most < this.end ? most : this.end
  }

  private tell(event: RcEvent): void {
    this.events.push(event)
    this.eventPending = true
  }

  pollEvent(): RcEvent | undefined {
    if (!this.eventPending) return undefined
    const event = this.events.shift()
    this.eventPending = this.events.length > 0
    return event
  }

  // --- sending

  pollTransmit(now: Time, out: Packet): boolean {
    if (this.controlPending) {
      this.fillReply(out)
      return true
    }
    if (!this.hasData || this.windowBound || this.paceTime > now) return false
    this.fillData(now, out)
    return true
  }

  private fillData(now: Time, out: Packet): void {
    const { config } = this
    const message = this.messages.holding(this.nxt)
    const first = this.nxt === message.firstPacket
    const last = this.nxt === message.firstPacket + message.packets - 1
    const payload = last ? message.bytes - (message.packets - 1) * config.mtuBytes : config.mtuBytes
    const opcode = first ? (last ? Opcode.WriteOnly : Opcode.WriteFirst) : last ? Opcode.WriteLast : Opcode.WriteMiddle
    let flags = last ? Flag.AckRequest : 0
    if (config.telemetry) flags |= Flag.Telemetry
    // A responder that waits for more packets than the window holds would wait for ever.
    if (config.ackEvery > 1 && this.sentBytes + payload - this.ackedBytes >= this.controller.window) {
      flags |= Flag.AckRequest
    }
    if (this.nxt < this.highest) {
      flags |= Flag.Retransmission
      this.retransmissions++
      // A duplicate of this packet must be answered, or a lost acknowledgement of the tail is never made up for.
      if (this.afterTimeout) flags |= Flag.AfterTimeout | Flag.AckRequest
    }
    out.meta = opcode | flags | (this.priority << 24) | (config.ecn << 28)
    const { framing } = config
    let wireBytes = payload + framing.dataBytes + framing.telemetryBytes
    if (wireBytes < framing.leastBytes) wireBytes = framing.leastBytes
    out.wireBytes = wireBytes
    out.payloadBytes = payload
    out.psn = this.nxt & PSN_MASK
    out.setNodes(this.node, this.peer)
    out.udpPorts = this.udpPorts
    out.flow = this.flow
    out.stamp = now
    if (config.telemetry) out.addTelemetry()

    this.nxt++
    if (this.nxt > this.highest) this.highest = this.nxt
    else if (this.nxt === this.highest) this.afterTimeout = false
    this.sentBytes += payload
    this.lastWireBytes = wireBytes
    const pacePs = config.pacePs(wireBytes, this.controller.rate)
    this.lastPacePs = pacePs
    this.paceTime = now + (config.rateBound ? pacePs : config.pacePs(wireBytes, this.lineRateBps))
    if (this.ackDeadline === NEVER) this.ackDeadline = now + config.ackTimeoutPs
    this.controller.onSent(now, payload)
    this.updateTimeout()
  }

  private fillReply(out: Packet): void {
    const { framing } = this.config
    this.controlPending = false
    out.meta = this.replyOpcode | (this.replyCongestion ? Flag.CongestionEcho : 0) | (this.priority << 24)
    out.wireBytes = framing.ackBytes
    out.psn = this.replyPsn
    out.setNodes(this.node, this.peer)
    out.udpPorts = this.replyUdpPorts
    out.flow = this.flow
    out.stamp = this.replyStamp
    if (this.replyTelemetry !== -1) {
      out.attachTelemetry(this.replyTelemetry, this.replyPathId)
      this.replyTelemetry = -1
    }
  }

  // --- receiving

  handlePacket(now: Time, packet: Packet): void {
    if (this.failed) return
    if (packet.opcode < Opcode.Acknowledge) this.handleData(now, packet)
    else this.handleReply(now, packet)
  }

  private handleData(now: Time, packet: Packet): void {
    const { config } = this
    const ahead = psnDistance(packet.psn, this.expected & PSN_MASK)
    if (ahead === 0) {
      this.expected++
      this.receivedBytes += packet.payloadBytes
      this.nakFor = -1
      if (this.owesAck(packet)) this.reply(packet, Opcode.Acknowledge, this.expected - 1)
    } else if (ahead > 0) {
      if (this.nakFor !== this.expected || now >= this.nakTime) {
        this.nakFor = this.expected
        this.nakTime = now + config.nakIntervalPs
        this.reply(packet, Opcode.NakSequence, this.expected)
      }
    } else if (config.ackDuplicates || packet.has(Flag.AfterTimeout)) {
      this.reply(packet, Opcode.Acknowledge, this.expected - 1)
    }
  }

  private owesAck(packet: Packet): boolean {
    const { config } = this
    if (config.ns3AckBytes !== undefined) {
      const chunk = config.ns3AckChunkBytes ?? 0
      return (
        this.receivedBytes >= config.ns3AckBytes ||
        (chunk > 0 && this.receivedBytes % chunk === 0) ||
        (config.ackTimeoutPs !== NEVER && packet.has(Flag.AckRequest)) ||
        // No count of bytes ever tells of this one; the reference sends no message of zero bytes.
        packet.payloadBytes === 0
      )
    }
    if (++this.unacknowledged >= config.ackEvery || packet.has(Flag.AckRequest)) {
      this.unacknowledged = 0
      return true
    }
    return false
  }

  private reply(packet: Packet, opcode: number, number: number): void {
    this.replyOpcode = opcode
    this.replyPsn = number & PSN_MASK
    this.replyCongestion = packet.ecn === Ecn.Experienced
    this.replyStamp = packet.stamp
    const ports = packet.udpPorts
    this.replyUdpPorts = (ports >>> 16) | (ports << 16)
    if (this.replyTelemetry >= 0) packet.pool.releaseTelemetry(this.replyTelemetry)
    this.replyTelemetry = packet.detachTelemetry()
    this.replyPathId = packet.pathId
    this.controlPending = true
  }

  private handleReply(now: Time, packet: Packet): void {
    if (packet.opcode === Opcode.Cnp) {
      if (this.controller.onCnp(now)) this.tookAction(now)
      this.updateTimeout()
      return
    }
    const nak = packet.opcode === Opcode.NakSequence
    // An acknowledgement names the last packet received, a sequence NAK the one expected: both as "packets received".
    const count = this.una + psnDistance((packet.psn + (nak ? 0 : 1)) & PSN_MASK, this.una & PSN_MASK)
    if (count > this.highest) return
    const before = this.ackedBytes
    if (count > this.una) this.advance(now, count)
    // A NAK that was overtaken, or of packets that are not out any more, tells of no loss.
    const lost = nak && count === this.una && this.nxt > count
    if (lost) this.goBack()
    this.runController(now, packet, count, before)
    if (lost && this.controller.onLoss(now, false)) this.tookAction(now)
    this.updateTimeout()
  }

  private advance(now: Time, count: number): void {
    this.una = count
    this.ackedBytes = this.messages.bytesBefore(count)
    if (this.nxt < count) {
      this.nxt = count
      this.sentBytes = this.ackedBytes
    }
    if (count === this.highest) this.afterTimeout = false
    if (this.limit < this.end) this.extendLimit()
    this.retries = 0
    this.ackDeadline = count < this.nxt ? now + this.config.ackTimeoutPs : NEVER
    for (
      let message = this.messages.completedBy(count);
      message !== undefined;
      message = this.messages.completedBy(count)
    ) {
      this.tell({ type: "completed", time: now, message: message.id, bytes: message.bytes })
    }
  }

  /** Nothing is out any more: the time to wait for an acknowledgement starts with the next packet. */
  private goBack(): void {
    this.nxt = this.una
    this.sentBytes = this.ackedBytes
    this.ackDeadline = NEVER
  }

  private runController(now: Time, packet: Packet, count: number, before: number): void {
    const { ack } = this
    // An old acknowledgement: its messages may be gone, so its offset is reckoned in full packets.
    ack.sequence =
      count === this.una ? this.ackedBytes : Math.max(0, this.ackedBytes - (this.una - count) * this.config.mtuBytes)
    ack.sent = this.sentBytes
    ack.bytes = this.ackedBytes - before
    ack.rttPs = now - packet.stamp
    ack.congestion = packet.has(Flag.CongestionEcho)
    ack.hops = packet.readTelemetry(ack.telemetry)
    ack.pathId = ack.hops > 0 ? packet.pathId : 0
    ack.pint = packet.pint
    if (this.controller.onAck(now, ack)) this.tookAction(now)
  }

  /** The controller set its rate anew: when packets follow it at once, so does the moment of the next one. */
  private tookAction(now: Time): void {
    this.controllerActions++
    const { config } = this
    const { rate, window } = this.controller
    // A NaN would look like any other number from here on: nothing would be sent, or everything at once.
    if (!(rate > 0 && rate < Number.POSITIVE_INFINITY && window >= 1))
      checkController(this.controller, this.flow >> 1, now)
    if (config.repace && this.lastWireBytes > 0) {
      this.rateChanged = true
      const pacePs = config.pacePs(this.lastWireBytes, rate)
      this.paceTime += pacePs - this.lastPacePs
      this.lastPacePs = pacePs
    }
  }

  // --- time

  private updateTimeout(): void {
    const timer = this.timers === undefined ? this.controller.nextTimer : NEVER
    this.nextTimeout = timer < this.ackDeadline ? timer : this.ackDeadline
  }

  lendTimers(): void {
    this.timers = this.controller.timers
    if (!this.failed) this.updateTimeout()
  }

  handleTimer(now: Time, timer: number): void {
    if (this.failed) return
    if (this.controller.onTimer(now, timer)) this.tookAction(now)
  }

  handleTimeout(now: Time): void {
    if (this.failed) return
    if (this.timers === undefined && this.controller.nextTimer <= now && fireTimer(this.controller, now))
      this.tookAction(now)
    if (this.ackDeadline <= now) this.ackTimedOut(now)
    if (!this.failed) this.updateTimeout()
  }

  private ackTimedOut(now: Time): void {
    if (this.retries >= this.config.retryCount) {
      this.fail(now)
      return
    }
    this.retries++
    this.goBack()
    this.afterTimeout = true
    if (this.controller.onLoss(now, true)) this.tookAction(now)
  }

  private fail(now: Time): void {
    this.failed = true
    let type: RcEvent["type"] = "failed"
    for (
      let message = this.messages.completedBy(NEVER);
      message !== undefined;
      message = this.messages.completedBy(NEVER)
    ) {
      const bytes = type === "failed" ? this.ackedBytes - message.firstByte : 0
      this.tell({ type, time: now, message: message.id, bytes })
      type = "flushed"
    }
    // Nothing is left to send, or to wait for.
    this.end = this.una
    this.limit = this.una
    this.ackDeadline = NEVER
    this.nextTimeout = NEVER
  }
}
