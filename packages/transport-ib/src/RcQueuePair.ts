import { Ecn, Flag, Layout, Opcode, type Packet } from "@rdmakit/packet"
import { type Ack, type Controller, NEVER, type QueuePair, type Time } from "@rdmakit/protocol"
import { MessageQueue } from "./MessageQueue.ts"
import { PSN_MASK, psnDistance } from "./Psn.ts"
import type { RcAddress, RcCommand, RcConfig, RcEvent } from "./RcConfig.ts"

/** Stands in at an end that only responds. */
const unpaced: Controller = {
  window: Number.POSITIVE_INFINITY,
  rate: 1,
  nextTimer: NEVER,
  onSent: () => {},
  onAck: () => false,
  onCnp: () => false,
  onLoss: () => false,
  onTimer: () => false,
  metrics: () => ({}),
}

/**
 * One end of a reliable connection: requester of RDMA WRITEs and responder to the peer's. Go-back-N recovery (IBTA 1.7
 * §9.7): a NAK or a timeout takes the requester back to the oldest unacknowledged packet.
 *
 * Inside, packets are counted from 0 without wrapping; the 24-bit PSN is made and undone at the packet.
 */
export class RcQueuePair implements QueuePair<RcCommand, RcEvent> {
  readonly node: number
  readonly priority: number
  /** Port of the NIC this queue pair sends through; the NIC's to set. */
  port = -1
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
  /** The controller ran on the last acknowledgement: a NIC that keeps a wake-up may have to move it. */
  rateChanged = false

  private readonly config: RcConfig
  private readonly ack: Ack
  private readonly peer: number
  private readonly udpPorts: number
  private readonly lineRateBps: number
  private readonly messages = new MessageQueue()

  // Requester: packets acknowledged, next to send, to send in all, highest ever sent; the same as bytes.
  private una = 0
  private nxt = 0
  private end = 0
  private highest = 0
  private ackedBytes = 0
  private sentBytes = 0
  private lastWireBytes = 0
  /** What the last packet costs at the controller's rate, ps: the part of `paceTime` that a rate change moves. */
  private lastPacePs: Time = 0
  private ackDeadline: Time = NEVER
  private retries = 0
  private failed = false
  private afterTimeout = false
  private events: Array<RcEvent> = []

  // Responder: packets received in order, bytes of them, and the acknowledgement it owes.
  private expected = 0
  private receivedBytes = 0
  private unacknowledged = 0
  private nakFor = -1
  private nakTime: Time = 0
  private replyOpcode = 0
  private replyPsn = 0
  private replyCongestion = false
  private replyTelemetry = -1
  private replyStamp: Time = 0
  private replyUdpPorts = 0

  constructor(now: Time, config: RcConfig, ack: Ack, address: RcAddress) {
    this.config = config
    this.ack = ack
    this.node = address.node
    this.peer = address.peer
    this.priority = address.priority
    this.flow = address.flow
    this.udpPorts = address.udpPort | (address.peerUdpPort << 16)
    this.controller = address.path === undefined ? unpaced : config.controller.make(now, address.path)
    this.lineRateBps = address.path?.lineRateBps ?? 0
    this.paceTime = now
  }

  // --- what a NIC reads

  get hasData(): boolean {
    return this.nxt < this.end && !this.failed
  }
  get windowBound(): boolean {
    return this.sentBytes - this.ackedBytes >= this.controller.window
  }
  get finished(): boolean {
    return this.una >= this.end || this.failed
  }
  get nextSend(): Time {
    return this.hasData && !this.windowBound ? this.paceTime : NEVER
  }
  /** Packet number (from 0, unwrapped) the requester waits to be acknowledged. */
  get unacknowledgedPacket(): number {
    return this.una
  }
  get bytesAcknowledged(): number {
    return this.ackedBytes
  }

  command(now: Time, command: RcCommand): void {
    if (this.finished && this.paceTime < now) this.paceTime = now
    this.end += this.messages.add(command.message, command.writeBytes, this.config.mtuBytes)
  }

  pollEvent(): RcEvent | undefined {
    return this.events.length === 0 ? undefined : this.events.shift()
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
    if (this.nxt < this.highest) {
      flags |= Flag.Retransmission
      this.retransmissions++
      // A duplicate of this packet must be answered, or a lost acknowledgement of the tail is never made up for.
      if (this.afterTimeout) flags |= Flag.AfterTimeout | Flag.AckRequest
    }
    out.meta = opcode | flags | (this.priority << 24) | (config.ecn << 28)
    const wireBytes = payload + config.framing.dataBytes + config.framing.telemetryBytes
    out.wireBytes = wireBytes
    out.payloadBytes = payload
    out.psn = this.nxt & PSN_MASK
    out.source = this.node
    out.destination = this.peer
    out.udpPorts = this.udpPorts
    out.flow = this.flow
    out.sourceQp = this.flow
    out.destinationQp = this.flow ^ 1
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
    if (this.ackDeadline === NEVER) {
      this.ackDeadline = now + config.ackTimeoutPs
      this.updateTimeout()
    }
    this.controller.onSent(now, payload)
  }

