import { exactTelemetry, Flag, int64Telemetry, Opcode, type Packet, PacketPool } from "@rdmakit/packet"
import fc from "fast-check"

/** What one packet is, in words. */
export interface Said {
  readonly opcode: number
  readonly source: number
  readonly destination: number
  readonly flow: number
  readonly psn: number
  readonly priority: number
  readonly ecn: number
  readonly hop: number
  readonly payloadBytes: number
  readonly port: number
  readonly ackRequest: boolean
  readonly echo: boolean
  readonly solicited: boolean
  readonly pause: boolean
  /** Time ps, bytes sent, queue, rate code. */
  readonly hops: ReadonlyArray<readonly [number, number, number, number]>
  readonly pathId: number
  readonly pint: number
}

export const RATES = [25e9, 50e9, 100e9, 200e9, 400e9]

export const makePool = (multi?: number): PacketPool =>
  new PacketPool({
    telemetryHops: 5,
    telemetryFormat: multi === undefined ? exactTelemetry : int64Telemetry(multi),
    telemetryRates: RATES,
  })

export const isData = (opcode: number): boolean => opcode < Opcode.Acknowledge
const withPayload = (opcode: number): boolean => isData(opcode) && opcode !== Opcode.ReadRequest

/** A packet as the simulator could have it. */
export const anySaid: fc.Arbitrary<Said> = fc
  .record({
    opcode: fc.constantFrom(...Object.values(Opcode)),
    source: fc.nat(0xffff),
    destination: fc.nat(0xffff),
    flow: fc.nat(2 ** 24 - 0x101),
    psn: fc.nat(2 ** 24 - 1),
    priority: fc.nat(7),
    ecn: fc.nat(3),
    hop: fc.nat(254),
    payloadBytes: fc.oneof(fc.nat(9), fc.nat(4200)),
    port: fc.nat(0xffff),
    ackRequest: fc.boolean(),
    echo: fc.boolean(),
    solicited: fc.boolean(),
    pause: fc.boolean(),
    hops: fc.array(fc.tuple(fc.nat(2 ** 31 - 1), fc.nat(2 ** 31 - 1), fc.nat(2 ** 22), fc.nat(4)), { maxLength: 5 }),
    pathId: fc.nat(0xfff),
    pint: fc.integer({ min: -1, max: 0xffff }),
  })
  .map((said) => ({ ...said, payloadBytes: withPayload(said.opcode) ? said.payloadBytes : 0 }))

/** Makes it in a pool. */
export const make = (packet: Packet, said: Said, telemetry: "none" | "int" | "pint"): Packet => {
  packet.at(packet.pool.alloc())
  const flags =
    (said.ackRequest ? Flag.AckRequest : 0) |
    (said.echo ? Flag.CongestionEcho : 0) |
    (said.solicited ? Flag.Solicited : 0) |
    (said.pause ? Flag.Pause : 0)
  packet.meta = said.opcode | flags | (said.priority << 24) | (said.ecn << 28)
  packet.setNodes(said.source, said.destination)
  packet.flow = said.flow
  packet.psn = said.psn
  packet.hop = said.hop
  packet.payloadBytes = said.payloadBytes
  packet.udpPorts = ((said.flow & 1) === 0 ? said.port | (4791 << 16) : 4791 | (said.port << 16)) >>> 0
  if (said.opcode === Opcode.Pfc || telemetry === "none") return packet
  if (telemetry === "pint" && said.pint >= 0) packet.pint = said.pint
  if (telemetry === "int") {
    packet.addTelemetry()
    said.hops.forEach(([time, sent, queue, code], index) => {
      packet.stampHop(time, sent, queue, code, index === 0 ? said.pathId : 0)
    })
  }
  return packet
}

/** What octets can tell of a packet. */
export const told = (packet: Packet) => {
  const { opcode, priority } = packet
  if (opcode === Opcode.Pfc) return { opcode, priority, pause: packet.has(Flag.Pause) }
  const out = new Float64Array(4 * 127)
  const hops = packet.readTelemetry(out)
  return {
    opcode,
    priority,
    source: packet.source,
    destination: packet.destination,
    flow: packet.flow,
    psn: packet.psn,
    ecn: packet.ecn,
    hop: packet.hop,
    payloadBytes: packet.payloadBytes,
    port: ((packet.flow & 1) === 0 ? packet.udpPorts : packet.udpPorts >>> 16) & 0x3fff,
    ackRequest: packet.has(Flag.AckRequest),
    echo: opcode !== Opcode.Cnp && packet.has(Flag.CongestionEcho),
    solicited: packet.has(Flag.Solicited),
    hops: [...out.subarray(0, 4 * hops)],
    pathId: packet.pathId,
    pint: packet.pint,
  }
}
