import { Opcode, type Packet, PacketPool } from "@rdmakit/packet"
import type { Nic, Switch } from "@rdmakit/protocol"
import { ExactKernel, type Network } from "@rdmakit/sim"

// Host 0, switch 1, host 2: two links of 100 Gb/s and 1 us. Ports 0 and 1 are the ends of the first, 2 and 3 of the second.
const network: Network = {
  nodes: 3,
  ports: 4,
  isSwitch: Uint8Array.of(0, 1, 0),
  portNode: Int32Array.of(0, 1, 1, 2),
  rateBps: new Float64Array(4).fill(100e9),
  delayPs: new Float64Array(4).fill(1e6),
  lossRate: new Float64Array(4),
}
const pool = new PacketPool()
const kernel = new ExactKernel({
  network,
  pool,
  serializationPs: (bytes, rateBps) => (bytes * 8e12) / rateBps,
  wireBytesMax: 1500,
  pfcBytes: 64,
  hopsMax: 1,
})

// A switch is policy: where to, which queue, and what happens at departure.
const forward: Switch = {
  dequeue: "lazy",
  perPacket: false,
  route: (_now, packet) => (packet.destination === 2 ? 2 : 1),
  admit: (_now, packet) => packet.priority,
  dequeued: () => {},
}
kernel.switches[1] = forward

// So is a NIC: what to send when the port is idle, and what to do with what arrives.
let left = 3
export const arrivals: Array<string> = []
const nic: Nic = {
  pull: (now, port) => {
    if (port !== 0 || left === 0) return -1
    left--
    const packet = kernel.packet.at(pool.alloc())
    packet.opcode = Opcode.WriteOnly
    packet.priority = 3
    packet.setNodes(0, 2)
    packet.wireBytes = 1250
    packet.stamp = now
    return packet.handle
  },
  quiet: (port) => port !== 0 || left === 0,
  receive: (now, packet: Packet) => {
    arrivals.push(`sent at ${packet.stamp / 1000} ns, there at ${now / 1000} ns`)
    pool.release(packet.handle)
  },
  timer: () => {},
}
kernel.nics[0] = nic
kernel.nics[2] = nic

kernel.onCall = (now, port) => kernel.kick(now, port)
kernel.callAt(0, 0, 0)
while (kernel.run(1e9, 1000) > 0);
export const packetHops = kernel.packetHops
