import { flowSuite, transportSuite } from "@rdmakit/conformance"
import type { FlowCommand, FlowEvent } from "@rdmakit/protocol"
import type { TcpTransportOptions } from "@rdmakit/transport-tcp"
import type { IwarpFlowOptions } from "../src/index.ts"
import { endsOf } from "./flows.ts"
import { type IwarpOverTcp, overTcp } from "./overTcp.ts"

const underTest = (name: string, options: Partial<IwarpFlowOptions> = {}) =>
  flowSuite(
    name,
    (now) => endsOf(now, { leastTimeoutPs: 1e9, initialTimeoutPs: 10e9, delayedAckPs: 1e8, ...options }),
    { failsWithinPs: 60e12 },
  )

underTest("iwarp, flows", { retryCount: 6 })
underTest("iwarp, flows in jumbo frames, SACK alone", { retryCount: 6, ipMtuBytes: 9000, lossDetection: "sack" })
underTest("iwarp, flows in the smallest packets, each acknowledged", { retryCount: 6, ipMtuBytes: 576, ackEvery: 1 })

/** The octets of queue pairs, in a TCP whose packets are lost and overtake each other. */
const queuePairs = (name: string, options: Partial<TcpTransportOptions> = {}) =>
  transportSuite<FlowCommand, FlowEvent, IwarpOverTcp>(
    {
      name,
      connect: (now) => overTcp(now, { leastTimeoutPs: 1e9, initialTimeoutPs: 10e9, delayedAckPs: 1e8, ...options }),
      send: (message, writeBytes) => ({ message, writeBytes }),
      outcome: (event) => ({ message: event.message, completed: event.type === "completed" }),
      received: (end) => end.memory.remoteBytes,
    },
    { failsWithinPs: 60e12 },
  )

queuePairs("iwarp, queue pairs over TCP", { retryCount: 6 })
queuePairs("iwarp, queue pairs over TCP, small segments", { retryCount: 6, mtuBytes: 300, lossDetection: "sack" })
