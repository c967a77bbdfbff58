import { srd } from "@rdmakit/cc-srd"
import { simulateProgram, Topology } from "@rdmakit/fabric"
import { star } from "@rdmakit/topology"
import { srdVerbs } from "@rdmakit/transport-srd"
import { openDevice } from "@rdmakit/verbs"
import { Effect, Layer } from "effect"

const QUEUE_KEY = 0x1111
const HELLO = Uint8Array.of(1, 2, 3)
const together = { concurrency: "unbounded" } as const

const endOf = Effect.fnUntraced(function* (device: number, type: "rc" | "srd") {
  const context = yield* openDevice(device)
  const domain = yield* context.protectionDomain
  const memory = yield* domain.memory("4KiB", ["local-write"])
  const cq = yield* context.completionQueue(16)
  const made = { count: 0 }
  const queuePair = Effect.tap(domain.queuePair({ type, cq }), () => Effect.sync(() => made.count++))
  return { domain, memory, queuePair, made }
})

/** A queue pair for each peer: a reliable connection has two ends. */
const byConnections = (peers: number) =>
  Effect.gen(function* () {
    const here = yield* endOf(0, "rc")
    for (let peer = 1; peer <= peers; peer++) {
      const there = yield* endOf(peer, "rc")
      const [mine, other] = [yield* here.queuePair, yield* there.queuePair]
      yield* mine.connect(other.endpoint)
      yield* other.connect(mine.endpoint)
      yield* Effect.all([other.receive(there.memory), mine.send(HELLO)], together)
    }
    return here.made.count
  }).pipe(Effect.scoped)

/** One queue pair, and an address handle for each peer. */
const byDatagrams = (peers: number) =>
  Effect.gen(function* () {
    const here = yield* endOf(0, "srd")
    const mine = yield* here.queuePair
    yield* mine.activate({ queueKey: QUEUE_KEY })
    for (let peer = 1; peer <= peers; peer++) {
      const there = yield* endOf(peer, "srd")
      const other = yield* there.queuePair
      yield* other.activate({ queueKey: QUEUE_KEY })
      const address = yield* here.domain.addressHandle({ gid: other.endpoint.gid })
      const to = { address, qpn: other.number, queueKey: QUEUE_KEY }
      yield* Effect.all([other.receive(there.memory), mine.send(HELLO, { to })], together)
    }
    return here.made.count
  }).pipe(Effect.scoped)

/** Queue pairs that a process makes to reach so many peers, each of which has a message of it at the end. */
export const queuePairsFor = (type: "rc" | "srd", peers: number): Promise<number> =>
  Effect.runPromise(
    simulateProgram(type === "rc" ? byConnections(peers) : byDatagrams(peers), {
      ...(type === "srd" ? { transport: srdVerbs({ controller: srd() }) } : {}),
    }).pipe(
      Effect.map(({ value }) => value),
      Effect.provide(Layer.succeed(Topology, star(peers + 1, { rate: "100Gbps", delay: "1us" }))),
    ),
  )
