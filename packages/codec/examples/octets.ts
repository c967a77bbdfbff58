import { RoceCodec } from "@rdmakit/codec"
import { Flag, Opcode, Packet, PacketPool } from "@rdmakit/packet"

// The first packet of a WRITE of 1 MB, flow 3 of a run, as host 1 sends it to switch 16.
const pool = new PacketPool()
const packet = new Packet(pool).at(pool.alloc())
packet.meta = Opcode.WriteFirst | Flag.AckRequest | (3 << 24)
packet.setNodes(1, 2)
packet.flow = 6
packet.udpPorts = 0xc001 | (4791 << 16)
packet.payloadBytes = 1000

const codec = new RoceCodec({ messages: { bytesOf: () => 1_000_000, mtuBytes: 1000 } })
const octets = new Uint8Array(1500)
export const bytes = codec.encode(packet, { from: 1, to: 16 }, octets)

// And back: what the octets say of the packet, and of its message.
const copy = new Packet(pool).at(pool.alloc())
const decoded = codec.decode(octets.subarray(0, bytes), copy)
if (!decoded.ok) throw decoded.error
export const report = { to: copy.destination, flow: copy.flow, psn: copy.psn, messageBytes: decoded.messageBytes }
