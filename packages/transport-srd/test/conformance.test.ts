import { transportSuite } from "@rdmakit/conformance"
import type { FlowCommand, FlowEvent } from "@rdmakit/protocol"
import type { SrdEndpoint, SrdOptions } from "../src/index.ts"
import { endsOf } from "./connection.ts"

const underTest = (name: string, options: Partial<SrdOptions> = {}) =>
  transportSuite<FlowCommand, FlowEvent, SrdEndpoint>(
    {
      name,
      connect: (now) => endsOf(now, options),
      send: (message, writeBytes) => ({ message, writeBytes }),
      outcome: (event) => ({ message: event.message, completed: event.type === "completed" }),
      received: (end) => end.bytesReceived,
    },
    { ordered: false, failsWithinPs: 2e12 },
  )

underTest("srd, 64 paths")
underTest("srd, one path", { paths: 1 })
underTest("srd, four paths that change all the time, a small window", {
  paths: 4,
  renewAfterPackets: 1,
  windowPackets: 8,
})
