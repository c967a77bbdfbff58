import { EfaRdmFeature, type EfaRdmHandshake } from "@rdmakit/wire/efa-rdm"
import type { DatagramStatus } from "./Datagram.ts"
import { Fifo } from "./Fifo.ts"
import type { Incoming } from "./Incoming.ts"
import type { StoredPacket, Unexpected } from "./Matcher.ts"
import type { MessageReceive } from "./MessageReceive.ts"
import type { Rdm } from "./Rdm.ts"
import { ReorderWindow } from "./ReorderWindow.ts"
import { Sendable, type Slot } from "./Transmitter.ts"

/** What an operation that waits for a handshake does when it is there. */
export interface Waiting {
  readonly begin: () => void
}

/** Another endpoint: what is known of it, and the order of its messages. It sends its handshake itself. */
export class Peer extends Sendable {
  readonly urgent = true
  readonly number: number
  /** `extra_info[0]` of its handshake; undefined until it is here. */
  features: bigint | undefined = undefined
  /** Its connection, once it has said so. */
  connid: number | undefined = undefined
  reachable = true
  /** A request has gone to it, which it answers with a handshake. */
  requestSent = false
  /** Messages and atomics of this side so far. */
  nextMessage = 0
  /** Packets ahead of their turn were stopped for want of room. */
  stalled = false
  readonly reorder: ReorderWindow<StoredPacket>
  /** What may not be sent before the handshake, and what would overtake it. */
  readonly waiting = new Fifo<Waiting>()
  /** Messages of several requests that are not all here, by message number. */
  readonly assembling = new Map<number, MessageReceive | Unexpected>()
  /** Messages that could not be read, and come by long-CTS; by message number. */
  readonly refused = new Map<number, MessageReceive>()
  /** Receives it has matched, in that order, until their completion is told. */
  readonly deliveries = new Fifo<Incoming>()

  private readonly rdm: Rdm
  private greeted = false
  private owesHandshake = false
  private owesProbe = false

  constructor(rdm: Rdm, number: number) {
    super()
    this.rdm = rdm
    this.number = number
    this.reorder = new ReorderWindow(rdm.settings.receiveWindow)
  }

  /** Whether its handshake says so; false while there is none. */
  can(feature: bigint): boolean {
    return ((this.features ?? 0n) & feature) !== 0n
  }

  /** Its first packet came: it is told what this side can do, once. */
  greet(): void {
    if (this.greeted) return
    this.greeted = true
    this.owesHandshake = true
    this.rdm.transmitter.schedule(this)
  }

  /** Makes it send its handshake: a write of nothing, unless a request is on its way (`efa_rdm_ep_trigger_handshake`). */
  probe(): void {
    if (this.requestSent || this.features !== undefined) return
    this.owesProbe = true
    this.rdm.transmitter.schedule(this)
  }

  handleHandshake({ extraInfo }: EfaRdmHandshake): void {
    this.features = extraInfo[0]!
    for (let each = this.waiting.shift(); each !== undefined; each = this.waiting.shift()) each.begin()
  }

  get hasPacket(): boolean {
    return (this.owesHandshake || this.owesProbe) && this.reachable
  }

  fill(slot: Slot): void {
    const { rdm } = this
    if (this.owesHandshake) {
      this.owesHandshake = false
      rdm.write(slot, this, {
        kind: "handshake",
        extraInfo: [featuresOf(rdm)],
        connid: rdm.settings.address.connid,
        hostId: undefined,
        deviceVersion: undefined,
        userReceive: undefined,
      })
      return
    }
    this.owesProbe = false
    this.requestSent = true
    const options = rdm.optionsFor(this, undefined)
    rdm.write(slot, this, { kind: "write", ...options, protocol: "eager", deliveryComplete: false, targets: [] })
  }

  handleDone(_slot: Slot, status: DatagramStatus): void {
    if (status === "unreachable") this.rdm.lose(this)
  }
}

/** What this side can do and asks for. */
const featuresOf = ({ settings }: Rdm): bigint =>
  EfaRdmFeature.ConnidHeader |
  EfaRdmFeature.ReadNack |
  (settings.rdmaRead ? EfaRdmFeature.RdmaRead : 0n) |
  (settings.rdmaWrite ? EfaRdmFeature.RdmaWrite : 0n) |
  (settings.deliveryComplete ? EfaRdmFeature.DeliveryComplete : 0n) |
  (settings.runtRead ? EfaRdmFeature.RuntRead : 0n)
