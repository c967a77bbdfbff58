import type { IntLayout, RoceCodecOptions } from "@rdmakit/codec"
import type { World } from "@rdmakit/fabric"
import type { Packet } from "@rdmakit/packet"
import { type CaptureSink, numberOption, optionCodes, PcapngWriter, PcapWriter, textOption } from "@rdmakit/pcap"
import type { Time } from "@rdmakit/protocol"
import type { Tracer } from "@rdmakit/sim"
import type { Ports } from "@rdmakit/topology"
import { type FrameCodec, frameCodec } from "./frameCodec.ts"
import { portName, portWords } from "./portNames.ts"

export interface CaptureSettings {
  /** By their numbers in the world, each once. */
  readonly ports: ReadonlyArray<number>
  /** "pcap": a file for each port; "pcapng": one file, an interface for each port, each packet with its direction. */
  readonly format: "pcap" | "pcapng"
  readonly telemetry: IntLayout
}

/** Names of the files that a capture writes, by what they hold: `port-16-2.pcap`; `ports.pcapng`. */
export const captureFiles = (
  { ports: wanted, format }: CaptureSettings,
  ports: Ports,
): Readonly<Record<string, string>> =>
  format === "pcapng"
    ? { pcapng: "ports.pcapng" }
    : Object.fromEntries(wanted.map((port) => [`pcap ${portName(port, ports)}`, fileOf(port, ports)]))

const fileOf = (port: number, ports: Ports): string => `port-${portName(port, ports).replace(":", "-")}.pcap`

const LINK_TYPE_ETHERNET = 1
const INBOUND = 1
const OUTBOUND = 2

/**
 * Writes what some ports of a world send and receive, as it happens: frames of its transport and PFC, as `codec` makes them. A
 * frame that leaves has the time at which it begins to be sent, one that arrives that of its end, both rounded down to
 * nanoseconds. What is lost on a link was sent, and does not arrive. Make it before the run begins, finish it at its end.
 *
 * The run is the same with it, and slower: switches are asked about every packet.
 */
export class PortCapture implements Tracer {
  /** Frames written. */
  frames = 0
  private readonly world: World
  private readonly codec: FrameCodec
  /** Of each port of the world: its place among those that are written, or -1. */
  private readonly places: Int32Array
  private readonly writers: ReadonlyArray<{ readonly flush: () => void }>
  private readonly write: (place: number, timeNs: bigint, frame: Uint8Array, isInbound: boolean) => void
  private readonly octets: Uint8Array

  /**
   * @param open takes the octets of a file, by its name as `captureFiles` has it
   * @throws CaptureRefused
   */
  constructor(
    world: World,
    settings: CaptureSettings,
    open: (file: string) => CaptureSink,
    crc?: NonNullable<RoceCodecOptions["crc"]>,
  ) {
    this.world = world
    this.codec = frameCodec(world, settings.telemetry, crc)
    this.octets = new Uint8Array(this.codec.frameBytesMax)
    this.places = new Int32Array(world.ports.count).fill(-1)
    for (const [place, port] of settings.ports.entries()) this.places[port] = place
    const { writers, write } =
      settings.format === "pcap" ? pcapOf(world, settings, open) : pcapngOf(world, settings, open)
    this.writers = writers
    this.write = write
    const { kernel } = world
    const { tracer } = kernel
    kernel.tracer = tracer === undefined ? this : bothOf(tracer, this)
  }

  received(now: Time, port: number, packet: Packet): void {
    if (this.places[port]! >= 0) this.add(now, port, packet, true)
  }
  enqueued(): void {}
  dequeued(now: Time, port: number, _queue: number, packet: Packet): void {
    if (this.places[port]! >= 0) this.add(now, port, packet, false)
  }

  private add(now: Time, port: number, packet: Packet, isInbound: boolean): void {
    const { ports } = this.world
    const [here, there] = [ports.node[port]!, ports.peerNode(port)]
    const link = isInbound ? { from: there, to: here } : { from: here, to: there }
    const end = this.codec.encode(packet, link, this.octets)
    this.write(this.places[port]!, BigInt(Math.floor(now / 1000)), this.octets.subarray(0, end), isInbound)
    this.frames++
  }

  /** Hands on what is written so far. */
  finish(): void {
    for (const writer of this.writers) writer.flush()
  }
}

const pcapOf = ({ ports }: World, settings: CaptureSettings, open: (file: string) => CaptureSink) => {
  const writers = settings.ports.map(
    (port) => new PcapWriter({ linkType: LINK_TYPE_ETHERNET }, open(fileOf(port, ports))),
  )
  const write = (place: number, timeNs: bigint, frame: Uint8Array): void => writers[place]!.packet(timeNs, frame)
  return { writers, write }
}

const pcapngOf = ({ ports, parts }: World, settings: CaptureSettings, open: (file: string) => CaptureSink) => {
  const writer = new PcapngWriter({}, open(captureFiles(settings, ports).pcapng!))
  writer.section([textOption(optionCodes.section.application, "rdmakit")])
  const { name, description, speed } = optionCodes.interface
  for (const port of settings.ports) {
    const options = [
      textOption(name, portName(port, ports)),
      textOption(description, portWords(port, ports, parts.graph)),
      numberOption(speed, Math.round(ports.rateBps[port]!), 8),
    ]
    writer.interface({ linkType: LINK_TYPE_ETHERNET, options })
  }
  const [inbound, outbound] = [INBOUND, OUTBOUND].map((flags) => [numberOption(optionCodes.packet.flags, flags, 4)])
  const write = (place: number, timeNs: bigint, frame: Uint8Array, isInbound: boolean): void =>
    writer.packet(place, timeNs, frame, frame.length, isInbound ? inbound : outbound)
  return { writers: [writer], write }
}

/** A kernel has one tracer. */
const bothOf = (first: Tracer, second: Tracer): Tracer => ({
  received: (now, port, packet) => {
    first.received(now, port, packet)
    second.received(now, port, packet)
  },
  enqueued: (now, port, queue, packet) => {
    first.enqueued(now, port, queue, packet)
    second.enqueued(now, port, queue, packet)
  },
  dequeued: (now, port, queue, packet) => {
    first.dequeued(now, port, queue, packet)
    second.dequeued(now, port, queue, packet)
  },
  dropped: (now, port, queue, packet) => {
    first.dropped?.(now, port, queue, packet)
    second.dropped?.(now, port, queue, packet)
  },
})
