import { Flag, MessageQueue, Opcode, type Packet, PSN_MASK, PSN_WINDOW, psnDistance } from "@rdmakit/packet"
import {
  type Ack,
  type Controller,
  checkController,
  DOUBLE_ZERO,
  type FlowCommand,
  type FlowEngine,
  type FlowEvent,
  fireTimer,
  NEVER,
  type Time,
  type Timers,
  unpaced,
} from "@rdmakit/protocol"
import { checkInteger, type RcConfig } from "./RcConfig.ts"
import type { RcAddress } from "./RcEndpoint.ts"
import { RcResponder } from "./RcResponder.ts"

/**
 * Both halves of a queue pair but for recovery: the requester's messages, its packets in the controller's window and at
 * its pace, its timers, and its end. What a reply or a timeout brings back is the subclass's.
 *
 * Inside, packets are counted from the first PSN on without wrapping; the 24-bit PSN is made and undone at the packet.
 *
 * A connection whose retries are exceeded is silent from then on: its messages come back as events, "failed" the one
 * that was not acknowledged and "flushed" those behind it, as does every later command; packets are ignored; both
 * `nextSend` and `nextTimeout` are NEVER, and `finished` is true.
 */
export abstract class RcRequester extends RcResponder implements FlowEngine {
  readonly controller: Controller
  /** Times the controller set its rate or window. */
  controllerActions = 0
  /** Packets sent again. */
  retransmissions = 0

  /** When pacing next allows a packet. */
  paceTime: Time
  nextTimeout: Time = NEVER
  /** The controller's timers, once lent: the world runs them. */
  timers: Timers | undefined = undefined
  /** The controller ran on the last acknowledgement: a NIC that keeps a wake-up may have to move it. */
  rateChanged = false

  private readonly ack: Ack
  private readonly udpPorts: number
  private readonly lineRateBps: number
  protected readonly messages: MessageQueue

  // Numbers of the oldest unacknowledged packet, the next to send, the end of what may be sent now and of what there is,
  // and the end of what was ever sent; the first two as bytes.
  protected una: number
  protected nxt: number
  protected limit: number
  protected end: number
  protected highest: number
  protected ackedBytes = 0
  protected sentBytes = 0
  private lastWireBytes = 0
  /** What the last packet costs at the controller's rate, ps: the part of `paceTime` that a rate change moves; and that rate. */
  private lastPacePs: Time = DOUBLE_ZERO
  private lastRateBps = DOUBLE_ZERO
  protected ackDeadline: Time = NEVER
  protected retries = 0
  protected failed = false
  protected afterTimeout = false
  private eventPending = false
  private readonly events: Array<FlowEvent> = []

