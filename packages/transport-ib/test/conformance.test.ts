import { transportSuite } from "@rdmakit/conformance"
import { type FlowCommand, type FlowEvent, makeAck, NEVER } from "@rdmakit/protocol"
import { makeQueuePair, type RcOptions, type RcRequester, rcConfig } from "../src/index.ts"
import { fixedController, path } from "./connection.ts"

const underTest = (name: string, options: Partial<RcOptions>, mtuBytes: number) => {
  const config = rcConfig({ controller: fixedController({}), telemetry: true, mtuBytes, ...options })
  const ack = makeAck(1)
  return {
    name,
    connect: (now: number) =>
      [0, 1].map((end) => {
        const [node, peer] = end === 0 ? [3, 5] : [5, 3]
        return makeQueuePair(now, config, ack, {
          node,
          peer,
          udpPort: 7,
          peerUdpPort: 9,
          priority: 3,
          flow: end,
          path,
        })
      }) as [RcRequester, RcRequester],
    send: (message: number, writeBytes: number): FlowCommand => ({ message, writeBytes }),
    outcome: ({ message, type }: FlowEvent) => ({ message, completed: type === "completed" }),
    received: (end: RcRequester) => end.bytesReceived,
  }
}

// Seven timeouts of 67 ms are survived, the eighth is the end.
const expectations = { failsWithinPs: 8.1 * 67.1e9 }

transportSuite(underTest("a reliable connection", {}, 1024), expectations)
transportSuite(
  underTest("… with small packets and a window of two", { controller: fixedController({ window: 128 }) }, 64),
  expectations,
)
transportSuite(underTest("… that acknowledges every fourth packet", { ackEvery: 4 }, 256), expectations)
transportSuite(
  underTest(
    "… in the way of the ns-3 model, with a timeout",
    { ackDuplicates: false, ns3AckBytes: 1, ns3AckChunkBytes: 4000, nakIntervalPs: 500e6, ackTimeoutPs: 4e9 },
    1000,
  ),
  { failsWithinPs: 8.1 * 4e9 },
)
transportSuite(underTest("… without a timeout", { ackTimeoutPs: NEVER }, 1024), { recovers: false })
transportSuite(underTest("… whose receiver is silent about gaps", { recovery: "timeout" }, 1024), expectations)
transportSuite(
  underTest("… that begins again in parts of two packets", { recovery: "go-back-0", restartBytes: 2048 }, 1024),
  expectations,
)

const selective: Partial<RcOptions> = { recovery: "selective-repeat", bdpPackets: 20 }
// Eight timeouts of 100 µs, or of 320 with more than three packets out.
const selectiveExpectations = { failsWithinPs: 8.1 * 320e6 }

transportSuite(underTest("selective repeat", selective, 1024), selectiveExpectations)
transportSuite(underTest("… with small packets", { ...selective, bdpPackets: 110 }, 64), selectiveExpectations)
transportSuite(
  underTest("… with one packet in flight", { ...selective, bdpPackets: 1, reorderPackets: 1 }, 256),
  selectiveExpectations,
)
transportSuite(
  underTest(
    "… with a controller's window of two packets",
    { ...selective, controller: fixedController({ window: 128 }) },
    64,
  ),
  selectiveExpectations,
)
transportSuite(
  underTest("… that acknowledges every fourth packet", { ...selective, ackEvery: 4 }, 256),
  selectiveExpectations,
)
transportSuite(
  underTest("… of a path's own bandwidth-delay product", { recovery: "selective-repeat" }, 100),
  selectiveExpectations,
)
