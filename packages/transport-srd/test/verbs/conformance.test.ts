import { transportSuite } from "@rdmakit/conformance"
import { QpState, type VerbsCommand, type VerbsEvent, WcStatus, WrOpcode } from "@rdmakit/protocol"
import type { SrdVerbsOptions } from "../../src/index.ts"
import { OneQueuePair, pathTo, QPN, QUEUE_KEY, remote, sge } from "./network.ts"

/** WRITEs from either end: each names the way to the other, which a command cannot know, for both are asked the same. */
class Sender extends OneQueuePair {
  private readonly at: 0 | 1

  constructor(now: number, end: 0 | 1, options: Partial<SrdVerbsOptions>) {
    super(now, end, options)
    this.at = end
    this.bring(now, QpState.Rts)
  }

  override command(now: number, command: VerbsCommand): void {
    if (command.type !== "send") return
    const datagram = { path: this.at === 0 ? there : back, qpn: QPN[1 - this.at]!, queueKey: QUEUE_KEY }
    super.command(now, { type: "send", request: { ...command.request, datagram } })
  }
}

const there = pathTo(0)
const back = pathTo(1)

const underTest = (name: string, options: Partial<SrdVerbsOptions> = {}) =>
  transportSuite<VerbsCommand, VerbsEvent, OneQueuePair>(
    {
      name,
      connect: (now) => [new Sender(now, 0, options), new Sender(now, 1, options)],
      send: (message, bytes) => ({
        type: "send",
        request: { id: message, opcode: WrOpcode.RdmaWrite, sges: [sge(0, bytes)], signaled: true, ...remote(20_000) },
      }),
      outcome: (event) =>
        event.type === "completion" && event.queue === "send"
          ? { message: event.completion.id, completed: event.completion.status === WcStatus.Success }
          : undefined,
      received: (end) => end.memory.remoteBytes,
    },
    { ordered: false, failsWithinPs: 2e12, connected: false },
  )

underTest("srd, RDMA WRITEs of the verbs")
underTest("srd, RDMA WRITEs by one path, a small window", { paths: 1, windowPackets: 8 })
