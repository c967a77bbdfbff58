import { formatIpv4, parseIpv4Address } from "@rdmakit/wire/address"
import { decode, nodeOf } from "@rdmakit/wire/decode"
import { fieldsOf } from "@rdmakit/wire/fields"
import { acknowledgement, Operation, Service } from "@rdmakit/wire/infiniband"
import { buildRoce, connectionSourcePort, type RocePacket, rocePacketBytes } from "@rdmakit/wire/roce"

// An acknowledgement from its fields: lengths, checksums and the ICRC are filled in.
const packet: RocePacket = {
  carrier: {
    kind: "ipv4",
    ethernet: { destination: 0x5254_0000_0001, source: 0x5254_0000_0002, tags: [] },
    ip: {
      trafficClass: 0,
      identification: 1,
      dontFragment: true,
      ttl: 64,
      source: parseIpv4Address("10.0.0.2")!,
      destination: parseIpv4Address("10.0.0.1")!,
      options: new Uint8Array(0),
    },
    sourcePort: connectionSourcePort(0, 0x11, 0x11),
  },
  bth: {
    opcode: Service.Rc | Operation.Acknowledge,
    solicited: false,
    migrated: true,
    partition: 0xffff,
    fecn: false,
    becn: false,
    destinationQp: 0x11,
    ackRequest: false,
    psn: 7,
  },
  headers: { aeth: { syndrome: acknowledgement(), msn: 1 } },
  payload: new Uint8Array(0),
}
const octets = new Uint8Array(rocePacketBytes(packet))
buildRoce(packet, octets)

// A switch marks congestion and counts the time to live down: the ICRC stays right, the checksum of IP does not.
octets[15] = 3
octets[22] = 63
const nodes = decode(octets)
const ip = nodeOf(nodes, "ipv4")!
const aeth = nodeOf(nodes, "aeth")!

export const layers = nodes.map(({ format, start }) => `${format}@${start}`).join(" ")
export const source = formatIpv4(ip.value.source)
export const fault = ip.faults.map(({ field, offset }) => `${field} at ${offset}`)
export const icrc = nodeOf(nodes, "icrc")!.verdict
export const fields = fieldsOf(aeth, octets).map(({ name, bit, text }) => `${name} ${text} at bit ${bit}`)
