import { Ecn, Flag, Layout, Opcode, type Packet, type PacketPool, PSN_MASK, psnDistance } from "@rdmakit/packet"
import { DOUBLE_ZERO, type FlowAddress, NEVER, type Time } from "@rdmakit/protocol"
import { Intervals } from "./Intervals.ts"
import type { TcpConfig } from "./TcpConfig.ts"

/** Blocks that an acknowledgement has room for beside time stamps (RFC 2018 §3). */
const BLOCKS = 3
/** What is kept of recent blocks, most recent first. */
const RECENT = 4

/**
 * The half of a connection that receives: it delivers in order, keeps what comes out of order, and acknowledges: every
 * second segment or after a while (RFC 5681 §4.2), at once what is out of order or closes a gap, the end of a message (as
 * Linux does once its reader has taken all), a mark, and the first of a connection, after a silence as long as a timeout,
 * or after a segment that came twice: a sender that begins with one segment is not to wait. An acknowledgement echoes a
 * mark of any segment it answers.
 */
export abstract class TcpReceiver {
  readonly node: number
  readonly priority: number
  readonly flow: number
  port = -1
  place = -1
  controlPending = false

  protected readonly config: TcpConfig
  protected readonly peer: number
  /** When an acknowledgement that is held back has to go, ps. */
  protected ackTime: Time = NEVER

  /** Number of the segment whose turn it is; the peer's first has number 0, and the PSN `receiveBase`. */
  protected expected = 0
  protected receiveBase = 0
  /** Segments that are here and wait for their turn. */
  protected readonly ahead = new Intervals()
  private receivedBytes = 0
  /** The latest blocks out of order, by any number in each; and a segment that came twice, or -1 (RFC 2883). */
  private readonly recent: Array<number> = []
  private duplicate = -1
  private owed = 0
  /** Acknowledgements that still go without waiting, and when data came last, ps. */
  private quick: number
  private lastDataAt: Time = DOUBLE_ZERO
  private marked = false
  protected replyStamp: Time = DOUBLE_ZERO
  /** Telemetry (or PINT) of the last segment, -1 for none. */
  private replyTelemetry = -1
  private replyPathId = 0
  private telemetryPool: PacketPool | undefined = undefined

  constructor(config: TcpConfig, address: FlowAddress) {
    this.config = config
    this.quick = config.quickAcks
    this.node = address.node
    this.peer = address.peer
    this.priority = address.priority
    this.flow = address.flow
  }

  /** Bytes of the peer's messages that came, each once. */
  get bytesReceived(): number {
    return this.receivedBytes
  }

  protected handleData(now: Time, packet: Packet): void {
    const { expected, receiveBase } = this
    const number = expected + psnDistance(packet.psn, (expected + receiveBase) & PSN_MASK)
    const mark = packet.ecn === Ecn.Experienced
    if (mark) this.marked = true
    if (now - this.lastDataAt > this.config.leastTimeoutPs) this.quick = this.config.quickAcks
    this.lastDataAt = now
    const urgent = this.take(number, packet) || mark || this.quick > 0
    // RFC 7323 §4.3: the stamp of the segment that brought the left edge here, or of one out of order: it is what a sender
    // takes the round trip of.
    if (this.owed === 0 || urgent) this.replyStamp = packet.stamp
    this.keepTelemetry(packet)
    this.owed++
    if (urgent || this.owed >= this.config.ackEvery || packet.has(Flag.AckRequest)) this.controlPending = true
    else if (this.ackTime === NEVER) this.ackTime = now + this.config.delayedAckPs
  }

  private keepTelemetry(packet: Packet): void {
    if (this.replyTelemetry >= 0) packet.pool.releaseTelemetry(this.replyTelemetry)
    this.replyTelemetry = packet.detachTelemetry()
    this.replyPathId = packet.pathId
    this.telemetryPool = packet.pool
  }

  /** Nothing more is acknowledged: telemetry that was to go back is given up. */
  protected dropTelemetry(): void {
    if (this.replyTelemetry >= 0) this.telemetryPool?.releaseTelemetry(this.replyTelemetry)
    this.replyTelemetry = -1
  }

  /** True when the sender should know at once. */
  private take(number: number, packet: Packet): boolean {
    const { ahead } = this
    if (number < this.expected || ahead.has(number)) {
      this.duplicate = number
      this.quick = this.config.quickAcks
      return true
    }
    if (number - this.expected >= this.config.reorderSegments) return true
    this.receivedBytes += packet.payloadBytes
    if (number > this.expected || !this.deliver(packet)) {
      this.keep(number, packet)
      ahead.add(number, number + 1)
      this.remember(number)
      return true
    }
    this.expected++
    if (ahead.count === 0) return false
    this.passOn()
    ahead.trim(this.expected)
    return true
  }

  /** It is this segment's turn. False: whoever it is for cannot have it yet, and it waits. */
  protected deliver(_packet: Packet): boolean {
    return true
  }
  /** A segment waits for its turn. */
  protected keep(_number: number, _packet: Packet): void {}
  /** It is the turn of those that have waited. */
  protected passOn(): void {
    this.expected = this.ahead.firstMissing(this.expected)
  }

  private remember(number: number): void {
    const { recent, ahead } = this
    const start = ahead.start
    const end = ahead.end
    let kept = 0
    for (let index = 0; index < recent.length && kept < RECENT - 1; index++) {
      const each = recent[index]!
      if (each < this.expected || (each >= start && each < end)) continue
      recent[kept++] = each
    }
    recent.length = kept
    recent.unshift(number)
  }

  /** The delayed acknowledgement is due. */
  protected ackDue(now: Time): void {
    if (this.ackTime > now) return
    this.ackTime = NEVER
    this.controlPending = this.owed > 0
  }

  protected fillAck(out: Packet, udpPorts: number): void {
    this.controlPending = false
    if (this.quick > 0) this.quick--
    out.meta = Opcode.Acknowledge | (this.marked ? Flag.CongestionEcho : 0) | (this.priority << 24)
    out.wireBytes = this.config.framing.ackBytes
    out.psn = (this.expected + this.receiveBase) & PSN_MASK
    out.setNodes(this.node, this.peer)
    out.udpPorts = udpPorts
    out.flow = this.flow
    out.stamp = this.replyStamp
    if (this.replyTelemetry !== -1) {
      out.attachTelemetry(this.replyTelemetry, this.replyPathId)
      this.replyTelemetry = -1
    }
    if (this.ahead.count > 0 || this.duplicate >= 0) this.fillBlocks(out)
    this.owed = 0
    this.marked = false
    this.ackTime = NEVER
  }

  private fillBlocks(out: Packet): void {
    const { ahead, receiveBase } = this
    const first = out.extend() + Layout.EXT.sackRanges
    let at = first
    // A segment that came twice goes first (RFC 2883 §4).
    if (this.duplicate >= 0) at = putBlock(out, at, this.duplicate + receiveBase, this.duplicate + receiveBase + 1)
    this.duplicate = -1
    for (const number of this.recent) {
      if (at === first + 2 * BLOCKS) break
      if (number < this.expected || !ahead.has(number)) continue
      at = putBlock(out, at, ahead.blockStart(number) + receiveBase, ahead.firstMissing(number) + receiveBase)
    }
    out.pool.extension[first - Layout.EXT.sackRanges + Layout.EXT.sackBlocks] = (at - first) / 2
  }
}

const putBlock = (out: Packet, at: number, start: number, end: number): number => {
  out.pool.extension[at] = start & PSN_MASK
  out.pool.extension[at + 1] = end & PSN_MASK
  return at + 2
}
