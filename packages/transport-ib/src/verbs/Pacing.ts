import { Ecn, Flag, type Packet } from "@rdmakit/packet"
import {
  type Ack,
  type Controller,
  checkController,
  fireTimer,
  makeAck,
  NEVER,
  type PeerPath,
  TELEMETRY_FIELDS,
  type Time,
  type Timers,
  unpaced,
} from "@rdmakit/protocol"
import { serializationPs } from "@rdmakit/units"
import type { VerbsConfig } from "./VerbsOptions.ts"

/** The congestion controller of one queue pair, and the pace it sets. Without one everything may leave at once. */
export class Pacing {
  controller: Controller = unpaced
  /** When pacing next allows a packet. */
  paceTime: Time = 0
  timers: Timers | undefined = undefined
  /** The controller set the rate: a NIC that keeps a wake-up may have to move it. */
  rateChanged = false
  /** ECN code point of data whose path says none. */
  capable: number = Ecn.NotCapable
  /** Data packets carry telemetry for switches to fill. */
  telemetry = false

  private readonly config: VerbsConfig
  private readonly ack: Ack = makeAck(0)
  private flow = 0
  private lastWireBytes = 0
  private lastPacePs: Time = 0
  private lent = false

  constructor(config: VerbsConfig) {
    this.config = config
  }

  get paced(): boolean {
    return this.controller !== unpaced
  }

  /** A path to the peer is known, and data may follow. */
  start(now: Time, path: PeerPath, mtuBytes: number): void {
    const { controller: factory, seed } = this.config
    if (factory === undefined) return
    const { needs } = factory
    this.flow = path.flow
    this.controller = factory.make(now, {
      lineRateBps: path.lineRateBps,
      baseRttPs: path.baseRttPs,
      windowBytes: Math.ceil((path.lineRateBps * path.baseRttPs) / 8e12),
      mtuBytes,
      timeModulusPs: NEVER,
      bytesModulus: NEVER,
      flow: path.flow,
      seed,
    })
    checkController(this.controller, path.flow, now)
    this.capable = needs.includes("ecn") || needs.includes("cnp") ? Ecn.Capable0 : Ecn.NotCapable
    this.telemetry = needs.includes("int")
    this.paceTime = now
    this.lastWireBytes = 0
    if (this.lent) this.timers = this.controller.timers
  }

  stop(): void {
    this.controller = unpaced
    this.timers = undefined
    this.paceTime = 0
    this.capable = Ecn.NotCapable
    this.telemetry = false
  }

  /** A data packet left. */
  sent(now: Time, payloadBytes: number, wireBytes: number): void {
    if (this.controller === unpaced) return
    this.lastWireBytes = wireBytes
    this.lastPacePs = serializationPs(wireBytes, this.controller.rate)
    this.paceTime = now + this.lastPacePs
    this.controller.onSent(now, payloadBytes)
  }

  /**
   * An acknowledgement came. Bytes are of requests, counted from the start.
   * @param rttPs NaN when it is not known
   */
  acknowledged(now: Time, packet: Packet, ackedBytes: number, sentBytes: number, bytes: number, rttPs: Time): void {
    if (this.controller === unpaced) return
    const { ack } = this
    const room = TELEMETRY_FIELDS * packet.telemetryHops
    if (room > ack.telemetry.length) ack.telemetry = new Float64Array(room)
    ack.sequence = ackedBytes
    ack.sent = sentBytes
    ack.bytes = bytes
    ack.rttPs = rttPs
    ack.congestion = packet.has(Flag.CongestionEcho)
    ack.hops = packet.readTelemetry(ack.telemetry)
    ack.pathId = ack.hops > 0 ? packet.pathId : 0
    ack.pint = packet.pint
    if (this.controller.onAck(now, ack)) this.tookAction(now)
  }

  lost(now: Time, timeout: boolean): void {
    if (this.controller.onLoss(now, timeout)) this.tookAction(now)
  }
  notified(now: Time): void {
    if (this.controller.onCnp(now)) this.tookAction(now)
  }

  /** The controller set its rate anew: the moment of the next packet follows it at once. */
  private tookAction(now: Time): void {
    const { rate } = this.controller
    checkController(this.controller, this.flow, now)
    if (this.lastWireBytes === 0) return
    this.rateChanged = true
    const before = this.lastPacePs
    this.lastPacePs = serializationPs(this.lastWireBytes, rate)
    this.paceTime += this.lastPacePs - before
  }

  // --- the controller's timers

  get nextTimer(): Time {
    return this.timers === undefined ? this.controller.nextTimer : NEVER
  }
  lendTimers(): void {
    this.lent = true
    this.timers = this.controller.timers
  }
  handleTimer(now: Time, timer: number): void {
    if (this.controller.onTimer(now, timer)) this.tookAction(now)
  }
  handleTimeout(now: Time): void {
    if (this.nextTimer <= now && fireTimer(this.controller, now)) this.tookAction(now)
  }
}
