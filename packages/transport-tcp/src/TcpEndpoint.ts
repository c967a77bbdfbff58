import { Flag, Layout, MessageQueue, Opcode, type Packet, PSN_MASK, PSN_WINDOW, psnDistance } from "@rdmakit/packet"
import {
  type Ack,
  type Controller,
  checkController,
  type FlowAddress,
  type FlowCommand,
  type FlowEngine,
  type FlowEvent,
  fireTimer,
  NEVER,
  type Time,
  type Timers,
  unpaced,
} from "@rdmakit/protocol"
import { serializationPs } from "@rdmakit/units"
import { RttEstimator } from "./RttEstimator.ts"
import { Scoreboard } from "./Scoreboard.ts"
import type { TcpConfig } from "./TcpConfig.ts"
import { TcpReceiver } from "./TcpReceiver.ts"

const NONE = -1
/** Segments beyond that make one lost (RFC 5681 §3.2). */
const DUPLICATE_THRESHOLD = 3
/** RFC 8985 §6.2.4 and §7.2: the reordering window is kept for so many recoveries; least probe timeout of a lone segment. */
const REORDER_WINDOW_PERSISTS = 16
/** Which timer `deadline` is. */
const Timer = { None: 0, Retransmission: 1, Probe: 2, Reorder: 3 } as const

/**
 * One end of a TCP connection, from its ESTABLISHED state on: slow start and avoidance are the controller's, everything
 * else of sending is here. Segments are numbered, not octets: each message begins a segment, as with TCP_NODELAY.
 *
 * Losses are found by RACK (RFC 8985), a lost tail by a probe, all else by the timeout of RFC 6298. What is in the network
 * is reckoned as RFC 6675 does, and kept below the controller's window.
 */
export class TcpEndpoint extends TcpReceiver implements FlowEngine {
  readonly controller: Controller
  controllerActions = 0
  retransmissions = 0
  paceTime: Time
  nextTimeout: Time = NEVER
  timers: Timers | undefined = undefined
  rateChanged = false
  /** Retransmission timeouts, probes for a lost tail, and recoveries that an acknowledgement began. */
  timeouts = 0
  probes = 0
  recoveries = 0

  private readonly ack: Ack
  private readonly udpPorts: number
  private readonly messages: MessageQueue
  private readonly rtt: RttEstimator
  private readonly board = new Scoreboard(0)
  /** End of what there is to send, in segments; and bytes acknowledged and sent, each once. */
  private end = 0
  private ackedBytes = 0
  private sentBytes = 0
  /** Where the recovery under way ends, or NONE. */
  private recoverUntil = NONE
  /** Segments of a burst that are still to go without looking at the window's room for a whole one. */
  private burst = 0
  private deadline: Time = NEVER
  private timer: number = Timer.None
  private backoffs = 0
  /** End of the data that a probe was for, or NONE (RFC 8985 §7.4). */
  private probeEnd = NONE
  private probeIsRetransmission = false
  private reorderMultiple = 1
  private reorderPersists = REORDER_WINDOW_PERSISTS
  private duplicateSeen = false
  private failed = false
  private readonly events: Array<FlowEvent> = []

  constructor(now: Time, config: TcpConfig, ack: Ack, address: FlowAddress) {
    super(config, address)
    this.ack = ack
    this.udpPorts = (address.udpPort | (address.peerUdpPort << 16)) >>> 0
    this.controller = address.path === undefined ? unpaced : config.controller.make(now, address.path)
    checkController(this.controller, address.flow >> 1, now)
    this.paceTime = now
    this.messages = new MessageQueue(0, config.mtuBytes)
    this.rtt = new RttEstimator(config.initialTimeoutPs, config.leastTimeoutPs, config.mostTimeoutPs)
    this.nextTimeout = this.controller.nextTimer
  }

  // --- what a NIC reads

  get hasData(): boolean {
    return (
      this.board.lostCount > 0 || (this.board.highest < this.end && this.board.highest - this.board.una < PSN_WINDOW)
    )
  }
  get windowBound(): boolean {
    const { board, config } = this
    // A probe and the first segment of a recovery go whatever the window is (RFC 6675 §5, step 4.1).
    if (this.burst > 0 || board.pipeBytes === 0) return false
    const room = this.controller.window - board.pipeBytes
    return room < (board.lostCount > 0 ? config.mtuBytes : this.worthSending())
  }
  get finished(): boolean {
    return this.board.una >= this.end
  }
  get nextSend(): Time {
    return this.hasData && !this.windowBound ? this.paceTime : NEVER
  }
  get bytesAcknowledged(): number {
    return this.ackedBytes
  }
  get waitingFor(): string {
    return `segment ${this.board.una}`
  }
  get failure(): string {
    return `no acknowledgement of segment ${this.board.una} after ${this.config.retryCount + 1} timeouts`
  }

