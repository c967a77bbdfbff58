import { flowSuite } from "@rdmakit/conformance"
import type { TcpTransportOptions } from "../src/index.ts"
import { endsOf } from "./connection.ts"

const underTest = (name: string, options: Partial<TcpTransportOptions> = {}) =>
  flowSuite(
    name,
    (now) => endsOf(now, { leastTimeoutPs: 1e9, initialTimeoutPs: 10e9, delayedAckPs: 1e8, ...options }),
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
