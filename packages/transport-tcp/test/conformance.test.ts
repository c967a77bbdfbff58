import { transportSuite } from "@rdmakit/conformance"
import type { FlowCommand, FlowEvent } from "@rdmakit/protocol"
import type { TcpEndpoint, TcpTransportOptions } from "../src/index.ts"
import { endsOf } from "./connection.ts"

const underTest = (name: string, options: Partial<TcpTransportOptions> = {}) =>
  transportSuite<FlowCommand, FlowEvent, TcpEndpoint>(
    {
      name,
      connect: (now) => endsOf(now, { leastTimeoutPs: 1e9, initialTimeoutPs: 10e9, delayedAckPs: 1e8, ...options }),
      send: (message, writeBytes) => ({ message, writeBytes }),
      outcome: (event) => ({ message: event.message, completed: event.type === "completed" }),
      received: (end) => end.bytesReceived,
    },
    { failsWithinPs: 60e12 },
  )

underTest("tcp, RACK-TLP", { retryCount: 6 })
underTest("tcp, SACK alone", { retryCount: 6, lossDetection: "sack" })
underTest("tcp, each segment acknowledged, bursts of eight", { retryCount: 6, ackEvery: 1, offloadSegments: 8 })
underTest("tcp, recoveries that fill the window, no quick acknowledgements", {
  retryCount: 6,
  rateReduction: false,
  quickAcks: 0,
})
underTest("tcp, probes at any time, timeouts of 100 µs", {
  retryCount: 12,
  ackEvery: 1,
  delayedAckPs: 0,
  leastTimeoutPs: 1,
  granularityPs: 1e8,
  mostTimeoutPs: 1e12,
  probesInRecovery: true,
})