  /** Room that new data waits for: a segment, or with offload a burst, a third of the window, or what is left. */
  private worthSending(): number {
    const { mtuBytes, offloadSegments } = this.config
    if (offloadSegments === 1) return mtuBytes
    const left = (this.end - this.board.highest) * mtuBytes
    return Math.max(mtuBytes, Math.min(offloadSegments * mtuBytes, left, Math.floor(this.controller.window / 3)))
  }

  command(now: Time, command: FlowCommand): void {
    const { writeBytes, message } = command
    if (!Number.isSafeInteger(writeBytes) || writeBytes < 0)
      throw new RangeError(`tcp: writeBytes is ${writeBytes}, expected a whole number of bytes`)
    if (this.failed) {
      this.events.push({ type: "flushed", time: now, message, bytes: 0 })
      return
    }
    if (this.finished && this.paceTime < now) this.paceTime = now
    this.end += this.messages.add(message, writeBytes)
  }

  pollEvent(): FlowEvent | undefined {
    return this.events.length === 0 ? undefined : this.events.shift()
  }

  // --- sending

  pollTransmit(now: Time, out: Packet): boolean {
    if (this.controlPending) {
      this.fillAck(out, this.udpPorts)
      this.updateTimeout()
      return true
    }
    if (!this.hasData || this.windowBound || this.paceTime > now) return false
    this.send(now, out, this.board.lostCount > 0 ? this.board.nextLost() : this.board.highest)
    return true
  }

  private send(now: Time, out: Packet, number: number): void {
    const { board, config, controller } = this
    const isNew = number === board.highest
    if (this.burst > 0) this.burst--
    else if (isNew && config.offloadSegments > 1) {
      const room = Math.floor((controller.window - board.pipeBytes) / config.mtuBytes)
      this.burst = Math.max(0, Math.min(config.offloadSegments, room, this.end - number) - 1)
    }
    const message = this.messages.holding(number)
    const last = number === message.firstPacket + message.packets - 1
    const payload = last ? message.bytes - (message.packets - 1) * config.mtuBytes : config.mtuBytes
    let flags = last ? Flag.AckRequest : 0
    if (!isNew) {
      flags |= Flag.Retransmission
      this.retransmissions++
    }
    out.meta = Opcode.SendMiddle | flags | (this.priority << 24) | (config.ecn << 28)
    const wireBytes = Math.max(payload + config.framing.dataBytes, config.framing.leastBytes)
    out.wireBytes = wireBytes
    out.payloadBytes = payload
    out.psn = number & PSN_MASK
    out.setNodes(this.node, this.peer)
    out.udpPorts = this.udpPorts
    out.flow = this.flow
    out.stamp = now
    if (isNew) this.sentBytes += payload
    // A segment without bytes is a segment under way all the same.
    board.sent(number, Math.max(1, payload), now)
    controller.onSent(now, wireBytes)
    if (controller.rate < Infinity)
      this.paceTime = Math.max(now, this.paceTime) + serializationPs(wireBytes, controller.rate)
    if (this.timer === Timer.None || this.timer === Timer.Probe) this.armAfterSend(now)
    this.updateTimeout()
  }

  // --- receiving

  handlePacket(now: Time, packet: Packet): void {
    if (packet.opcode < Opcode.Acknowledge) this.handleData(now, packet)
    else if (!this.failed) this.handleAck(now, packet)
    this.updateTimeout()
  }

  private handleAck(now: Time, packet: Packet): void {
    const { board } = this
    const count = board.una + psnDistance(packet.psn, board.una & PSN_MASK)
    if (count > board.highest) return
    const before = this.ackedBytes
    board.deliveredBytes = 0
    this.duplicateSeen = false
    const advanced = count > board.una
    if (advanced) this.advance(now, count)
    if (packet.extension >= 0) this.readBlocks(now, packet)
    if (advanced || board.deliveredBytes > 0) {
      const sample = now - packet.stamp
      if (sample > 0) this.rtt.sample(sample)
      this.backoffs = 0
    }
    this.finishProbe(now, advanced, count)
    const found = this.findLosses(now)
    this.runController(now, packet, before)
    if (found && this.recoverUntil === NONE) this.beginRecovery(now)
    if (advanced || found || board.deliveredBytes > 0) this.rearm(now)
  }

