import { Flag, Opcode } from "../../../packages/packet/src/index.ts"
import { formatIpv4 } from "../../../packages/wire/src/Address.ts"
import { type Dialect, hex, macText, pfcFields, pfcTexts, timeText } from "./Dialect.ts"

const NETWORK = 0x0b000001

const lineOf: Dialect["lineOf"] = (world, now, node, packet) => {
  const time = timeText(now)
  const { opcode, priority } = packet
  if (opcode === Opcode.Pfc)
    return [time, 60, macText(node), ...Array(9).fill(""), "", "", ...pfcTexts(packet), "", ""].join("\t")
  const isFirst = opcode === Opcode.WriteFirst || opcode === Opcode.WriteOnly
  const isReply = opcode >= Opcode.Acknowledge
  const nak = opcode === Opcode.NakSequence
  const payload = packet.payloadBytes + (-packet.payloadBytes & 3)
  const port = (packet.flow & 1) === 0 ? packet.udpPorts & 0xffff : packet.udpPorts >>> 16
  return [
    time,
    Math.max(60, 14 + 20 + 8 + 12 + 4 + payload + (isFirst ? 16 : 0) + (isReply ? 4 : 0)),
    macText(node),
    formatIpv4(NETWORK + packet.source * 256),
    formatIpv4(NETWORK + packet.destination * 256),
    255 - packet.hop,
    hex((priority << 5) | packet.ecn, 2),
    0xc000 | (port & 0x3fff),
    isReply ? 0x11 : opcode,
    packet.psn,
    hex(0x100 + (packet.flow ^ 1), 6),
    packet.has(Flag.AckRequest) ? "1" : "0",
    isReply ? (nak ? 3 : 0) : "",
    isFirst ? world.flows.bytes[packet.flow >> 1] : "",
    ...["", "", "", ""],
  ].join("\t")
}

/** Packets of reliable connections. */
export const roceDialect: Dialect = {
  fields: [
    ...["frame.time_epoch", "frame.len", "eth.src", "ip.src", "ip.dst", "ip.ttl", "ip.dsfield", "udp.srcport"],
    ...["infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "infiniband.bth.a"],
    ...["infiniband.aeth.syndrome.opcode", "infiniband.reth.dmalen", ...pfcFields],
    ...["_ws.malformed", "_ws.expert.message"],
  ],
  options: ["tftp", "rpcordma", "smb_direct", "nvme-rdma"].flatMap((name) => ["--disable-protocol", name]),
  lineOf,
}
