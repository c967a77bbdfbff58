// 50 MB over 100 Gb/s and 12 µs there and back, through a network of sixteen ways. After a millisecond one of them is dead,
// and nobody says so. The engines know neither wire nor clock: `EnginePair` is the world here.
import { EnginePair } from "@rdmakit/conformance"
import { Opcode, PacketPool } from "@rdmakit/packet"
import type { ControllerFactory, FlowAddress } from "@rdmakit/protocol"
import { unpaced } from "@rdmakit/protocol"
import { srdConfig, srdFlows } from "@rdmakit/transport-srd"

/** Line rate and a window of 1.2 bandwidth-delay products: what `cc-srd` would come to, alone. */
const steady: ControllerFactory = {
  name: "steady",
  needs: [],
  make: (_now, { lineRateBps, windowBytes }) => ({ ...unpaced, rate: lineRateBps, window: 1.2 * windowBytes }),
}

const transport = srdFlows(srdConfig({ controller: steady }))
const open = transport.open(1)
const path = {
  lineRateBps: 100e9,
  baseRttPs: 12e6,
  windowBytes: 150_000,
  mtuBytes: transport.mtuBytes,
  timeModulusPs: Number.POSITIVE_INFINITY,
  bytesModulus: Number.POSITIVE_INFINITY,
  flow: 0,
  seed: 1,
}
const address = (node: number): FlowAddress => ({
  node,
  peer: 1 - node,
  udpPort: 50_000 + node,
  peerUdpPort: 50_001 - node,
  priority: 0,
  flow: node,
  path: node === 0 ? path : undefined,
})

let port = 0
/** Packets of data after the first millisecond, and those of them that went into the dead way. */
export const packets = { all: 0, lost: 0 }
const pair = new EnginePair({
  pool: new PacketPool(),
  ends: [open(0, address(0)), open(0, address(1))],
  onWay: (packet) => {
    port = packet.udpPorts & 0xffff
  },
  path: ({ time, opcode }) => {
    const isDead = time >= 1e9 && port % 16 === 5
    if (time >= 1e9 && opcode < Opcode.Acknowledge) {
      packets.all++
      if (isDead) packets.lost++
    }
    return isDead ? [] : [6e6]
  },
})
pair.command(0, { message: 0, writeBytes: 50_000_000 })
pair.run()

/** Octets of the message that arrived in a second, as a share of the line's. */
export const goodput = (50_000_000 * 8e12) / pair.events[0]!.time / 100e9
