import { Flag, Layout, Opcode, type Packet, PSN_MASK, psnDistance } from "@rdmakit/packet"
import {
  type Ack,
  checkController,
  type FlowAddress,
  type FlowEngine,
  fireTimer,
  NEVER,
  type Time,
  type Timers,
} from "@rdmakit/protocol"
import { RttEstimator } from "./RttEstimator.ts"
import type { TcpConfig } from "./TcpConfig.ts"
import { TcpSender } from "./TcpSender.ts"
import { timeoutsOn } from "./Timeouts.ts"

const NONE = -1
/** Segments beyond that make one lost (RFC 5681 §3.2). */
const DUPLICATE_THRESHOLD = 3
/** RFC 8985 §6.2.4: a reordering window that has widened is kept for so many recoveries. */
const REORDER_WINDOW_PERSISTS = 16
/** Which timer `deadline` is. */
const Timer = { None: 0, Retransmission: 1, Probe: 2, Reorder: 3 } as const

/**
 * One end of a TCP connection, from its ESTABLISHED state on: slow start and avoidance are the controller's, everything
 * else is here.
 *
 * Losses are found by RACK (RFC 8985), a lost tail by a probe, all else by the timeout of RFC 6298. What is in the network
 * is reckoned as RFC 6675 does, and kept below the controller's window.
 */
export class TcpEndpoint extends TcpSender implements FlowEngine {
  controllerActions = 0
  nextTimeout: Time = NEVER
  timers: Timers | undefined = undefined
  rateChanged = false
  /** Retransmission timeouts, probes for a lost tail, and recoveries that an acknowledgement began. */
  timeouts = 0
  probes = 0
  recoveries = 0

  private readonly ack: Ack
  private readonly rtt: RttEstimator
  private readonly leastProbePs: Time
  /** Where the recovery under way ends, or NONE. */
  private recoverUntil = NONE
  private deadline: Time = NEVER
  private timer: number = Timer.None
  private backoffs = 0
  /** End of the data that a probe was for, or NONE (RFC 8985 §7.4). */
  private probeEnd = NONE
  private probeIsRetransmission = false
  private reorderMultiple = 1
  private reorderPersists = REORDER_WINDOW_PERSISTS
  private duplicateSeen = false

  constructor(now: Time, config: TcpConfig, ack: Ack, address: FlowAddress) {
    super(now, config, address)
    this.ack = ack
    const timeouts = timeoutsOn(config, address.path)
    const { initialTimeoutPs, mostTimeoutPs, granularityPs } = timeouts
    this.rtt = new RttEstimator(initialTimeoutPs, config.leastTimeoutPs, mostTimeoutPs, granularityPs)
    this.leastProbePs = timeouts.leastProbePs
    this.nextTimeout = this.controller.nextTimer
  }

  // --- receiving

  handlePacket(now: Time, packet: Packet): void {
    if (packet.opcode < Opcode.Acknowledge) this.handleData(now, packet)
    else if (!this.failed) this.handleAck(now, packet)
    this.updateTimeout()
  }

  private handleAck(now: Time, packet: Packet): void {
    const { board } = this
    const count = board.una + psnDistance(packet.psn, (board.una + this.sendBase) & PSN_MASK)
    if (count > board.highest) return
    const before = this.ackedBytes
    const flightBytes = board.pipeBytes
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
    if (found && this.recoverUntil === NONE) this.beginRecovery(now, flightBytes)
    this.reduce(advanced && !found)
    this.hostTakesTime(now)
    if (advanced || found || board.deliveredBytes > 0) this.rearm(now)
  }

  private advance(now: Time, count: number): void {
    this.board.acknowledge(now, count)
    this.ackedBytes = this.messages.bytesBefore(count)
    if (this.recoverUntil !== NONE && count >= this.recoverUntil) {
      this.recoverUntil = NONE
      this.reduction.end()
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
    const una = (board.una + this.sendBase) & PSN_MASK
    const count = extension[at + Layout.EXT.sackBlocks]!
    for (let index = 0; index < count; index++) {
      const range = at + Layout.EXT.sackRanges + 2 * index
      const start = board.una + psnDistance(extension[range]!, una)
      const end = board.una + psnDistance(extension[range + 1]!, una)
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
    ack.hops = packet.readTelemetry(ack.telemetry)
    ack.pathId = ack.hops > 0 ? packet.pathId : 0
    ack.pint = packet.pint
    if (controller.onAck(now, ack)) this.acted(now)
  }

  private acted(now: Time): void {
    this.controllerActions++
    checkController(this.controller, this.flow >> 1, now)
  }

  private beginRecovery(now: Time, flightBytes: number): void {
    this.recoveries++
    this.recoverUntil = this.board.highest
    if (this.config.rateReduction) this.reduction.begin(flightBytes)
    if (this.controller.onLoss(now, false)) this.acted(now)
  }

  private reduce(safe: boolean): void {
    const { board, reduction, controller } = this
    if (reduction.roomBytes !== Infinity)
      reduction.acknowledged(board.deliveredBytes, board.pipeBytes, controller.window, safe)
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
      (config.probesInRecovery || (this.recoverUntil === NONE && board.sackedCount === 0)) &&
      this.backoffs === 0 &&
      rtt.smoothedPs > 0
    if (!probes) {
      this.setTimer(Timer.Retransmission, now + timeout)
      return
    }
    const isHeldBack = board.highest - board.una === 1 && config.ackEvery > 1
    const probe = Math.max(2 * rtt.smoothedPs, this.leastProbePs) + (isHeldBack ? config.delayedAckPs : 0)
    this.setTimer(Timer.Probe, now + Math.min(probe, timeout))
  }

  protected segmentSent(now: Time): void {
    if (this.timer === Timer.None || this.timer === Timer.Probe) this.armAfterSend(now)
    this.updateTimeout()
  }

  protected updateTimeout(): void {
    if (this.failed) {
      this.nextTimeout = this.ackTime
      return
    }
    this.nextTimeout = this.deadline < this.ackTime ? this.deadline : this.ackTime
    // Whoever arms timers is to see what is no number.
    if (this.timers === undefined && !(this.controller.nextTimer >= this.nextTimeout))
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
      const flightBytes = this.board.pipeBytes
      if (this.findLosses(now) && this.recoverUntil === NONE) this.beginRecovery(now, flightBytes)
      if (this.timer === Timer.None) this.rearm(now)
    } else if (timer === Timer.Probe) this.probe(now)
    else this.timedOut(now)
  }

  /**
   * RFC 8985 §7.3: new data if there is any, else the last segment again; it goes whatever the window is. While losses are
   * repaired what waits to be sent again goes first, and where the last segment is there the oldest stands in for it.
   */
  private probe(now: Time): void {
    const { board } = this
    this.probes++
    const isNew = board.lostCount === 0 && board.highest < this.end
    if (!isNew && board.lostCount === 0) board.lose(board.isSacked(board.highest - 1) ? board.una : board.highest - 1)
    this.probeIsRetransmission = !isNew && this.recoverUntil === NONE
    this.burst = 1
    this.probeEnd = board.highest + (isNew ? 1 : 0)
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
    // Everything is there, and the peer does not take it: it may have to be told again (RFC 2018 §8).
    if (board.lostCount === 0) board.loseOldest()
    this.recoverUntil = board.highest
    this.reduction.end()
    this.burst = 0
    this.setTimer(Timer.Retransmission, now + this.rtt.backedOff(this.backoffs))
    if (this.controller.onLoss(now, true)) this.acted(now)
  }

  private fail(now: Time): void {
    this.endMessages(now)
    this.setTimer(Timer.None, NEVER)
  }
}
