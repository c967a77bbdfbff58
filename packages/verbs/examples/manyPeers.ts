import { srd } from "@rdmakit/cc-srd"
import { SwitchModel, sharedBufferSwitches, simulateProgram, Topology } from "@rdmakit/fabric"
import { srdVerbs } from "@rdmakit/transport-srd"
import { openDevice } from "@rdmakit/verbs"
import { Effect, Fiber, Layer } from "effect"

const together = { concurrency: "unbounded" } as const
const queueKey = 0x11111111

/** A queue pair of SRD, ready: it has no peer. */
const endpoint = Effect.fnUntraced(function* (device: number) {
  const context = yield* openDevice(device)
  const domain = yield* context.protectionDomain
  const memory = yield* domain.memory("64KiB", ["local-write", "remote-write", "remote-read"])
  const cq = yield* context.completionQueue(64)
  const queuePair = yield* domain.queuePair({ type: "srd", cq })
  yield* queuePair.activate({ queueKey })
  return { domain, memory, queuePair }
})
type Endpoint = Effect.Success<ReturnType<typeof endpoint>>

/** Whom a request is for: an address, a queue pair there, and its key. */
const toward = (from: Endpoint, { queuePair }: Endpoint) =>
  Effect.map(from.domain.addressHandle({ gid: queuePair.endpoint.gid }), (address) => ({
    address,
    qpn: queuePair.number,
    queueKey,
  }))

/** One queue pair writes to all others, and is answered by each. */
export const program = Effect.gen(function* () {
  const one = yield* endpoint(0)
  const others = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7], endpoint)
  const receives = Effect.all(
    others.map(() => one.queuePair.receive()),
    together,
  )
  const received = yield* Effect.forkChild(receives, { startImmediately: true })
  const exchange = Effect.fnUntraced(function* (other: Endpoint) {
    // RDMA needs an address handle on the other side as well.
    const [to, back] = [yield* toward(one, other), yield* toward(other, one)]
    yield* one.queuePair.write(one.memory.range(0, 50_000), other.memory, { to })
    yield* other.queuePair.send([], { to: back, immediate: other.queuePair.number })
  })
  yield* Effect.forEach(others, exchange, together)
  // A completion says who sent what came.
  return (yield* Fiber.join(received)).map(({ sourceQp, immediate }) => sourceQp === immediate)
}).pipe(Effect.scoped)

const hosts = [0, 1, 2, 3, 4, 5, 6, 7]
const star = {
  nodes: 9,
  isSwitch: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 1),
  links: hosts.map((host) => ({ a: host, b: 8, rateBps: 100e9, delayPs: 1e6, lossRate: 0 })),
}
/** Switches go by the UDP ports of each packet: SRD's are others each time. */
const switches = sharedBufferSwitches({ loadBalancer: "entropy" })

export const simulated = simulateProgram(program, { transport: srdVerbs({ controller: srd() }) }).pipe(
  Effect.provide(Layer.merge(Layer.succeed(Topology, star), Layer.succeed(SwitchModel, switches))),
)
