import { Effect, Fiber } from "effect"
import { describe, expect, test } from "vitest"
import { memoryOutOfBand, OutOfBand } from "../src/index.ts"

const run = <A, E>(program: Effect.Effect<A, E, OutOfBand>) =>
  Effect.runPromise(Effect.provide(program, memoryOutOfBand))
const octets = (...values: ReadonlyArray<number>) => Uint8Array.from(values)

describe("out of band in memory", () => {
  test("the one who dials first waits; messages keep their order, and are read in pieces of any size", async () => {
    const read = await run(
      Effect.gen(function* () {
        const client = yield* Effect.forkChild(
          Effect.scoped(
            Effect.gen(function* () {
              const connection = yield* OutOfBand.use(({ connect }) => connect("host1", 18_515))
              yield* connection.write(octets(1, 2, 3))
              yield* connection.write(octets(4))
              return yield* connection.read(2)
            }),
          ),
        )
        yield* Effect.yieldNow
        const server = Effect.scoped(
          Effect.gen(function* () {
            const { accept } = yield* OutOfBand.use(({ listen }) => listen(18_515))
            const connection = yield* accept
            const first = yield* connection.read(2)
            const second = yield* connection.read(2)
            yield* connection.write(octets(9, 8))
            return [first, second]
          }),
        )
        return [yield* server, yield* Fiber.join(client)]
      }),
    )
    expect(read).toEqual([[octets(1, 2), octets(3, 4)], octets(9, 8)])
  })

  test("a peer that leaves is told", async () => {
    const error = await run(
      Effect.scoped(
        Effect.gen(function* () {
          const { accept, port } = yield* OutOfBand.use(({ listen }) => listen(0))
          const leave = Effect.gen(function* () {
            const connection = yield* OutOfBand.use(({ connect }) => connect("host1", port))
            yield* connection.write(octets(1))
          })
          yield* Effect.scoped(leave)
          const connection = yield* accept
          return yield* connection.read(2)
        }),
      ).pipe(Effect.flip),
    )
    expect(error.message).toBe("out of band: the peer closed the connection after 1 of 2 octets")
  })

  test("a port is one listener's, until its scope ends", async () => {
    const error = await run(
      Effect.gen(function* () {
        const { listen } = yield* OutOfBand
        yield* Effect.scoped(listen(5))
        yield* Effect.scoped(listen(5))
        return yield* Effect.scoped(Effect.flatMap(listen(5), () => Effect.flip(listen(5))))
      }),
    )
    expect(error.message).toBe("out of band: port 5 is in use")
  })
})
