import { Effect, Fiber, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { openDevice } from "../src/index.ts"
import { end, pair } from "./ends.ts"
import { Loopback } from "./Loopback.ts"
import { resultOf } from "./program.ts"

describe("asynchronous events", () => {
  it("tell of the port, as a stream, in every context that is open", () => {
    const network = new Loopback()
    const setLink = (up: boolean) =>
      Effect.sync(() => {
        const [world] = network.worlds
        world!.link = { ...world!.link, up }
        network.devices[0]!.handleLinkChange()
      })
    const program = Effect.gen(function* () {
      const [one, two] = [yield* openDevice(0), yield* openDevice(0)]
      yield* Effect.scoped(openDevice(0))
      const seen = yield* Effect.forkChild(one.asyncEvents.pipe(Stream.take(3), Stream.runCollect))
      yield* setLink(false)
      expect((yield* one.port()).state).toBe("down")
      yield* setLink(true)
      network.devices[0]!.handleGidChange()
      const events = ["PORT_ERR", "PORT_ACTIVE", "GID_CHANGE"].map((type) => ({ type, port: 1 }))
      expect(yield* Fiber.join(seen)).toEqual(events)
      expect(yield* two.nextAsyncEvent).toEqual(events[0])
      expect(yield* two.nextAsyncEvent).toEqual(events[1])
    })
    resultOf(program, { network })
  })

  it("tell that a connection is established by its first packet, and why a responder is in error", () =>
    resultOf(
      Effect.gen(function* () {
        const left = yield* endInInit(0)
        const right = yield* endInInit(1)
        yield* left.qp.toRtr(right.qp.endpoint)
        yield* left.qp.toRts()
        yield* right.qp.toRtr(left.qp.endpoint)
        yield* left.qp.write(Uint8Array.of(1), right.memory)
        expect(yield* right.context.nextAsyncEvent).toEqual({ type: "COMM_EST", queuePair: right.qp })
        yield* Effect.flip(left.qp.write(Uint8Array.of(1), { address: 0, rkey: right.memory.rkey }))
        expect(yield* right.context.nextAsyncEvent).toEqual({ type: "QP_ACCESS_ERR", queuePair: right.qp })
        expect([left.qp.state, right.qp.state]).toEqual(["ERR", "ERR"])
      }),
    ))

  it("are those of the own device alone", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        yield* Effect.flip(left.qp.write(Uint8Array.of(1), { address: 0, rkey: 0 }))
        expect((yield* right.context.nextAsyncEvent).type).toBe("QP_ACCESS_ERR")
        expect(yield* left.context.nextAsyncEvent.pipe(Effect.timeoutOption("1 millis"))).toMatchObject({
          _tag: "None",
        })
      }),
    ))

  it("wait for who asks late, 4,096 of them, the latest", () => {
    const network = new Loopback()
    const program = Effect.gen(function* () {
      const context = yield* openDevice(0)
      for (let count = 0; count < 5000; count++) network.devices[0]!.handleGidChange()
      let taken = 0
      while ((yield* context.nextAsyncEvent.pipe(Effect.timeoutOption("1 nanos")))._tag === "Some") taken++
      expect(taken).toBe(4096)
    })
    resultOf(program, { network })
  })
})

const endInInit = Effect.fnUntraced(function* (device: number) {
  const one = yield* end(device)
  yield* one.qp.toInit()
  return one
})