  /**
   * @param ack is filled for each acknowledgement and handed to the controller; every queue pair of a world may share it
   */
  constructor(now: Time, config: RcConfig, ack: Ack, address: RcAddress) {
    super(config, address)
    this.ack = ack
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
  get waitingFor(): string {
    return `PSN ${this.una}`
  }
  get failure(): string {
    return `no acknowledgement of packet ${this.una} after ${this.config.retryCount + 1} timeouts`
  }
  /** Bytes of this end's messages that the peer has acknowledged. */
  get bytesAcknowledged(): number {
    return this.ackedBytes
  }

  /** Throws `RcOptionsError` when the size is no whole number of bytes. */
  command(now: Time, command: FlowCommand): void {
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
  protected extendLimit(): void {
    const most = this.una + PSN_WINDOW
    this.limit = most < this.end ? most : this.end
  }

  private tell(event: FlowEvent): void {
    this.events.push(event)
    this.eventPending = true
  }

  pollEvent(): FlowEvent | undefined {
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

  protected fillData(now: Time, out: Packet): void {
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
    const { rate } = this.controller
    if (wireBytes !== this.lastWireBytes || rate !== this.lastRateBps) this.pace(wireBytes, rate)
    if (config.rateBound) this.paceTime = now + this.lastPacePs
    else this.paceTime = now + config.pacePs(wireBytes, this.lineRateBps)
    if (this.ackDeadline === NEVER) this.ackDeadline = now + config.ackTimeoutPs
    this.controller.onSent(now, payload)
    this.updateTimeout()
  }

  // --- receiving

  handlePacket(now: Time, packet: Packet): void {
    if (this.failed) return
    if (packet.opcode < Opcode.Acknowledge) this.handleData(now, packet)
    else this.handleReply(now, packet)
  }

  /** An acknowledgement, a NAK or a CNP came. */
  protected handleReply(now: Time, packet: Packet): void {
    if (packet.opcode === Opcode.Cnp) {
      if (this.controller.onCnp(now)) this.tookAction(now)
    } else {
      const isNak = packet.opcode === Opcode.NakSequence
      // An acknowledgement names the last packet received, a sequence NAK the one expected: both as "packets received".
      const count = this.una + psnDistance((packet.psn + (isNak ? 0 : 1)) & PSN_MASK, this.una & PSN_MASK)
      if (count > this.highest) return
      this.acknowledged(now, packet, count, isNak)
    }
    this.updateTimeout()
  }

  /** An acknowledgement or a NAK says that packets before `count`, at most `highest`, have come. */
  protected abstract acknowledged(now: Time, packet: Packet, count: number, isNak: boolean): void

  /** Every packet before `count` is acknowledged. */
  protected advance(now: Time, count: number): void {
    this.una = count
    this.ackedBytes = this.messages.bytesBefore(count)
    if (this.nxt < count) {
      this.nxt = count
      this.sentBytes = this.ackedBytes
    }
    if (count === this.highest) this.afterTimeout = false
    if (this.limit < this.end) this.extendLimit()
    this.retries = 0
    if (count < this.nxt) this.ackDeadline = now + this.config.ackTimeoutPs
    else this.ackDeadline = NEVER
    for (
      let message = this.messages.completedBy(count);
      message !== undefined;
      message = this.messages.completedBy(count)
    ) {
      this.tell({ type: "completed", time: now, message: message.id, bytes: message.bytes })
    }
  }

  /** Bytes before packet `count`, which is `una` or one before it. */
  protected sequenceOf(count: number): number {
    // An old acknowledgement: its messages may be gone, so its offset is reckoned in full packets.
    return count === this.una
      ? this.ackedBytes
      : Math.max(0, this.ackedBytes - (this.una - count) * this.config.mtuBytes)
  }

  /** @param sequence bytes the reply acknowledges in all @param before how many were acknowledged before it */
  protected runController(now: Time, packet: Packet, sequence: number, before: number): void {
    const { ack } = this
    ack.sequence = sequence
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
  protected tookAction(now: Time): void {
    this.controllerActions++
    const { config } = this
    const { rate, window } = this.controller
    // A NaN would look like any other number from here on: nothing would be sent, or everything at once.
    if (!(rate > 0 && rate < Number.POSITIVE_INFINITY && window >= 1))
      checkController(this.controller, this.flow >> 1, now)
    if (config.repace && this.lastWireBytes > 0) {
      this.rateChanged = true
      const before = this.lastPacePs
      this.pace(this.lastWireBytes, rate)
      this.paceTime += this.lastPacePs - before
    }
  }

  private pace(wireBytes: number, rate: number): void {
    this.lastWireBytes = wireBytes
    this.lastRateBps = rate
    this.lastPacePs = this.config.pacePs(wireBytes, rate)
  }

  // --- time

  protected updateTimeout(): void {
    this.nextTimeout = this.ackDeadline
    if (this.timers !== undefined) return
    const { nextTimer } = this.controller
    // Whoever arms timers is to see what is no number.
    if (!(nextTimer >= this.ackDeadline)) this.nextTimeout = nextTimer
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

  protected ackTimedOut(now: Time): void {
    if (this.retries >= this.config.retryCount) {
      this.fail(now)
      return
    }
    this.retries++
    this.goBack()
    this.afterTimeout = true
    if (this.controller.onLoss(now, true)) this.tookAction(now)
  }

  /** Nothing was heard for too long: what is out is to be sent again. */
  protected abstract goBack(): void

  protected fail(now: Time): void {
    this.failed = true
    let type: FlowEvent["type"] = "failed"
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
