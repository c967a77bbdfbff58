import { openDevice } from "@rdmakit/verbs"
import { Effect } from "effect"

/** One end: memory that peers may write and read, and a queue pair. */
const endpoint = Effect.fnUntraced(function* (device: number) {
  const context = yield* openDevice(device)
  const domain = yield* context.protectionDomain
  const memory = yield* domain.memory("4KiB", ["local-write", "remote-write", "remote-read"])
  const cq = yield* context.completionQueue(16)
  const queuePair = yield* domain.queuePair({ type: "rc", cq })
  return { memory, queuePair }
})

const text = (octets: Uint8Array): string => new TextDecoder().decode(octets)

/** Two ends talk; which network is between them is the Layer's business, which provides the devices. */
export const program = Effect.gen(function* () {
  const left = yield* endpoint(0)
  const right = yield* endpoint(1)
  yield* left.queuePair.connect(right.queuePair.endpoint)
  yield* right.queuePair.connect(left.queuePair.endpoint, { minRnrTimer: "640us", timeout: "67.1ms" })

  left.memory.octets.set(new TextEncoder().encode("hello"))
  const [received] = yield* Effect.all(
    [right.queuePair.receive(right.memory), left.queuePair.send(left.memory.range(0, 5))],
    { concurrency: "unbounded" },
  )
  const said = text(right.memory.octets.subarray(0, received.byteLength))

  yield* left.queuePair.write(new TextEncoder().encode("written"), right.memory.range(1024))
  yield* left.queuePair.read(left.memory.range(2048, 7), right.memory.range(1024))
  return { said, read: text(left.memory.octets.subarray(2048, 2055)) }
}).pipe(Effect.scoped)
