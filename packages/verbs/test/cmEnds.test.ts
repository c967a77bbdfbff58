import { Effect, Fiber, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { clientTo, connected, failureOf, managed } from "./cmEnds.ts"
import { Loopback } from "./Loopback.ts"
import { resultOf } from "./program.ts"

describe("disconnect", () => {
  it("by one side: both queue pairs are in ERR, both sides hear of it, and the time in which nothing is used again ends", () => {
    const [left, right] = resultOf(
      Effect.gen(function* () {
        const { left, right, client, accepted } = yield* connected()
        const server = yield* Fiber.join(accepted)
        yield* client.disconnect
        yield* server.ended
        expect([left.qp.state, right.qp.state]).toEqual(["ERR", "ERR"])
        expect([client.isEstablished, server.isEstablished]).toEqual([false, false])
        const events = (one: typeof client) => Stream.runCollect(Stream.take(one.events, 3))
        return [yield* events(client), yield* events(server)] as const
      }),
    )
    const story = (events: ReadonlyArray<{ readonly type: string; readonly by?: string }>) =>
      events.map(({ type, by }) => (by === undefined ? type : `${type} by ${by}`))
    expect(story(left)).toEqual(["established", "disconnected by self", "timewaitEnded"])
    expect(story(right)).toEqual(["established", "disconnected by peer", "timewaitEnded"])
  })

  it("flushes what is posted", () => {
    const failure = resultOf(
      Effect.gen(function* () {
        const { right, client, accepted } = yield* connected()
        yield* Fiber.join(accepted)
        const receiving = yield* Effect.forkScoped(failureOf(right.qp.receive(right.memory)))
        yield* client.disconnect
        return yield* Fiber.join(receiving)
      }),
    )
    expect(failure).toMatchObject({ _tag: "WorkFailed", status: "WR_FLUSH_ERR" })
  })

  it("by leaving the scope, in whatever order", () => {
    const state = resultOf(
      Effect.gen(function* () {
        const right = yield* managed(1)
        const listener = yield* right.manager.listen({ port: 7174 })
        const accepted = yield* Effect.forkScoped(
          Effect.flatMap(listener.next, (request) => request.accept({ queuePair: right.qp })),
        )
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { left, resolved } = yield* clientTo()
            yield* left.manager.connect(resolved, { queuePair: left.qp })
          }),
        )
        const server = yield* Fiber.join(accepted)
        yield* server.ended
        return right.qp.state
      }),
    )
    expect(state).toBe("ERR")
  })

  it("a peer that is gone: it ends all the same, after 103 s", () => {
    let dead = false
    const network = new Loopback({ fate: () => (dead ? "lose" : "deliver") })
    const seconds = resultOf(
      Effect.gen(function* () {
        const { left, client, accepted } = yield* connected()
        yield* Fiber.join(accepted)
        dead = true
        const begun = left.context.now
        yield* client.disconnect
        return (left.context.now - begun) / 1e12
      }),
      { network },
    )
    expect(seconds).toBeGreaterThan(100)
    expect(seconds).toBeLessThan(106)
  })

  it("twice, and after the peer: nothing more happens", () => {
    resultOf(
      Effect.gen(function* () {
        const { client, accepted } = yield* connected()
        const server = yield* Fiber.join(accepted)
        yield* Effect.all([client.disconnect, server.disconnect], { concurrency: "unbounded" })
        yield* client.disconnect
        yield* server.disconnect
      }),
    )
  })
})
