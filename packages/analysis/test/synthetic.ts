import { type PacketRecord, PcapWriter } from "@rdmakit/pcap"
import { parseIpv4Address } from "@rdmakit/wire/address"
import { crc32 } from "@rdmakit/wire/crc"
import { type Bth, type ExtendedHeaders, Operation, Service } from "@rdmakit/wire/infiniband"
import { buildRoce, rocePacketBytes } from "@rdmakit/wire/roce"
import { CaptureAnalysis, type Diagnosis, diagnose } from "../src/index.ts"
import { packetsOf } from "./capture.ts"

/** A frame that a test makes. */
export interface Frame {
  readonly timeNs: number
  readonly octets: Uint8Array
  readonly wireBytes?: number
}

const START_NS = 1_700_000_000_000_000_000n

/** The frames as a capture, read again. */
export const captured = (frames: ReadonlyArray<Frame>): ReadonlyArray<PacketRecord> => {
  const chunks: Array<Uint8Array> = []
  const writer = new PcapWriter({ linkType: 1 }, (octets) => chunks.push(octets))
  for (const { timeNs, octets, wireBytes } of frames) {
    writer.packet(START_NS + BigInt(Math.round(timeNs)), octets, wireBytes ?? octets.length)
  }
  writer.flush()
  return packetsOf(new Uint8Array(Buffer.concat(chunks)))
}

/** The packets of a capture as frames, to be changed. */
export const framesOf = (packets: ReadonlyArray<PacketRecord>): Array<Frame> => {
  const first = packets[0]!.timeNs!
  return packets.map((packet) => ({ timeNs: Number(packet.timeNs! - first), octets: packet.data.slice() }))
}

export interface RoceFields {
  readonly timeNs: number
  readonly from?: string
  readonly to?: string
  readonly operation: number
  readonly service?: number
  readonly qp?: number
  readonly psn?: number
  readonly payloadBytes?: number
  readonly headers?: Partial<ExtendedHeaders>
  readonly ipId?: number
  readonly ttl?: number
  readonly trafficClass?: number
  readonly bth?: Partial<Bth>
}

const NOTHING = new Uint8Array(0)

/** A packet of RoCEv2 with a right ICRC. */
export const roce = (fields: RoceFields): Frame => {
  const { from = "10.0.0.1", to = "10.0.0.2", service = Service.Rc, operation } = fields
  const packet = {
    carrier: {
      kind: "ipv4" as const,
      ethernet: { destination: 0x5254_0000_0002, source: 0x5254_0000_0001, tags: [] },
      ip: {
        trafficClass: fields.trafficClass ?? 0,
        identification: fields.ipId ?? 0,
        dontFragment: true,
        ttl: fields.ttl ?? 64,
        source: parseIpv4Address(from)!,
        destination: parseIpv4Address(to)!,
        options: NOTHING,
      },
      sourcePort: 0xc001,
    },
    bth: {
      opcode: service | operation,
      solicited: false,
      migrated: true,
      partition: 0xffff,
      fecn: false,
      becn: false,
      destinationQp: fields.qp ?? 0x11,
      ackRequest: false,
      psn: fields.psn ?? 0,
      ...fields.bth,
    },
    headers: fields.headers ?? {},
    payload: new Uint8Array(fields.payloadBytes ?? 0),
  }
  const octets = new Uint8Array(rocePacketBytes(packet))
  buildRoce(packet, octets)
  return { timeNs: fields.timeNs, octets }
}

/** From 10.0.0.2, queue pair 0x12 of 10.0.0.1. */
export const answer = (fields: RoceFields): Frame => roce({ from: "10.0.0.2", to: "10.0.0.1", qp: 0x12, ...fields })

/** A SEND of one packet. */
export const send = (timeNs: number, psn: number, more: Partial<RoceFields> = {}): Frame =>
  roce({ timeNs, psn, operation: Operation.SendOnly, payloadBytes: 64, ...more })

export const analysed = (packets: ReadonlyArray<PacketRecord>): CaptureAnalysis => {
  const analysis = new CaptureAnalysis(crc32)
  for (const packet of packets) analysis.packet(packet)
  return analysis
}

export const diagnosed = (packets: ReadonlyArray<PacketRecord>): Diagnosis => diagnose(analysed(packets))

export const kindsOf = ({ findings }: Diagnosis): ReadonlyArray<string> => findings.map(({ kind }) => kind).toSorted()
