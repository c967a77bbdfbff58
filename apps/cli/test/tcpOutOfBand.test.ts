import { connect } from "node:net"
import { OutOfBand } from "@rdmakit/perftest"
import { Effect, Fiber } from "effect"
import { describe, expect, test } from "vitest"
import { tcpOutOfBand } from "../src/verbs/TcpOutOfBand.ts"

const run = <A, E>(program: Effect.Effect<A, E, OutOfBand>, dialMs = 0) =>
  Effect.runPromise(Effect.provide(program, tcpOutOfBand({ listenHost: "127.0.0.1", dialMs })))
const octets = (...values: ReadonlyArray<number>) => Uint8Array.from(values)

describe("out of band over TCP", () => {
  test("both ways, in pieces of any size", async () => {
    const answers = await run(
      Effect.scoped(
        Effect.gen(function* () {
          const { connect: dial, listen } = yield* OutOfBand
          const { accept, port } = yield* listen(0)
          const client = yield* Effect.forkChild(
            Effect.scoped(
              Effect.gen(function* () {
                const connection = yield* dial("127.0.0.1", port)
                yield* connection.write(octets(1, 2, 3))
                const answer = yield* connection.read(3)
                yield* connection.write(octets(7))
                return answer
              }),
            ),
          )
          const connection = yield* accept
          const first = yield* connection.read(1)
          const second = yield* connection.read(2)
          yield* connection.write(octets(4, 5, 6))
          const answer = yield* Fiber.join(client)
          // What was written before the end still comes.
          const last = yield* connection.read(1)
          const end = yield* Effect.flip(connection.read(1))
          return { first, second, answer, last, end: end.message }
        }),
      ),
    )
    expect(answers).toEqual({
      ...{ first: octets(1), second: octets(2, 3), answer: octets(4, 5, 6), last: octets(7) },
      end: "out of band: the peer closed the connection after 0 of 1 octets",
    })
  })

  test("a client goes on dialling until the server listens", async () => {
    const port = await run(Effect.scoped(OutOfBand.use(({ listen }) => Effect.map(listen(0), (each) => each.port))))
    const read = await run(
      Effect.scoped(
        Effect.gen(function* () {
          const { connect: dial, listen } = yield* OutOfBand
          const client = yield* Effect.forkChild(dial("127.0.0.1", port))
          yield* Effect.sleep(150)
          const { accept } = yield* listen(port)
          const server = yield* accept
          const connection = yield* Fiber.join(client)
          yield* connection.write(octets(1))
          return yield* server.read(1)
        }),
      ),
      5000,
    )
    expect(read).toEqual(octets(1))
  })

  test("a client that is interrupted stops dialling at once, and leaves no socket behind", async () => {
    const port = await run(Effect.scoped(OutOfBand.use(({ listen }) => Effect.map(listen(0), (each) => each.port))))
    const { interruptedMs, late } = await run(
      Effect.scoped(
        Effect.gen(function* () {
          const { connect: dial, listen } = yield* OutOfBand
          const client = yield* Effect.forkChild(Effect.scoped(dial("127.0.0.1", port)))
          yield* Effect.sleep(150)
          const startMs = Date.now()
          yield* Fiber.interrupt(client)
          const interrupted = Date.now() - startMs
          const { accept } = yield* listen(port)
          const arrival = yield* accept.pipe(Effect.timeoutOption(300))
          return { interruptedMs: interrupted, late: arrival._tag }
        }),
      ),
      5000,
    )
    expect(interruptedMs).toBeLessThan(1000)
    expect(late).toBe("None")
  })

  test("what cannot be is told, with what to do", async () => {
    const { refused, taken } = await run(
      Effect.gen(function* () {
        const { connect: dial, listen } = yield* OutOfBand
        const port = yield* Effect.scoped(Effect.map(listen(0), (each) => each.port))
        const refusal = yield* Effect.flip(Effect.scoped(dial("127.0.0.1", port)))
        const double = yield* Effect.scoped(
          Effect.gen(function* () {
            const first = yield* listen(0)
            return yield* Effect.flip(listen(first.port))
          }),
        )
        return { refused: refusal, taken: double }
      }),
    )
    expect(refused.message).toMatch(/^127\.0\.0\.1 port \d+: nobody listens there$/)
    expect(refused.doThis).toMatch(/^start the server first/)
    expect(taken.message).toMatch(/^port \d+: in use$/)
  })

  test("a peer that sends without end is cut off", async () => {
    const error = await run(
      Effect.scoped(
        Effect.gen(function* () {
          const { accept, port } = yield* OutOfBand.use(({ listen }) => listen(0))
          const flood = connect({ port, host: "127.0.0.1" })
          flood.on("error", () => {})
          flood.write(new Uint8Array(4 << 20))
          const connection = yield* accept
          const end = yield* Effect.flip(connection.read(8 << 20))
          flood.destroy()
          return end
        }),
      ),
    )
    expect(error.message).toMatch(/the peer sent more than 1048576 octets/)
  })
})
