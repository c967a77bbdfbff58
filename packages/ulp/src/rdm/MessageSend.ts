import { EfaRdmFeature, type EfaRdmMessage, efaRdmBytes } from "@rdmakit/wire/efa-rdm"
import { ProgramOutgoing } from "./Outgoing.ts"
import type { Peer } from "./Peer.ts"
import type { Rdm } from "./Rdm.ts"
import type { Segments } from "./Segments.ts"
import type { Slot } from "./Transmitter.ts"

export type MessageProtocol = EfaRdmMessage["protocol"]

/** What a program says of a message. */
export interface MessageOptions {
  readonly tag: bigint | undefined
  readonly cqData: bigint | undefined
  /** It completes when the receiver has it in the buffer of a receive, not when the receiver's device has it. */
  readonly deliveryComplete: boolean
}

/** A message that is sent. It takes its number, and with it its place in the order, when it begins. */
export class MessageSend extends ProgramOutgoing {
  protocol: MessageProtocol = "eager"
  private readonly options: MessageOptions
  private messageId = 0

  constructor(rdm: Rdm, peer: Peer, data: Segments, context: number, options: MessageOptions) {
    super(rdm, peer, data, "send", context, options.cqData)
    this.options = options
  }

  begin(): void {
    const { rdm, peer, options, data } = this
    if (options.deliveryComplete && !peer.can(EfaRdmFeature.DeliveryComplete)) {
      this.fail("unsupported")
      return
    }
    this.messageId = peer.nextMessage
    peer.nextMessage = (peer.nextMessage + 1) >>> 0
    this.protocol = this.choose()
    this.requestPending = true
    this.windowed = this.protocol === "longCts"
    if (this.protocol === "longRead") this.goal = 0
    else if (this.protocol === "runtRead") this.goal = Math.min(rdm.settings.runtBytes, data.bytes)
    else this.goal = data.bytes
    const isRead = this.protocol === "longRead" || (this.protocol === "runtRead" && this.goal < data.bytes)
    this.confirmed = !(isRead || (options.deliveryComplete && this.protocol !== "runtRead"))
    rdm.transmitter.schedule(this)
  }

  /** As libfabric chooses (`efa_rdm_msg_select_rtm`), without what GPUs change. */
  private choose(): MessageProtocol {
    const { settings } = this.rdm
    const { bytes } = this.data
    const { peer } = this
    if (bytes > 0 && bytes >= settings.readBytesMin && settings.rdmaRead && peer.can(EfaRdmFeature.RdmaRead)) {
      const mayRunt = settings.runtRead && peer.can(EfaRdmFeature.RuntRead) && !this.options.deliveryComplete
      const runts = settings.runtBytes > 0 && mayRunt
      if (this.lend()) return runts ? "runtRead" : "longRead"
    }
    const header = efaRdmBytes(this.header("eager"))
    if (header + bytes <= settings.mtuBytes) return "eager"
    return bytes <= settings.mediumBytesMax ? "medium" : "longCts"
  }

  private header(protocol: MessageProtocol): EfaRdmMessage {
    const { rdm, peer, messageId, options, id: sendId, sources } = this
    const { tag, cqData, deliveryComplete } = options
    const message = { kind: "message", ...rdm.optionsFor(peer, cqData), tag, messageId } as const
    const messageBytes = BigInt(this.data.bytes)
    const offset = BigInt(this.offset)
    switch (protocol) {
      case "eager":
        return deliveryComplete
          ? { ...message, protocol, deliveryComplete, sendId }
          : { ...message, protocol, deliveryComplete }
      case "medium":
        return deliveryComplete
          ? { ...message, protocol, deliveryComplete, sendId, messageBytes, offset }
          : { ...message, protocol, deliveryComplete, messageBytes, offset }
      case "longCts": {
        const creditRequest = rdm.settings.credits
        const { afterNack } = this
        return { ...message, protocol, deliveryComplete, messageBytes, sendId, creditRequest, afterNack }
      }
      case "longRead":
        return { ...message, protocol, deliveryComplete: false, messageBytes, sendId, sources }
      case "runtRead": {
        const runtBytes = BigInt(this.goal)
        return { ...message, protocol, deliveryComplete: false, messageBytes, sendId, sources, offset, runtBytes }
      }
    }
  }

  protected fillRequest(slot: Slot): void {
    const { protocol } = this
    const most = this.afterNack ? 0 : this.goal - this.offset
    this.offset += this.writeRequest(slot, this.header(protocol), most)
    const several = protocol === "medium" || protocol === "runtRead"
    this.requestPending = several && this.offset < this.goal
    this.allowed = this.offset
  }

  override handleReadNack(): boolean {
    if ((this.protocol !== "longRead" && this.protocol !== "runtRead") || this.requestPending) return false
    this.protocol = "longCts"
    this.sendInstead(this.options.deliveryComplete)
    return true
  }
}
