import { Provider } from "@rdmakit/device/layer"
import { NetworkLinks, simulateProgram, Topology } from "@rdmakit/fabric"
import { Access, QpState, WrOpcode } from "@rdmakit/protocol"
import { star } from "@rdmakit/topology"
import { formatTime } from "@rdmakit/units"
import { Clock, Effect, Layer } from "effect"

const access = Access.LocalWrite | Access.RemoteWrite
const capabilities = { maxSendWr: 16, maxRecvWr: 0, maxSendSge: 1, maxRecvSge: 1, maxInlineBytes: 0 }

// Two hosts, a device each: a queue pair, a completion queue and a megabyte of memory at both.
const program = Effect.gen(function* () {
  const { devices } = yield* Provider
  const links = yield* NetworkLinks
  const ends = devices.map((device) => {
    const pd = device.allocPd()
    const cq = device.createCq(16)
    const memory = device.allocate(1 << 20)
    const mr = pd.regMr({ address: memory.address, length: 1 << 20, access })
    const qp = pd.createQp({ type: "rc", sendCq: cq, recvCq: cq, capabilities })
    return { device, cq, memory, mr, qp }
  })
  const [left, right] = ends as [(typeof ends)[0], (typeof ends)[0]]
  for (const [one, other] of [
    [left, right],
    [right, left],
  ] as const) {
    const address = {
      port: 1,
      sourceGidIndex: 1,
      destinationGid: other.device.gids[1]!.gid,
      trafficClass: 0,
      hopLimit: 64,
      flowLabel: 0,
      serviceLevel: 0,
    }
    const { qp } = one
    const path = { address, pathMtuBytes: 4096, destinationQp: other.qp.qpn, receivePsn: 0 }
    qp.modify({ state: QpState.Init, pkeyIndex: 0, port: 1, accessFlags: access })
    qp.modify({ state: QpState.Rtr, ...path, responderResources: 1, minRnrTimer: 12 })
    qp.modify({ state: QpState.Rts, sendPsn: 0, timeout: 8, retryCount: 7, rnrRetry: 7, initiatorDepth: 1 })
  }

  // A WRITE of all of it, and how long it takes.
  const write = Effect.gen(function* () {
    const before = yield* Clock.currentTimeNanos
    left.qp.postSend({
      id: 1,
      opcode: WrOpcode.RdmaWrite,
      signaled: true,
      sges: [{ address: left.memory.address, length: 1 << 20, lkey: left.mr.lkey }],
      remoteAddress: right.memory.address,
      remoteKey: right.mr.rkey,
    })
    yield* Effect.callback<void>((resume) => left.cq.arm("next", () => resume(Effect.void)))
    const completion = left.cq.pollOne()
    return { status: completion?.status, ns: Number((yield* Clock.currentTimeNanos) - before) }
  })
  const calm = yield* write
  links.impair(0, { loss: 0.01, reordering: 0.02, reorderPs: 5e6 })
  const rough = yield* write
  links.set(0, false)
  const cut = yield* Effect.timeoutOption(write, "3 millis")
  return { calm, rough, cut }
})

export const outcome = await Effect.runPromise(
  simulateProgram(program, { seed: 7 }).pipe(
    Effect.provide(Layer.succeed(Topology, star(2, { rate: "100Gbps", delay: "1us" }))),
  ),
)

const { calm, rough, cut } = outcome.value
console.log(`alone: ${calm.ns} ns; with losses: ${rough.ns} ns; cut off: ${cut._tag}`)
console.log(`${outcome.packets} packets, it ended at ${formatTime(outcome.time)}, digest ${outcome.digest}`)
