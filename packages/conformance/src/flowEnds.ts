import type { ControllerFactory, FlowAddress, FlowEngine, FlowTransport, PathInfo, Time } from "@rdmakit/protocol"
import { unpaced } from "@rdmakit/protocol"

/**
 * Line rate and a window that stays as it is, bytes. `told` notes what it hears of losses: whether each was a timeout;
 * `sent` the bytes that it hears were sent.
 */
export const fixedWindow = (window: number, told: Array<boolean> = [], sent?: Array<number>): ControllerFactory => ({
  name: "fixed",
  needs: [],
  make: (_now, { lineRateBps }) => ({
    ...unpaced,
    window,
    rate: lineRateBps,
    onLoss: (_time, timeout) => {
      told.push(timeout)
      return false
    },
    ...(sent === undefined ? {} : { onSent: (_time: Time, bytes: number) => void sent.push(bytes) }),
  }),
})

/** One end of a flow between nodes 0 and 1: that of `node`. */
export const flowAddress = (node: number, path: PathInfo): FlowAddress => ({
  node,
  peer: 1 - node,
  udpPort: node === 0 ? 50_000 : 5001,
  peerUdpPort: node === 0 ? 5001 : 50_000,
  priority: 3,
  flow: node,
  path,
})

/** The two ends of a flow of a transport, which both may send. */
export const flowEnds = (transport: FlowTransport, now: Time, path: PathInfo): readonly [FlowEngine, FlowEngine] => {
  const open = transport.open(1)
  return [open(now, flowAddress(0, path)), open(now, flowAddress(1, path))]
}
