import { type Ack, AckController, type Time } from "@rdmakit/protocol"
import type { SwiftLaw } from "./SwiftLaw.ts"
import { SwiftWindow } from "./SwiftWindow.ts"

/** Bits in a byte times ps in a second. */
const BIT_PS = 8e12

/**
 * Swift (Kumar et al., SIGCOMM 2020): AIMD around a target for the delay, one window for the fabric and, where the
 * endpoints' share of the delay is known, one for them; the smaller counts. A window below one packet is a gap between
 * packets of RTT / cwnd; above it packets leave at line rate.
 *
 * The window that a transport sees is cwnd in whole packets. What the paper leaves open is settled here: the RTT of
 * "once per RTT" and of pacing is the last one measured; `t_last_decrease` moves where the window fell; losses cut the
 * fabric's window.
 */
export class SwiftPaper extends AckController {
  // Every field starts as a number: one that starts undefined has each double written to it boxed.
  /** Bit/s. */
  rate: number = 0
  window: number = 0

  private readonly law: SwiftLaw
  private readonly fabric: SwiftWindow
  private readonly endpoint: SwiftWindow | undefined
  private readonly endpointDelayPs: ((ack: Ack) => number) | undefined
  private rttPs: number = 0
  private delayPs = 0
  private targetPs = 0
  private retransmits = 0

  private losses = 0
  private timeouts = 0
  private resets = 0
  private unstamped = 0
  private untold = 0

  constructor(law: SwiftLaw, endpointDelayPs: ((ack: Ack) => number) | undefined) {
    super()
    this.law = law
    this.fabric = new SwiftWindow(law)
    this.endpoint = endpointDelayPs === undefined ? undefined : new SwiftWindow(law)
    this.endpointDelayPs = endpointDelayPs
    this.rttPs = law.baseRttPs
    this.apply()
  }

  onAck(now: Time, ack: Ack): boolean {
    this.retransmits = 0
    const { rttPs } = ack
    if (!(rttPs >= 0 && rttPs < Infinity)) {
      this.unstamped++
      return false
    }
    const { law, fabric, endpoint } = this
    const ackedPackets = ack.bytes / law.packetBytes
    this.rttPs = rttPs
    let delayPs = rttPs
    if (endpoint !== undefined) {
      const endpointPs = this.endpointDelayPs!(ack)
      if (endpointPs >= 0 && endpointPs <= rttPs) {
        endpoint.react(now, endpointPs, law.endpointTargetPs, rttPs, ackedPackets)
        delayPs -= endpointPs
      } else {
        this.untold++
      }
    }
    const targetPs = law.targetPs(fabric.packets, ack.hops > 0 ? ack.hops : law.hops)
    this.delayPs = delayPs
    this.targetPs = targetPs
    fabric.react(now, delayPs, targetPs, rttPs, ackedPackets)
    this.apply()
    return true
  }

  /** A NAK is the paper's fast recovery. */
  override onLoss(now: Time, timeout: boolean): boolean {
    if (timeout) {
      this.timeouts++
      this.retransmits++
    } else {
      this.losses++
      this.retransmits = 0
    }
    if (this.retransmits >= this.law.resetAfter) {
      this.resets++
      this.fabric.reset(now)
    } else {
      this.fabric.cut(now, this.rttPs)
    }
    this.apply()
    return true
  }

  metrics(): Readonly<Record<string, number>> {
    return {
      fabricWindowPackets: this.fabric.packets,
      ...(this.endpoint === undefined ? {} : { endpointWindowPackets: this.endpoint.packets }),
      targetPs: this.targetPs,
      delayPs: this.delayPs,
      rttPs: this.rttPs,
      retransmits: this.retransmits,
      increases: this.fabric.increases + (this.endpoint?.increases ?? 0),
      decreases: this.fabric.decreases + (this.endpoint?.decreases ?? 0),
      losses: this.losses,
      timeouts: this.timeouts,
      resets: this.resets,
      unstamped: this.unstamped,
      untold: this.untold,
    }
  }

  /** min(fcwnd, ecwnd), as a window in bytes and the rate that makes the gap between packets. */
  private apply(): void {
    const { law, endpoint } = this
    let packets = this.fabric.packets
    if (endpoint !== undefined && endpoint.packets < packets) packets = endpoint.packets
    if (packets >= 1) {
      this.window = Math.floor(packets) * law.packetBytes
      this.rate = law.lineRateBps
      return
    }
    // Any window below a packet lets one out when nothing is; the rate makes it wait.
    this.window = Math.max(1, Math.floor(packets * law.packetBytes))
    const rate = (law.packetBytes * BIT_PS * packets) / this.rttPs
    this.rate = rate < law.lineRateBps ? rate : law.lineRateBps
  }
}
