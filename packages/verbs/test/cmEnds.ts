import { Effect } from "effect"
import { connectionManager } from "../src/index.ts"
import { type EndOptions, end } from "./ends.ts"

/** An end on a device with a connection manager, its queue pair not connected yet. */
export const managed = Effect.fnUntraced(function* (device: number, options: EndOptions = {}) {
  const one = yield* end(device, options)
  const manager = yield* connectionManager(one.context)
  return { ...one, manager }
})

export const text = (value: string): Uint8Array => new TextEncoder().encode(value)
/** Private data as text, up to the zeros that fill it. */
export const read = (octets: Uint8Array): string => new TextDecoder().decode(octets).replace(/\0+$/, "")

/** An end on the first device that knows the way to a port of the second. */
export const clientTo = Effect.fnUntraced(function* (host = "10.0.0.2", port = 7174) {
  const left = yield* managed(0)
  const resolved = yield* left.manager.resolve(host, { port })
  return { left, resolved }
})

/** The failure of an effect that fails. */
export const failureOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<E, Error, R> =>
  Effect.flip(effect).pipe(Effect.mapError(() => new Error("it did not fail")))

/** Two ends, connected by their connection managers: the right one listens. */
export const connected = Effect.fnUntraced(function* (host = "10.0.0.2", options: EndOptions = {}) {
  const left = yield* managed(0, options)
  const right = yield* managed(1, options)
  const listener = yield* right.manager.listen({ port: 7174 })
  const accepted = yield* Effect.forkScoped(
    Effect.gen(function* () {
      const request = yield* listener.next
      return yield* request.accept({ queuePair: right.qp, privateData: text("welcome") })
    }),
  )
  const resolved = yield* left.manager.resolve(host, { port: 7174 })
  const client = yield* left.manager.connect(resolved, { queuePair: left.qp, privateData: text("hello") })
  return { left, right, listener, client, accepted }
})
