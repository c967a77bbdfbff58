import type { NicQueuePair } from "@rdmakit/nic"
import { Flag, type Packet } from "@rdmakit/packet"
import { NEVER, type Time, type Timers, type VerbsCommand, type VerbsEngine, type VerbsEvent } from "@rdmakit/protocol"

/** Where a datagram goes decides its priority, and it is known only when the packet is made: until then it is this one. */
export const DEFAULT_PRIORITY = 3

/** A queue pair of a device as a NIC schedules it. Its engine's events wait until the event of the network is over. */
export class VerbsEndpoint implements NicQueuePair<VerbsCommand, VerbsEvent> {
  readonly engine: VerbsEngine
  readonly node: number
  readonly flow: number
  port: number
  place = -1
  /** It has left the world, though lists may still hold it. */
  isGone = false
  /** It waits for its turn to be drained, or to tell its events. */
  isKicked = false
  isTelling = false
  private readonly telemetryBytes: number
  private readonly tell: (endpoint: VerbsEndpoint) => void
  private lastPriority = DEFAULT_PRIORITY

  /**
   * @param index in the world's `Endpoints`
   * @param telemetryBytes what telemetry takes on the wire, where a packet has it
   * @param tell called when the engine may have events
   */
  constructor(
    engine: VerbsEngine,
    node: number,
    index: number,
    port: number,
    telemetryBytes: number,
    tell: (endpoint: VerbsEndpoint) => void,
  ) {
    this.engine = engine
    this.node = node
    this.flow = index
    this.port = port
    this.telemetryBytes = telemetryBytes
    this.tell = tell
  }

  get priority(): number {
    return this.engine.flow < 0 ? this.lastPriority : this.engine.priority
  }
  get controlPending(): boolean {
    return !this.isGone && this.engine.controlPending
  }
  get hasData(): boolean {
    return !this.isGone && this.engine.hasData
  }
  get windowBound(): boolean {
    return this.engine.windowBound
  }
  get paceTime(): Time {
    return this.isGone ? 0 : this.engine.paceTime
  }
  get finished(): boolean {
    return this.isGone || this.engine.finished
  }
  get nextSend(): Time {
    return this.isGone ? NEVER : this.engine.nextSend
  }
  get nextTimeout(): Time {
    return this.isGone ? NEVER : this.engine.nextTimeout
  }
  get timers(): Timers | undefined {
    return this.isGone ? undefined : this.engine.timers
  }
  /** The engine does not say: its place among those that are paced is looked at each time. */
  get rateChanged(): boolean {
    return this.place >= 0
  }
  set rateChanged(_: boolean) {}

  lendTimers(): void {
    if (!this.isGone) this.engine.lendTimers()
  }
  command(now: Time, command: VerbsCommand): void {
    this.engine.command(now, command)
  }
  handlePacket(now: Time, packet: Packet): void {
    this.engine.handlePacket(now, packet)
  }
  handleTimeout(now: Time): void {
    if (!this.isGone) this.engine.handleTimeout(now)
  }
  handleTimer(now: Time, timer: number): void {
    if (!this.isGone) this.engine.handleTimer(now, timer)
  }

  pollTransmit(now: Time, out: Packet): boolean {
    if (this.isGone) return false
    const sends = this.engine.pollTransmit(now, out)
    // A datagram completes when it leaves, and work that cannot be done fails then.
    this.tell(this)
    if (!sends) return false
    this.lastPriority = out.priority
    if (out.has(Flag.Telemetry) || out.telemetry >= 0) out.wireBytes += this.telemetryBytes
    return true
  }

  /** The NIC asks when it drains: the answer is put off. */
  pollEvent(): undefined {
    this.tell(this)
    return undefined
  }
}
