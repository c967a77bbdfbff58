import type { World } from "@rdmakit/fabric"
import { linkIp, nodeIp, type TrHeader, type TrSink, TrWriter, trEvents } from "@rdmakit/ns3"
import { Ecn, Flag, Opcode, type Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import type { Tracer } from "@rdmakit/sim"

const RECV = trEvents.indexOf("Recv")
const ENQUEUE = trEvents.indexOf("Enqu")
const DEQUEUE = trEvents.indexOf("Dequ")
const DROP = trEvents.indexOf("Drop")
const BROADCAST = 0xffffffff

export interface Ns3TracerOptions {
  readonly header: TrHeader
  readonly nodes: ReadonlyArray<number>
  readonly isSwitch: Uint8Array
  readonly payloadBytes: number
  /** TIMELY's packets carry the time they were sent; no others do. */
  readonly stamped: boolean
  /** PAUSE_TIME, µs: only ever seen in a trace. */
  readonly pauseUs: number
}

/** Writes a .tr trace of some nodes' packets, as the HPCC simulator does. */
export class Ns3Tracer implements Tracer {
  private readonly writer: TrWriter
  private readonly world: World
  private readonly options: Ns3TracerOptions
  private readonly traced: Uint8Array

  constructor(world: World, options: Ns3TracerOptions, sink: TrSink) {
    this.world = world
    this.options = options
    this.writer = new TrWriter(options.header, sink)
    this.traced = new Uint8Array(options.isSwitch.length)
    for (const node of options.nodes) {
      this.traced[node] = 1
      const nic = world.nic(node)
      if (nic !== undefined) nic.onControl = (now, port, packet) => this.enqueued(now, port, 0, packet)
    }
    world.kernel.tracer = this
  }

  /** Hands on what is written so far. */
  flush(): void {
    this.writer.flush()
  }

  received(now: Time, port: number, packet: Packet): void {
    if (this.traced[this.world.ports.node[port]!] === 1) this.write(now, port, 0, packet, RECV)
  }
  enqueued(now: Time, port: number, queue: number, packet: Packet): void {
    if (this.traced[this.world.ports.node[port]!] === 1) this.write(now, port, queue, packet, ENQUEUE)
  }
  dequeued(now: Time, port: number, queue: number, packet: Packet): void {
    if (this.traced[this.world.ports.node[port]!] === 1) this.write(now, port, queue, packet, DEQUEUE)
  }

  dropped(now: Time, port: number, queue: number, packet: Packet): void {
    if (this.traced[this.world.ports.node[port]!] === 1) this.write(now, port, queue, packet, DROP)
  }

  private write(now: Time, port: number, queue: number, packet: Packet, event: number): void {
    const { ports, kernel } = this.world
    const node = ports.node[port]!
    const onSwitch = this.options.isSwitch[node]!
    const queueBytes = onSwitch === 1 && event !== RECV ? kernel.queueBytesOf(port, queue) : 0
    const ns = now / 1000
    if (packet.opcode === Opcode.Pfc) this.pfc(ns, node, ports.iface[port]!, queueBytes, port, packet, event, onSwitch)
    else if (packet.opcode < Opcode.Acknowledge)
      this.data(ns, node, ports.iface[port]!, queue, queueBytes, packet, event, onSwitch)
    else this.reply(ns, node, ports.iface[port]!, queue, queueBytes, packet, event, onSwitch)
  }

  private data(
    ns: number,
    node: number,
    intf: number,
    queue: number,
    queueBytes: number,
    packet: Packet,
    event: number,
    onSwitch: number,
  ): void {
    const ports = packet.udpPorts
    this.writer.data(
      ns,
      node,
      intf,
      queue,
      queueBytes,
      nodeIp(packet.source),
      nodeIp(packet.destination),
      packet.wireBytes,
      event,
      packet.ecn === Ecn.Experienced ? 3 : 0,
      onSwitch,
      ports & 0xffff,
      ports >>> 16,
      packet.psn * this.options.payloadBytes,
      this.options.stamped ? packet.stamp / 1000 : 0,
      packet.priority,
      packet.payloadBytes,
    )
  }

  private reply(
    ns: number,
    node: number,
    intf: number,
    queue: number,
    queueBytes: number,
    packet: Packet,
    event: number,
    onSwitch: number,
  ): void {
    const ports = packet.udpPorts
    const nak = packet.opcode === Opcode.NakSequence
    // The simulator's sequence number is the next byte expected; an ACK's PSN is the last packet received.
    const packets = (packet.psn + (nak ? 0 : 1)) & 0xffffff
    const size = this.world.flows.bytes[packet.flow >> 1]!
    this.writer.ack(
      ns,
      node,
      intf,
      queue,
      queueBytes,
      nodeIp(packet.source),
      nodeIp(packet.destination),
      packet.wireBytes,
      event,
      packet.ecn === Ecn.Experienced ? 3 : 0,
      onSwitch,
      ports & 0xffff,
      ports >>> 16,
      packet.has(Flag.CongestionEcho) ? 1 : 0,
      packet.priority,
      Math.min(size, packets * this.options.payloadBytes),
      this.options.stamped ? packet.stamp / 1000 : 0,
      nak,
    )
  }

  private pfc(
    ns: number,
    node: number,
    intf: number,
    queueBytes: number,
    port: number,
    packet: Packet,
    event: number,
    onSwitch: number,
  ): void {
    // A frame's source is the address of the port it left by: this one, or the other end of the link it came over.
    const from = event === RECV ? port ^ 1 : port
    const ip = linkIp(from >> 1, (from & 1) as 0 | 1)
    const pauseUs = packet.has(Flag.Pause) ? this.options.pauseUs : 0
    this.writer.pfc(
      ns,
      node,
      intf,
      0,
      queueBytes,
      ip,
      BROADCAST,
      packet.wireBytes,
      event,
      0,
      onSwitch,
      pauseUs,
      packet.flow,
      packet.priority,
    )
  }
}
