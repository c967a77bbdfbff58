import { flowSuite, type TransportExpectations } from "@rdmakit/conformance"
import { makeAck, NEVER, type Time } from "@rdmakit/protocol"
import { makeQueuePair, type RcOptions, type RcRequester, rcConfig } from "../src/index.ts"
import { fixedController, path } from "./connection.ts"

const underTest = (
  name: string,
  options: Partial<RcOptions>,
  mtuBytes: number,
  expectations: TransportExpectations,
): void => {
  const config = rcConfig({ controller: fixedController({}), telemetry: true, mtuBytes, ...options })
  const ack = makeAck(1)
  const endOf = (now: Time, flow: number): RcRequester => {
    const [node, peer] = flow === 0 ? [3, 5] : [5, 3]
    return makeQueuePair(now, config, ack, { node, peer, udpPort: 7, peerUdpPort: 9, priority: 3, flow, path })
  }
  flowSuite(name, (now) => [endOf(now, 0), endOf(now, 1)], expectations)
}

// Seven timeouts of 67 ms are survived, the eighth is the end.
const expectations = { failsWithinPs: 8.1 * 67.1e9 }

underTest("a reliable connection", {}, 1024, expectations)
underTest(
  "… with small packets and a window of two",
  { controller: fixedController({ window: 128 }) },
  64,
  expectations,
)
underTest("… that acknowledges every fourth packet", { ackEvery: 4 }, 256, expectations)
underTest(
  "… in the way of the ns-3 model, with a timeout",
  { ackDuplicates: false, ns3AckBytes: 1, ns3AckChunkBytes: 4000, nakIntervalPs: 500e6, ackTimeoutPs: 4e9 },
  1000,
  { failsWithinPs: 8.1 * 4e9 },
)
underTest("… without a timeout", { ackTimeoutPs: NEVER }, 1024, { recovers: false })
underTest("… whose receiver is silent about gaps", { recovery: "timeout" }, 1024, expectations)
underTest("… that begins again in parts of two packets", { recovery: "go-back-0", restartBytes: 2048 }, 1024, {
  ...expectations,
  restarts: true,
})

const selective: Partial<RcOptions> = { recovery: "selective-repeat", bdpPackets: 20 }
// Eight timeouts of 100 µs, or of 320 with more than three packets out.
const selectiveExpectations = { failsWithinPs: 8.1 * 320e6 }

underTest("selective repeat", selective, 1024, selectiveExpectations)
underTest("… with small packets", { ...selective, bdpPackets: 110 }, 64, selectiveExpectations)
underTest("… with one packet in flight", { ...selective, bdpPackets: 1, reorderPackets: 1 }, 256, selectiveExpectations)
underTest(
  "… with a controller's window of two packets",
  { ...selective, controller: fixedController({ window: 128 }) },
  64,
  selectiveExpectations,
)
underTest("… that acknowledges every fourth packet", { ...selective, ackEvery: 4 }, 256, selectiveExpectations)
underTest("… of a path's own bandwidth-delay product", { recovery: "selective-repeat" }, 100, selectiveExpectations)
