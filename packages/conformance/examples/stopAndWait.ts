// A transport of one's own, as small as one can be: each packet waits for the acknowledgement of the one before it.
// `flowSuite` says whether it keeps the contract, and tells its controller what it has to.
import { Ecn, Flag, Opcode, type Packet } from "@rdmakit/packet"
import {
  type Ack,
  type Controller,
  type ControllerFactory,
  type FlowAddress,
  type FlowCommand,
  type FlowEngine,
  type FlowEvent,
  type FlowTransport,
  type Framing,
  makeAck,
  NEVER,
  type Time,
  unpaced,
} from "@rdmakit/protocol"

const MTU_BYTES = 1000
const TIMEOUT_PS = 1e9
const RETRIES = 7
const framing: Framing = {
  name: "stop-and-wait",
  dataBytes: 48,
  telemetryBytes: 0,
  leastBytes: 64,
  ackBytes: 64,
  cnpBytes: 64,
  pfcBytes: 64,
}

export class StopAndWait implements FlowEngine {
  readonly node: number
  readonly priority: number
  readonly flow: number
  readonly controller: Controller
  readonly timers = undefined
  // Of the world and the NIC.
  port = 0
  place = -1
  rateChanged = false
  // What it has done.
  controllerActions = 0
  retransmissions = 0
  bytesAcknowledged = 0
  bytesReceived = 0
  // When it may send, and when it is to be woken.
  paceTime: Time = 0
  nextTimeout: Time = NEVER
  windowBound = false
  private readonly address: FlowAddress
  private readonly ack: Ack
  /** Messages that are not acknowledged; of the first one `offset` bytes are. */
  private readonly messages: Array<FlowCommand> = []
  private offset = 0
  private readonly events: Array<FlowEvent> = []
  /** The packet that is out, or is the next to leave; how often it left. */
  private number = 0
  private attempts = 0
  private failed = false
  /** As a receiver: the packet it waits for, and the answer that it owes. */
  private expected = 0
  private answer: { readonly number: number; readonly stamp: Time; readonly congestion: boolean } | undefined

  constructor(now: Time, factory: ControllerFactory, ack: Ack, address: FlowAddress) {
    this.address = address
    this.ack = ack
    this.node = address.node
    this.priority = address.priority
    this.flow = address.flow
    this.controller = address.path === undefined ? unpaced : factory.make(now, address.path)
  }

  get hasData(): boolean {
    return this.messages.length > 0
  }
  get controlPending(): boolean {
    return this.answer !== undefined
  }
  get nextSend(): Time {
    return this.hasData && !this.windowBound ? this.paceTime : NEVER
  }
  get finished(): boolean {
    return !this.hasData
  }
  get waitingFor(): string {
    return `packet ${this.number}`
  }
  get failure(): string {
    return `no acknowledgement of packet ${this.number}`
  }
  /** Bytes of the packet that is out, or is the next to leave. */
  private get size(): number {
    return Math.min(MTU_BYTES, this.messages[0]!.writeBytes - this.offset)
  }

  command(now: Time, command: FlowCommand): void {
    this.messages.push(command)
    if (this.failed) this.end(now, "flushed")
  }

  pollTransmit(now: Time, out: Packet): boolean {
    if (this.answer !== undefined) {
      const { number, stamp, congestion } = this.answer
      this.fill(out, Opcode.Acknowledge | (congestion ? Flag.CongestionEcho : 0), number, 0, framing.ackBytes)
      out.stamp = stamp
      this.answer = undefined
      return true
    }
    if (this.nextSend > now) return false
    const { size } = this
    const wireBytes = Math.max(framing.leastBytes, size + framing.dataBytes)
    this.fill(out, Opcode.SendOnly, this.number, size, wireBytes)
    out.stamp = now
    if (this.attempts++ > 0) this.retransmissions++
    this.windowBound = true
    this.nextTimeout = now + TIMEOUT_PS
    this.paceTime = now + Math.ceil((wireBytes * 8e12) / this.controller.rate)
    this.controller.onSent(now, size)
    return true
  }

  private fill(out: Packet, meta: number, number: number, payloadBytes: number, wireBytes: number): void {
    const { node, peer, udpPort, peerUdpPort, priority } = this.address
    out.meta = meta | (priority << 24) | (Ecn.Capable0 << 28)
    out.psn = number
    out.payloadBytes = payloadBytes
    out.wireBytes = wireBytes
    out.setNodes(node, peer)
    out.udpPorts = (udpPort | (peerUdpPort << 16)) >>> 0
    out.flow = this.flow
  }

  handlePacket(now: Time, packet: Packet): void {
    const { psn: number, stamp } = packet
    const congestion = packet.has(Flag.CongestionEcho) || packet.ecn === Ecn.Experienced
    if (packet.opcode < Opcode.Acknowledge) {
      if (number > this.expected) return
      if (number === this.expected) {
        this.expected++
        this.bytesReceived += packet.payloadBytes
      }
      this.answer = { number, stamp, congestion }
    } else if (this.windowBound && number === this.number) {
      this.acknowledged(now, now - stamp, congestion)
    }
  }

  private acknowledged(now: Time, rttPs: Time, congestion: boolean): void {
    const { ack, size } = this
    this.number++
    this.attempts = 0
    this.windowBound = false
    this.nextTimeout = NEVER
    this.offset += size
    this.bytesAcknowledged += size
    ack.sequence = this.bytesAcknowledged
    ack.sent = this.bytesAcknowledged
    ack.bytes = size
    ack.rttPs = rttPs
    ack.congestion = congestion
    if (this.offset === this.messages[0]!.writeBytes) this.end(now, "completed")
    if (this.controller.onAck(now, ack)) this.controllerActions++
  }

  private end(time: Time, type: FlowEvent["type"]): void {
    const { message } = this.messages.shift()!
    this.events.push({ type, time, message, bytes: this.offset })
    this.offset = 0
  }

  handleTimeout(now: Time): void {
    if (now < this.nextTimeout) return
    this.windowBound = false
    this.nextTimeout = NEVER
    if (this.attempts <= RETRIES) {
      if (this.controller.onLoss(now, true)) this.controllerActions++
      return
    }
    this.failed = true
    this.end(now, "failed")
    while (this.hasData) this.end(now, "flushed")
  }

  // A controller with timers of its own would have them run here.
  lendTimers(): void {}
  handleTimer(): void {}

  pollEvent(): FlowEvent | undefined {
    return this.events.shift()
  }
}

/** In a fabric: `Layer.succeed(Transport, stopAndWait)`. */
export const stopAndWait = (controller: ControllerFactory): FlowTransport => ({
  name: "stop-and-wait",
  mtuBytes: MTU_BYTES,
  framing,
  telemetry: false,
  open: (hops) => {
    const ack = makeAck(hops)
    return (now, address) => new StopAndWait(now, controller, ack, address)
  },
})
