import { TestMemory, transportSuite } from "@rdmakit/conformance"
import { QpState, type VerbsCommand, type VerbsEngine, type VerbsEvent, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { bring, engineOf, remote, sge } from "./pair.ts"

/** By its memory an engine is known again. */
const memories = new WeakMap<VerbsEngine, TestMemory>()

const make = (now: number, end: 0 | 1): VerbsEngine => {
  const memory = new TestMemory(65_536)
  const engine = engineOf(end, memory, now)
  memories.set(engine, memory)
  bring(now, engine, end, QpState.Rts, {})
  return engine
}

transportSuite<VerbsCommand, VerbsEvent, VerbsEngine>(
  {
    name: "erdma, RDMA WRITEs of the verbs",
    connect: (now) => [make(now, 0), make(now, 1)],
    send: (message, bytes) => ({
      type: "send",
      request: { id: message, opcode: WrOpcode.RdmaWrite, sges: [sge(0, bytes)], signaled: true, ...remote(20_000) },
    }),
    outcome: (event) =>
      event.type === "completion" && event.queue === "send"
        ? { message: event.completion.id, completed: event.completion.status === WcStatus.Success }
        : undefined,
    received: (end) => memories.get(end)!.remoteBytes,
  },
  { failsWithinPs: 4e12 },
)
