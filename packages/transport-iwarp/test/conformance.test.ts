import { transportSuite } from "@rdmakit/conformance"
import type { FlowCommand, FlowEvent } from "@rdmakit/protocol"
import type { IwarpFlowOptions } from "../src/index.ts"
import { endsOf, type FlowEnd } from "./flows.ts"

const underTest = (name: string, options: Partial<IwarpFlowOptions> = {}) =>
  transportSuite<FlowCommand, FlowEvent, FlowEnd>(
    {
      name,
      connect: (now) => endsOf(now, { leastTimeoutPs: 1e9, initialTimeoutPs: 10e9, delayedAckPs: 1e8, ...options }),
      send: (message, writeBytes) => ({ message, writeBytes }),
      outcome: (event) => ({ message: event.message, completed: event.type === "completed" }),
      received: (end) => end.bytesReceived,
    },
    { failsWithinPs: 60e12 },
  )

underTest("iwarp, flows", { retryCount: 6 })
underTest("iwarp, flows in jumbo frames, SACK alone", { retryCount: 6, ipMtuBytes: 9000, lossDetection: "sack" })
underTest("iwarp, flows in the smallest packets, each acknowledged", { retryCount: 6, ipMtuBytes: 576, ackEvery: 1 })
