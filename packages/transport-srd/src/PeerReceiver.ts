import { Ecn, Flag, Opcode, type Packet } from "@rdmakit/packet"
import { DOUBLE_ZERO, type Time } from "@rdmakit/protocol"
import { ReceivedPackets } from "./ReceivedPackets.ts"
import type { SrdConfig } from "./SrdConfig.ts"

/**
 * The receiving half of a context: it knows what has come from a peer, drops what comes twice, and answers each packet at
 * once. An answer names its packet, tells when that was sent, and goes back by the packet's own path.
 */
export class PeerReceiver {
  /** An acknowledgement waits to be filled in. */
  pending = false
  /** Packets that came twice, and those that came from beyond the window. */
  duplicates = 0
  beyond = 0
  private readonly received: ReceivedPackets
  private readonly config: SrdConfig
  private number = 0
  private stamp: Time = DOUBLE_ZERO
  private udpPorts = 0
  private flags = 0

  constructor(config: SrdConfig) {
    this.config = config
    this.received = new ReceivedPackets(config.windowPackets)
  }

  /** A data packet came. True: for the first time. An answer is pending then, unless it came from beyond the window. */
  handleData(packet: Packet): boolean {
    const number = this.received.numberOf(packet.psn)
    const what = this.received.add(number)
    if (what === "beyond") {
      this.beyond++
      return false
    }
    this.number = number
    this.stamp = packet.stamp
    this.udpPorts = packet.udpPorts
    this.flags = packet.ecn === Ecn.Experienced ? Flag.CongestionEcho : 0
    this.pending = true
    if (what === "new") return true
    this.duplicates++
    this.flags |= Flag.Retransmission
    return false
  }

  /** Fills in the acknowledgement; the caller says between whom it travels. */
  fillAck(out: Packet, priority: number): void {
    this.pending = false
    out.meta = Opcode.Acknowledge | this.flags | (priority << 24)
    out.wireBytes = this.config.framing.ackBytes
    out.udpPorts = this.udpPorts
    out.stamp = this.stamp
    this.received.tell(this.number, out)
  }
}