  private advance(now: Time, count: number): void {
    this.board.acknowledge(now, count)
    this.ackedBytes = this.messages.bytesBefore(count)
    if (this.recoverUntil !== NONE && count >= this.recoverUntil) {
      this.recoverUntil = NONE
      if (this.reorderPersists > 0 && --this.reorderPersists === 0) this.reorderMultiple = 1
    }
    for (;;) {
      const message = this.messages.completedBy(count)
      if (message === undefined) return
      this.events.push({ type: "completed", time: now, message: message.id, bytes: message.bytes })
    }
  }

  private readBlocks(now: Time, packet: Packet): void {
    const { board } = this
    const { extension } = packet.pool
    const at = packet.extend()
    const count = extension[at + Layout.EXT.sackBlocks]!
    for (let index = 0; index < count; index++) {
      const range = at + Layout.EXT.sackRanges + 2 * index
      const start = board.una + psnDistance(extension[range]!, board.una & PSN_MASK)
      const end = board.una + psnDistance(extension[range + 1]!, board.una & PSN_MASK)
      // RFC 2883 §4: below what is acknowledged, or within the next block, the first tells of a duplicate.
      if (index === 0 && (end <= board.una || this.isWithinNext(extension, range, count))) this.duplicateSeen = true
      else board.sack(now, start, end)
    }
    if (this.duplicateSeen) this.widenReordering()
  }

  private isWithinNext(extension: Int32Array, range: number, count: number): boolean {
    if (count < 2) return false
    return (
      psnDistance(extension[range]!, extension[range + 2]!) >= 0 &&
      psnDistance(extension[range + 3]!, extension[range + 1]!) >= 0
    )
  }

  /** RFC 8985 §6.2.4: what was sent again had arrived; the window widens, once a recovery. */
  private widenReordering(): void {
    if (this.probeEnd !== NONE && this.probeIsRetransmission) return
    this.reorderMultiple++
    this.reorderPersists = REORDER_WINDOW_PERSISTS
  }

  /** True: something was newly found to be lost. */
  private findLosses(now: Time): boolean {
    const { board, config } = this
    const before = board.lostCount
    if (config.lossDetection === "sack") {
      if (board.sackedCount > 0) board.detectByCount(DUPLICATE_THRESHOLD)
      return board.lostCount > before
    }
    if (board.sackedCount === 0 && this.recoverUntil === NONE) return false
    const wait = board.detectLosses(now, this.reorderWindowPs())
    if (wait > 0) this.setTimer(Timer.Reorder, now + wait)
    else if (this.timer === Timer.Reorder) this.setTimer(Timer.None, NEVER)
    return board.lostCount > before
  }

  /** RFC 8985 §6.2, step 4. */
  private reorderWindowPs(): Time {
    const { board, rtt } = this
    if (!board.reordered && (this.recoverUntil !== NONE || board.sackedCount >= DUPLICATE_THRESHOLD)) return 0
    if (rtt.leastPs === Infinity) return 0
    return Math.min((this.reorderMultiple * rtt.leastPs) / 4, rtt.smoothedPs)
  }

  private runController(now: Time, packet: Packet, before: number): void {
    const { ack, controller } = this
    ack.sequence = this.ackedBytes
    ack.sent = this.sentBytes
    ack.bytes = this.ackedBytes - before
    ack.rttPs = now - packet.stamp
    ack.congestion = packet.has(Flag.CongestionEcho)
    ack.hops = 0
    ack.pathId = 0
    ack.pint = -1
    if (controller.onAck(now, ack)) this.acted(now)
  }

  private acted(now: Time): void {
    this.controllerActions++
    checkController(this.controller, this.flow >> 1, now)
  }

  private beginRecovery(now: Time): void {
    this.recoveries++
    this.recoverUntil = this.board.highest
    if (this.controller.onLoss(now, false)) this.acted(now)
  }

  // --- time

