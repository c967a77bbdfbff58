import {
  FRAME_OVERHEAD_BYTES,
  type IntLayout,
  intRefusal,
  type Link,
  PAYLOAD_BYTES_MAX,
  RoceCodec,
  type RoceCodecOptions,
  TcpCodec,
  type TcpCodecOptions,
} from "@rdmakit/codec"
import type { World } from "@rdmakit/fabric"
import type { Packet } from "@rdmakit/packet"

/** A run whose packets cannot be written as octets. The message says why. */
export class CaptureRefused extends Error {
  readonly _tag = "CaptureRefused"
  /** It is the layout of telemetry that has no room. */
  readonly isTelemetry: boolean
  constructor(message: string, isTelemetry: boolean) {
    super(message)
    this.name = "CaptureRefused"
    this.isTelemetry = isTelemetry
  }
}

/** Writes the packets of a world as frames. */
export interface FrameCodec {
  /** Octets of the longest frame. */
  readonly frameBytesMax: number
  /** Writes a packet as it is on a link, and returns the first octet after it. */
  readonly encode: (packet: Packet, link: Link, octets: Uint8Array) => number
}

const IP_BYTES_MAX = 0xffff

/** The codec that the transport of a world names. @throws CaptureRefused */
export const frameCodec = (world: World, telemetry: IntLayout, crc: RoceCodecOptions["crc"]): FrameCodec => {
  const { name, octets } = world.parts.transport
  if (octets === undefined) {
    const known = "those of rc, tcp, iwarp and erdma can be written"
    throw new CaptureRefused(`flows of ${name} have no octets, only sizes: ${known}`, false)
  }
  return octets.protocol === "roce" ? roceCodec(world, telemetry, crc) : tcpCodec(world, telemetry, octets)
}

const roceCodec = ({ kernel, flows, parts }: World, telemetry: IntLayout, crc: RoceCodecOptions["crc"]): FrameCodec => {
  const { mtuBytes } = parts.transport
  if (mtuBytes > PAYLOAD_BYTES_MAX) {
    const most = `IPv4 has room for ${PAYLOAD_BYTES_MAX} beside RoCEv2's headers`
    throw new CaptureRefused(`packets of ${mtuBytes} B of payload: ${most}`, false)
  }
  const reason = intRefusal(kernel.pool, telemetry)
  if (reason !== undefined) throw new CaptureRefused(reason, true)
  const codec = new RoceCodec({
    telemetry,
    messages: { bytesOf: (flow) => flows.bytes[flow]!, mtuBytes },
    ...(crc === undefined ? {} : { crc }),
  })
  return {
    frameBytesMax: mtuBytes + FRAME_OVERHEAD_BYTES,
    encode: (packet, link, octets) => codec.encode(packet, link, octets),
  }
}

const tcpCodec = (
  { flows, parts }: World,
  telemetry: IntLayout,
  { fpdu, tunnel }: Pick<TcpCodecOptions, "fpdu" | "tunnel">,
): FrameCodec => {
  const { name, mtuBytes } = parts.transport
  if (telemetry !== "none") {
    throw new CaptureRefused(`the layout "${telemetry}" is of RoCEv2, and packets of ${name} are TCP's`, true)
  }
  const codec = new TcpCodec({
    flows: {
      bytesOf: (flow) => flows.bytes[flow]!,
      sourcePortOf: (flow) => flows.sourcePort[flow]!,
      destinationPortOf: (flow) => flows.destinationPort[flow]!,
    },
    mtuBytes,
    fpdu,
    tunnel,
  })
  if (codec.ipBytesMax > IP_BYTES_MAX) {
    const all = `${codec.ipBytesMax} B with their headers, and IPv4 has room for ${IP_BYTES_MAX}`
    throw new CaptureRefused(`packets of ${mtuBytes} B of payload: ${all}`, false)
  }
  return { frameBytesMax: codec.frameBytesMax, encode: (packet, link, octets) => codec.encode(packet, link, octets) }
}
