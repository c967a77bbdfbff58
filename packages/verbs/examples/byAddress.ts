import { connectionManager, openDevice } from "@rdmakit/verbs"
import { Effect } from "effect"

/** A queue pair with memory, and the connection manager of its device. */
const endpoint = Effect.fnUntraced(function* (device: number) {
  const context = yield* openDevice(device)
  const manager = yield* connectionManager(context)
  const domain = yield* context.protectionDomain
  const memory = yield* domain.memory("4KiB", ["local-write"])
  const cq = yield* context.completionQueue(16)
  const queuePair = yield* domain.queuePair({ type: "rc", cq })
  return { manager, memory, queuePair }
})

/** Takes one connection at a port, and what its peer sends first. */
const server = (port: number) =>
  Effect.gen(function* () {
    const { manager, memory, queuePair } = yield* endpoint(1)
    const listener = yield* manager.listen({ port })
    const request = yield* listener.next
    // A receive that the peer's first send needs is posted before it can come.
    yield* manager.prepare(queuePair)
    const receiving = yield* Effect.forkScoped(queuePair.receive(memory))
    const connection = yield* request.accept({ queuePair })
    yield* connection.ended
    return { received: receiving.pollUnsafe()?._tag, text: new TextDecoder().decode(memory.octets.subarray(0, 5)) }
  }).pipe(Effect.scoped)

const client = (host: string, port: number) =>
  Effect.gen(function* () {
    const { manager, queuePair } = yield* endpoint(0)
    const resolved = yield* manager.resolve(host, { port })
    yield* manager.connect(resolved, { queuePair })
    yield* queuePair.send(new TextEncoder().encode("hello"))
  }).pipe(Effect.scoped)

export const program = (host: string) =>
  Effect.all([server(7174), client(host, 7174).pipe(Effect.delay("1 millis"))], { concurrency: "unbounded" }).pipe(
    Effect.map(([said]) => said),
  )