  private fillReply(out: Packet): void {
    const { framing } = this.config
    this.controlPending = false
    out.meta = this.replyOpcode | (this.replyCongestion ? Flag.CongestionEcho : 0) | (this.priority << 24)
    out.wireBytes = framing.ackBytes
    out.psn = this.replyPsn
    out.source = this.node
    out.destination = this.peer
    out.udpPorts = this.replyUdpPorts
    out.flow = this.flow
    out.sourceQp = this.flow
    out.destinationQp = this.flow ^ 1
    out.stamp = this.replyStamp
    if (this.replyTelemetry >= 0) {
      out.attachTelemetry(this.replyTelemetry)
      this.replyTelemetry = -1
    }
  }

  // --- receiving

  handlePacket(now: Time, packet: Packet): void {
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
        (config.ackTimeoutPs !== NEVER && packet.has(Flag.AckRequest))
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
    this.controlPending = true
  }

  private handleReply(now: Time, packet: Packet): void {
    if (packet.opcode === Opcode.Cnp) {
      if (this.controller.onCnp(now)) this.tookAction()
      return
    }
    const nak = packet.opcode === Opcode.NakSequence
    // An acknowledgement names the last packet received, a sequence NAK the one expected: both as "packets received".
    const count = this.una + psnDistance((packet.psn + (nak ? 0 : 1)) & PSN_MASK, this.una & PSN_MASK)
    if (count > this.highest) return
    const before = this.ackedBytes
    if (count > this.una) this.advance(now, count)
    if (nak && count === this.una) this.goBack()
    this.runController(now, packet, count, before)
    if (nak && this.controller.onLoss(now, false)) this.tookAction()
  }

  private advance(now: Time, count: number): void {
    this.una = count
    this.ackedBytes = this.messages.bytesBefore(count)
    if (this.nxt < count) {
      this.nxt = count
      this.sentBytes = this.ackedBytes
    }
    this.retries = 0
    this.ackDeadline = this.una < this.nxt ? now + this.config.ackTimeoutPs : NEVER
    this.updateTimeout()
    for (
      let message = this.messages.completedBy(count);
      message !== undefined;
      message = this.messages.completedBy(count)
    ) {
      this.events.push({ type: "completed", time: now, message: message.id, bytes: message.bytes })
    }
  }

  private goBack(): void {
    this.nxt = this.una
    this.sentBytes = this.ackedBytes
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
    const block = packet.telemetry
    if (block >= 0) {
      const { pool } = packet
      const at = block * pool.telemetryStride
      ack.telemetry = pool.telemetry
      ack.hops = pool.telemetry[at]!
      ack.pathId = pool.telemetry[at + 1]!
      ack.telemetryAt = at + Layout.TELEMETRY_HEAD
    } else {
      ack.hops = 0
    }
    if (this.controller.onAck(now, ack)) this.tookAction()
  }

  /** The controller set its rate anew: when packets follow it at once, so does the moment of the next one. */
  private tookAction(): void {
    this.controllerActions++
    const { config } = this
    if (config.repace && this.lastWireBytes > 0) {
      this.rateChanged = true
      const pacePs = config.pacePs(this.lastWireBytes, this.controller.rate)
      this.paceTime += pacePs - this.lastPacePs
      this.lastPacePs = pacePs
    }
    this.updateTimeout()
  }

  // --- time

  private updateTimeout(): void {
    const timer = this.controller.nextTimer
    this.nextTimeout = timer < this.ackDeadline ? timer : this.ackDeadline
  }

  handleTimeout(now: Time): void {
    if (this.controller.nextTimer <= now && this.controller.onTimer(now)) this.tookAction()
    if (this.ackDeadline <= now) this.ackTimedOut(now)
    this.updateTimeout()
  }

  private ackTimedOut(now: Time): void {
    const { config } = this
    if (this.retries >= config.retryCount) {
      this.failed = true
      this.ackDeadline = NEVER
      const message = this.messages.oldest()
      this.events.push({ type: "failed", time: now, message: message?.id ?? -1, bytes: this.ackedBytes })
      return
    }
    this.retries++
    this.goBack()
    this.afterTimeout = true
    this.ackDeadline = now + config.ackTimeoutPs
    if (this.controller.onLoss(now, true)) this.tookAction()
  }
}
