import { Ecn, Flag, type Message, MessageQueue, Opcode, type Packet, PSN_MASK, PSN_WINDOW } from "@rdmakit/packet"
import {
  type Controller,
  checkController,
  type FlowAddress,
  type FlowCommand,
  type FlowEvent,
  NEVER,
  type Time,
  unpaced,
} from "@rdmakit/protocol"
import { serializationPs, uniform } from "@rdmakit/units"
import { RateReduction } from "./RateReduction.ts"
import { Scoreboard } from "./Scoreboard.ts"
import type { TcpConfig } from "./TcpConfig.ts"
import { TcpReceiver } from "./TcpReceiver.ts"

/**
 * The half of a connection that sends: messages become segments, in the room that the controller's window leaves beside
 * what is in the network; what is lost goes first. Segments are numbered, not octets: each message begins a segment.
 */
export abstract class TcpSender extends TcpReceiver {
  readonly controller: Controller
  retransmissions = 0
  paceTime: Time

  protected readonly board = new Scoreboard(0)
  protected readonly reduction: RateReduction
  protected readonly messages: MessageQueue
  protected readonly udpPorts: number
  /** The first segment has number 0, and this PSN. */
  protected sendBase = 0
  /** End of what there is to send, in segments; and bytes acknowledged and sent, each once. */
  protected end = 0
  protected ackedBytes = 0
  protected sentBytes = 0
  /** Segments that go without looking at the window: the rest of a burst, or a probe. */
  protected burst = 0
  protected failed = false
  /** When the next may leave as far as the rate goes, ps. */
  private paceFrom: Time
  /** Of the random times that acknowledgements take at their host: the seed, and how many were drawn. */
  private readonly seed: number
  private processed = 0
  protected readonly events: Array<FlowEvent> = []

  constructor(now: Time, config: TcpConfig, address: FlowAddress) {
    super(config, address)
    this.udpPorts = (address.udpPort | (address.peerUdpPort << 16)) >>> 0
    this.controller = address.path === undefined ? unpaced : config.controller.make(now, address.path)
    checkController(this.controller, address.flow >> 1, now)
    this.paceTime = now
    this.paceFrom = now
    this.seed = address.path?.seed ?? 0
    this.messages = new MessageQueue(0, config.mtuBytes)
    this.reduction = new RateReduction(config.mtuBytes)
  }

  /** A segment has left. */
  protected abstract segmentSent(now: Time): void
  protected abstract updateTimeout(): void

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
    const { roomBytes } = this.reduction
    const room = roomBytes === Infinity ? this.controller.window - board.pipeBytes : roomBytes
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
    return this.send(now, out, this.board.lostCount > 0 ? this.board.nextLost() : this.board.highest)
  }

  private send(now: Time, out: Packet, number: number): boolean {
    const { board, config, controller } = this
    const isNew = number === board.highest
    const message = this.messages.holding(number)
    const index = number - message.firstPacket
    const last = index === message.packets - 1
    const payload = last ? message.bytes - index * config.mtuBytes : config.mtuBytes
    const headerBytes = this.fill(out, message, index * config.mtuBytes, payload)
    if (headerBytes < 0) return false
    const { pipeBytes } = board
    let flags = (last ? Flag.AckRequest : 0) | (config.telemetry ? Flag.Telemetry : 0)
    let { ecn } = config
    if (!isNew) {
      flags |= Flag.Retransmission
      // RFC 3168 §6.1.5: a retransmission is not ECN-capable.
      ecn = Ecn.NotCapable
      this.retransmissions++
    }
    // Of what `fill` has set only the payload's flag stays.
    const kept = out.meta & Flag.SlabPayload
    out.meta = Opcode.SendMiddle | kept | flags | (this.priority << 24) | (ecn << 28)
    const { framing, alignBytes } = config
    const padded = Math.ceil((payload + headerBytes) / alignBytes) * alignBytes
    const wireBytes = Math.max(padded + framing.dataBytes + framing.telemetryBytes, framing.leastBytes)
    out.wireBytes = wireBytes
    out.payloadBytes = payload
    out.psn = (number + this.sendBase) & PSN_MASK
    out.setNodes(this.node, this.peer)
    out.udpPorts = this.udpPorts
    out.flow = this.flow
    out.stamp = now
    if (config.telemetry) out.addTelemetry()
    if (isNew) this.sentBytes += payload
    // A segment without bytes is a segment under way all the same.
    const sizeBytes = Math.max(1, payload)
    board.sent(number, sizeBytes, now)
    this.reduction.sent(sizeBytes)
    controller.onSent(now, payload)
    // A window that has been idle may fall with the first segment (RFC 5681 §4.1): what goes with it has room in the new one.
    if (this.burst > 0) this.burst--
    else if (isNew && config.offloadSegments > 1) {
      const room = Math.floor((controller.window - pipeBytes) / config.mtuBytes)
      this.burst = Math.max(0, Math.min(config.offloadSegments, room, this.end - number) - 1)
    }
    if (controller.rate < Infinity) {
      // What the host was late is made up for.
      this.paceFrom = Math.max(this.paceFrom, now - config.processingPs) + serializationPs(wireBytes, controller.rate)
      this.paceTime = this.paceFrom
    }
    this.segmentSent(now)
    return true
  }

  /** An acknowledgement came that may let segments leave: the host takes a random time for it. */
  protected hostTakesTime(now: Time): void {
    const { processingPs } = this.config
    if (processingPs > 0 && this.paceTime <= now)
      this.paceTime = now + Math.floor(processingPs * uniform(this.seed, this.flow, this.processed++))
  }

  /**
   * What a segment carries besides its numbers: `bytes` of a message from `offset` on. Returns how many bytes its headers
   * have more than the framing says; negative: it cannot be made, and the packet is as good as fresh.
   */
  protected fill(_out: Packet, _message: Message, _offset: number, _bytes: number): number {
    return 0
  }

  /** Retries are exceeded: every message is told of, and nothing is left to send. */
  protected endMessages(now: Time): void {
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
  }
}
