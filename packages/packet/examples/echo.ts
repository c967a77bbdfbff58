import { Ecn, Flag, int64Telemetry, Opcode, Packet, PacketPool } from "@rdmakit/packet"

const pool = new PacketPool({
  limit: 1024,
  telemetryHops: 5,
  telemetryFormat: int64Telemetry(4),
  telemetryRates: [100e9, 400e9],
})
const packet = new Packet(pool)

// A sender fills in a request...
packet.at(pool.alloc())
packet.meta = Opcode.WriteOnly | Flag.Telemetry | (3 << 24) | (Ecn.Capable0 << 28)
packet.setNodes(0, 9)
packet.wireBytes = 1090
packet.payloadBytes = 1000
packet.stamp = 5_000_000
packet.addTelemetry()

// ...two switches stamp it...
packet.stampHop(6_087_200, 10_900, 0, 0, 320)
packet.stampHop(7_109_000, 2_180_000, 54_500, 1, 340)

// ...and the receiver's answer, in the place of the request, carries the telemetry back.
const telemetry = packet.detachTelemetry()
const { pathId, stamp } = packet
pool.recycle(packet.handle)
packet.opcode = Opcode.Acknowledge
packet.setNodes(9, 0)
packet.stamp = stamp
packet.attachTelemetry(telemetry, pathId)

const hops = new Float64Array(4 * 5)
const count = packet.readTelemetry(hops)
export const report = Array.from({ length: count }, (_, hop) => [...hops.subarray(4 * hop, 4 * hop + 4)])

pool.release(packet.handle)
export const alive = pool.alive