  private setTimer(timer: number, deadline: Time): void {
    this.timer = timer
    this.deadline = deadline
  }

  /** After an acknowledgement that brought something: the timeout begins anew, or a probe's (RFC 8985 §7.2). */
  private rearm(now: Time): void {
    if (this.board.una === this.board.highest) this.setTimer(Timer.None, NEVER)
    else if (this.timer !== Timer.Reorder) this.armAfterSend(now)
  }

  private armAfterSend(now: Time): void {
    const { board, rtt, config } = this
    const timeout = rtt.backedOff(this.backoffs)
    const probes =
      config.lossDetection === "rack-tlp" &&
      this.probeEnd === NONE &&
      this.recoverUntil === NONE &&
      board.sackedCount === 0 &&
      this.backoffs === 0 &&
      rtt.smoothedPs > 0
    if (!probes) {
      this.setTimer(Timer.Retransmission, now + timeout)
      return
    }
    const lone = board.highest - board.una === 1
    const probe = 2 * rtt.smoothedPs + (lone ? config.delayedAckPs : 0)
    this.setTimer(Timer.Probe, now + Math.min(probe, timeout))
  }

  private updateTimeout(): void {
    if (this.failed) {
      this.nextTimeout = this.ackTime
      return
    }
    this.nextTimeout = this.deadline < this.ackTime ? this.deadline : this.ackTime
    if (this.timers === undefined && this.controller.nextTimer < this.nextTimeout)
      this.nextTimeout = this.controller.nextTimer
  }

  lendTimers(): void {
    this.timers = this.controller.timers
    this.updateTimeout()
  }

  handleTimer(now: Time, timer: number): void {
    if (!this.failed && this.controller.onTimer(now, timer)) this.acted(now)
  }

  handleTimeout(now: Time): void {
    this.ackDue(now)
    if (!this.failed) {
      if (this.timers === undefined && this.controller.nextTimer <= now && fireTimer(this.controller, now))
        this.acted(now)
      if (this.deadline <= now) this.expire(now)
    }
    this.updateTimeout()
  }

  private expire(now: Time): void {
    const { timer } = this
    this.setTimer(Timer.None, NEVER)
    if (timer === Timer.Reorder) {
      if (this.findLosses(now) && this.recoverUntil === NONE) this.beginRecovery(now)
      if (this.timer === Timer.None) this.rearm(now)
    } else if (timer === Timer.Probe) this.probe(now)
    else this.timedOut(now)
  }

  /** RFC 8985 §7.3: new data if there is any, else the last segment again; it goes whatever the window is. */
  private probe(now: Time): void {
    const { board } = this
    this.probes++
    this.probeIsRetransmission = board.highest >= this.end
    if (this.probeIsRetransmission) board.lose(board.highest - 1)
    this.burst = 1
    this.probeEnd = board.highest + (this.probeIsRetransmission ? 0 : 1)
    this.setTimer(Timer.Retransmission, now + this.rtt.timeoutPs)
  }

  /** RFC 8985 §7.4: the probe's data are acknowledged; if it repaired a loss, that is one to answer. */
  private finishProbe(now: Time, advanced: boolean, count: number): void {
    if (this.probeEnd === NONE || count < this.probeEnd) return
    if (this.probeIsRetransmission && !this.duplicateSeen && advanced && this.controller.onLoss(now, false))
      this.acted(now)
    this.probeEnd = NONE
  }

  private timedOut(now: Time): void {
    const { board, config } = this
    if (this.backoffs >= config.retryCount) {
      this.fail(now)
      return
    }
    this.timeouts++
    this.backoffs++
    this.probeEnd = NONE
    board.markAllLost()
    this.recoverUntil = board.highest
    this.burst = 0
    this.setTimer(Timer.Retransmission, now + this.rtt.backedOff(this.backoffs))
    if (this.controller.onLoss(now, true)) this.acted(now)
  }

  private fail(now: Time): void {
    this.failed = true
    let type: FlowEvent["type"] = "failed"
    for (;;) {
      const message = this.messages.completedBy(NEVER)
      if (message === undefined) break
      const bytes = type === "failed" ? this.ackedBytes - message.firstByte : 0
      this.events.push({ type, time: now, message: message.id, bytes })
      type = "flushed"
    }
    this.end = this.board.una
    this.board.abandon()
    this.setTimer(Timer.None, NEVER)
  }
}
