import { transportSuite } from "@rdmakit/conformance"
import type { FlowCommand, FlowEvent } from "@rdmakit/protocol"
import type { TcpEndpoint } from "@rdmakit/transport-tcp"
import type { ErdmaOptions } from "../src/index.ts"
import { endsOf } from "./connection.ts"

const underTest = (name: string, options: Partial<ErdmaOptions> = {}) =>
  transportSuite<FlowCommand, FlowEvent, TcpEndpoint>(
    {
      name,
      connect: (now) => endsOf(now, options) as unknown as readonly [TcpEndpoint, TcpEndpoint],
      send: (message, writeBytes) => ({ message, writeBytes }),
      outcome: (event) => ({ message: event.message, completed: event.type === "completed" }),
      received: (end) => end.bytesReceived,
    },
    // Fifteen timeouts that double from 1 ms to 250 ms.
    { failsWithinPs: 4e12 },
  )

underTest("erdma")
underTest("erdma, small packets", { underlayMtuBytes: 1550 })
underTest("erdma, no overlay, two segments an acknowledgement", {
  overlay: "none",
  underlayMtuBytes: 1500,
  ackEvery: 2,
})
