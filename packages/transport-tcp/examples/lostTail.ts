// Ten segments through a network that loses the last four of them. The engines know neither wire nor clock: `EnginePair`
// is the world here, with 10 µs each way.
import { EnginePair } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import { type ControllerFactory, type FlowAddress, makeAck, unpaced } from "@rdmakit/protocol"
import { TcpEndpoint, tcpConfig } from "@rdmakit/transport-tcp"

/** A window of 20,000 bytes, whatever happens; CUBIC is in a package of its own. */
const fixed: ControllerFactory = {
  name: "fixed",
  needs: [],
  make: (_now, { lineRateBps }) => ({ ...unpaced, window: 20_000, rate: lineRateBps }),
}

const config = tcpConfig({ controller: fixed, mtuBytes: 1000 })
const ack = makeAck(1)
const path = {
  lineRateBps: 10e9,
  baseRttPs: 20e6,
  windowBytes: 0,
  mtuBytes: 1000,
  timeModulusPs: Number.POSITIVE_INFINITY,
  bytesModulus: Number.POSITIVE_INFINITY,
  flow: 0,
  seed: 1,
}
const here: FlowAddress = { node: 0, peer: 1, udpPort: 50_000, peerUdpPort: 5001, priority: 0, flow: 0, path }
const there: FlowAddress = {
  node: 1,
  peer: 0,
  udpPort: 5001,
  peerUdpPort: 50_000,
  priority: 0,
  flow: 1,
  path: undefined,
}
const sender = new TcpEndpoint(0, config, ack, here)
const receiver = new TcpEndpoint(0, config, ack, there)

const pair = new EnginePair({
  pool: new PacketPool(),
  ends: [sender, receiver],
  path: ({ from, ordinal }) => (from === 0 && ordinal >= 6 && ordinal < 10 ? [] : [10e6]),
})
pair.command(0, { message: 42, writeBytes: 10_000 })
pair.run()

/** One probe found what was lost; no timeout of 200 ms. */
export const { probes, timeouts, retransmissions } = sender
/** `{ type: "completed", message: 42, bytes: 10000 }` and when, ps. */
export const completion = pair.events[0]?.event
export const receivedBytes = receiver.bytesReceived
