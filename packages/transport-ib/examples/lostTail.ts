// A message of 2,500 bytes over a wire that loses its last packet. The engines know neither wire nor clock: `EnginePair`
// is the world here, with a microsecond each way.
import { EnginePair } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import { type ControllerFactory, makeAck, NEVER } from "@rdmakit/protocol"
import { type RcAddress, RcQueuePair, rcConfig } from "@rdmakit/transport-ib"

/** Line rate, whatever happens. */
const lineRate: ControllerFactory = {
  name: "line-rate",
  needs: [],
  make: (_now, { lineRateBps }) => ({
    window: Number.POSITIVE_INFINITY,
    rate: lineRateBps,
    nextTimer: NEVER,
    onSent: () => {},
    onAck: () => false,
    onCnp: () => false,
    onLoss: () => false,
    onTimer: () => false,
    metrics: () => ({}),
  }),
}

const config = rcConfig({ controller: lineRate, ackTimeoutPs: 500e6 })
const ack = makeAck(1)
const path = {
  lineRateBps: 100e9,
  baseRttPs: 2e6,
  windowBytes: 0,
  mtuBytes: config.mtuBytes,
  timeModulusPs: Number.POSITIVE_INFINITY,
  bytesModulus: Number.POSITIVE_INFINITY,
  flow: 0,
  seed: 1,
}
const here: RcAddress = { node: 0, peer: 1, udpPort: 49152, peerUdpPort: 4791, priority: 3, flow: 0, path }
const there: RcAddress = { node: 1, peer: 0, udpPort: 4791, peerUdpPort: 49152, priority: 3, flow: 1, path: undefined }
const requester = new RcQueuePair(0, config, ack, here)
const responder = new RcQueuePair(0, config, ack, there)

const pair = new EnginePair({
  pool: new PacketPool(),
  ends: [requester, responder],
  path: ({ from, ordinal }) => (from === 0 && ordinal === 2 ? [] : [1e6]),
})
pair.command(0, { message: 42, writeBytes: 2500 })
pair.run()

/** PSNs as they were sent: 0, 1, the lost 2, and 2 again after the timeout. */
export const sentPsns = pair.sent.filter(({ from }) => from === 0).map(({ psn }) => psn)
/** `{ type: "completed", message: 42, bytes: 2500 }` and when, 500 µs and two round trips after the start. */
export const completion = pair.events[0]?.event
export const receivedBytes = responder.bytesReceived
