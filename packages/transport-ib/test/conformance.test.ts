import { transportSuite } from "@rdmakit/conformance"
import { NEVER } from "@rdmakit/protocol"
import { makeAck, type RcCommand, type RcEvent, type RcOptions, RcQueuePair, rcConfig } from "../src/index.ts"
import { fixedController, path } from "./connection.ts"

const underTest = (name: string, options: Partial<RcOptions>, mtuBytes: number) => {
  const config = rcConfig({ controller: fixedController({}), telemetry: true, mtuBytes, ...options })
  const ack = makeAck(1)
  return {
    name,
    connect: (now: number) =>
      [0, 1].map((end) => {
        const [node, peer] = end === 0 ? [3, 5] : [5, 3]
        return new RcQueuePair(now, config, ack, {
          node,
          peer,
          udpPort: 7,
          peerUdpPort: 9,
          priority: 3,
          flow: end,
          path,
        })
      }) as [RcQueuePair, RcQueuePair],
    send: (message: number, writeBytes: number): RcCommand => ({ message, writeBytes }),
    outcome: ({ message, type }: RcEvent) => ({ message, completed: type === "completed" }),
    received: (end: RcQueuePair) => end.bytesReceived,
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
