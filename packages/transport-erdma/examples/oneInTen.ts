// 50 MB over 100 Gb/s and 12 µs there and back, where one packet in ten is lost, acknowledgements too. The engines know
// neither wire nor clock: `EnginePair` is the world here.
import { EnginePair } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import type { ControllerFactory, FlowAddress } from "@rdmakit/protocol"
import { unpaced } from "@rdmakit/protocol"
import { erdmaFlows } from "@rdmakit/transport-erdma"

/** Line rate and a window of 1.2 bandwidth-delay products, whatever is lost: what an HPCC settles at, alone. */
const steady: ControllerFactory = {
  name: "steady",
  needs: [],
  make: (_now, { lineRateBps, windowBytes }) => ({ ...unpaced, rate: lineRateBps, window: 1.2 * windowBytes }),
}

const transport = erdmaFlows({ controller: steady })
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

let draw = 1
const pair = new EnginePair({
  pool: new PacketPool(),
  ends: [open(0, address(0)), open(0, address(1))],
  path: () => {
    draw = (Math.imul(draw, 1664525) + 1013904223) >>> 0
    return draw < 0.1 * 2 ** 32 ? [] : [6e6]
  },
})
pair.command(0, { message: 0, writeBytes: 50_000_000 })
pair.run()

/** Octets of the message that arrived in a second, as a share of the line's. */
export const goodput = (50_000_000 * 8e12) / pair.events[0]!.time / 100e9
