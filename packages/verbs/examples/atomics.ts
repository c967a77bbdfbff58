import { openDevice } from "@rdmakit/verbs"
import { Effect } from "effect"

/** One end: memory that peers may do atomics on, and a queue pair. */
const endpoint = Effect.fnUntraced(function* (device: number) {
  const context = yield* openDevice(device)
  const domain = yield* context.protectionDomain
  const memory = yield* domain.memory("4KiB", ["local-write", "remote-atomic"])
  const cq = yield* context.completionQueue(16)
  return { memory, queuePair: yield* domain.queuePair({ type: "rc", cq }) }
})

/** A counter and a lock, of eight octets each, in the memory of the other end. */
export const program = Effect.gen(function* () {
  const left = yield* endpoint(0)
  const right = yield* endpoint(1)
  yield* left.queuePair.connect(right.queuePair.endpoint)
  yield* right.queuePair.connect(left.queuePair.endpoint)
  // What was there comes into eight octets of this end, and is what the Effect gives.
  const into = left.memory.range(0, 8)
  const [counter, lock] = [right.memory.range(0, 8), right.memory.range(8, 8)]
  yield* left.queuePair.fetchAndAdd(into, counter, 5n)
  const counted = yield* left.queuePair.fetchAndAdd(into, counter, 1n)
  const free = yield* left.queuePair.compareAndSwap(into, lock, { compare: 0n, swap: 7n })
  const taken = yield* left.queuePair.compareAndSwap(into, lock, { compare: 0n, swap: 8n })
  return { counted, free, taken }
}).pipe(Effect.scoped)
