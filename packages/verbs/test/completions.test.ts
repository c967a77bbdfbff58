import type { Completion } from "@rdmakit/protocol"
import { Cause, Effect, Exit, Fiber, Option, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { CqOverrun, statusName, WorkLost } from "../src/index.ts"
import { end, pair } from "./ends.ts"
import { Loopback } from "./Loopback.ts"
import { resultOf } from "./program.ts"

const together = { concurrency: "unbounded" } as const

const idsOf = (completions: ReadonlyArray<Completion>) => completions.map(({ id }) => id)

describe("polling", () => {
  it("takes the oldest, as many as there is room for, and does not wait", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair({ both: { signalAll: true } })
        const out = new Array<Completion>(3)
        expect(left.cq.poll(out)).toBe(0)
        for (let id = 1; id <= 5; id++) {
          left.qp.postSend({ id, opcode: 0, sges: [], signaled: false, remoteAddress: 0, remoteKey: right.memory.rkey })
        }
        expect(left.cq.pollOne()).toBeUndefined()
        yield* Effect.sleep("1 millis")
        expect(left.cq.poll(out)).toBe(3)
        expect(idsOf(out)).toEqual([1, 2, 3])
        expect(left.cq.poll(out, 1)).toBe(1)
        expect(out[0]?.id).toBe(4)
        expect(left.cq.pollOne()?.id).toBe(5)
      }),
    ))

  it("hides what fibers wait for by name", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const write = left.qp.write(Uint8Array.of(1), right.memory)
        const fibers = yield* Effect.all([Effect.forkChild(write), Effect.forkChild(write)])
        yield* Effect.yieldNow
        left.qp.postSend({ id: 7, opcode: 0, sges: [], signaled: true, remoteAddress: 0, remoteKey: 0 })
        yield* Effect.sleep("1 millis")
        expect(left.cq.pollOne()?.id).toBe(7)
        expect(left.cq.pollOne()).toBeUndefined()
        for (const fiber of fibers) yield* Fiber.join(fiber)
      }),
    ))

  it("refuses numbers below 0, which are the package's own", () =>
    resultOf(
      Effect.gen(function* () {
        const { left } = yield* pair()
        for (const id of [-1, 1.5]) {
          expect(() => left.qp.postReceive({ id, sges: [] })).toThrow(/post_recv: EINVAL: id/)
          expect(() => left.qp.postSend({ id, opcode: 2, sges: [], signaled: true })).toThrow(/post_send: EINVAL: id/)
          expect(() => left.qp.start().send([], { id })).toThrow(/post_send: EINVAL: id/)
        }
      }),
    ))
})

describe("waiting", () => {
  it("next serves those who wait in their order", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const waiting = yield* Effect.forkChild(Effect.all([left.cq.next, left.cq.next, left.cq.next], together))
        yield* Effect.sleep("1 micros")
        for (const id of [1, 2, 3]) left.qp.start().write([], right.memory, { id, signaled: true }).complete()
        expect(idsOf(yield* Fiber.join(waiting))).toEqual([1, 2, 3])
      }),
    ))

  it("a completion that was polled away is not handed out twice, and who waits goes on waiting", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const write = (id: number) => left.qp.start().write([], right.memory, { id, signaled: true }).complete()
        const waiting = yield* Effect.forkChild(left.cq.next)
        yield* Effect.sleep("1 micros")
        // A fiber that runs before the one that has been woken polls first.
        const event = yield* left.cq.arm()
        const thief = yield* Effect.forkChild(event.pipe(Effect.map(() => left.cq.pollOne()?.id)))
        yield* Effect.sleep("1 micros")
        write(1)
        const stolen = yield* Fiber.join(thief)
        write(2)
        const { id } = yield* Fiber.join(waiting)
        const rest = left.cq.pollOne()?.id
        expect([stolen, id, rest].filter((each) => each !== undefined).sort()).toEqual([1, 2])
      }),
    ))

  it("an interrupted wait loses nothing", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        expect(yield* left.cq.next.pipe(Effect.timeoutOption("5 micros"))).toEqual(Option.none())
        left.qp.start().write([], right.memory, { id: 3, signaled: true }).complete()
        expect((yield* left.cq.next).id).toBe(3)
      }),
    ))

  it("an interrupted request stays posted, and its completion is for nobody", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const outcome = yield* left.qp.write(Uint8Array.of(7), right.memory).pipe(Effect.timeoutOption("100 nanos"))
        expect(Option.isNone(outcome)).toBe(true)
        yield* Effect.sleep("1 millis")
        expect(right.memory.octets[0]).toBe(7)
        expect(left.cq.pollOne()).toBeUndefined()
        yield* left.qp.write(Uint8Array.of(8), right.memory)
      }),
    ))

  it("completions are a stream", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        for (let id = 0; id < 10; id++) right.qp.postReceive({ id, sges: [right.memory.range(id, 1)] })
        const ids = yield* Effect.forkChild(
          right.cq.completions.pipe(
            Stream.take(10),
            Stream.map(({ id }) => id),
            Stream.runCollect,
          ),
        )
        for (let at = 0; at < 10; at++) yield* left.qp.send(Uint8Array.of(at))
        expect(yield* Fiber.join(ids)).toEqual(Array.from({ length: 10 }, (_, id) => id))
      }),
    ))

  it("arm asks for one event, for solicited completions alone if wanted", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        for (const id of [1, 2, 3]) right.qp.postReceive({ id, sges: [] })
        const event = yield* right.cq.arm("solicited")
        const waiting = yield* Effect.forkChild(Effect.all([event, event], together))
        yield* left.qp.send([])
        yield* Effect.sleep("10 micros")
        expect(waiting.pollUnsafe()).toBeUndefined()
        expect(right.cq.pollOne()?.id).toBe(1)
        yield* left.qp.send([], { solicited: true })
        yield* Fiber.join(waiting)
        // Who asks after it has happened does not wait.
        yield* event
        expect(right.cq.pollOne()?.id).toBe(2)
        const next = yield* right.cq.arm()
        yield* left.qp.send([])
        yield* next
      }),
    ))
})

describe("the size of a completion queue", () => {
  it("is changed, but not to less than what waits", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair({ both: { capacity: 4 } })
        for (const id of [1, 2, 3]) left.qp.start().write([], right.memory, { id, signaled: true }).complete()
        yield* Effect.sleep("1 millis")
        expect(yield* Effect.flip(left.cq.resize(2))).toMatchObject({ errno: "EINVAL", verb: "resize_cq" })
        yield* left.cq.resize(64)
        expect(left.cq.capacity).toBe(64)
        expect(left.cq.pollOne()?.id).toBe(1)
      }),
    ))

  it("an overrun is a typed error after what is there, and an event; its queue pairs are in error", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair({ left: { capacity: 2, twoQueues: true } })
        for (const id of [1, 2, 3, 4]) left.qp.start().write([], right.memory, { id, signaled: true }).complete()
        expect(yield* left.context.nextAsyncEvent).toEqual({ type: "CQ_ERR", completionQueue: left.cq })
        expect(yield* left.context.nextAsyncEvent).toEqual({ type: "QP_FATAL", queuePair: left.qp })
        expect(left.cq.overrun).toBe(true)
        expect(left.qp.state).toBe("ERR")
        expect((yield* left.cq.next).id).toBe(1)
        expect((yield* left.cq.next).id).toBe(2)
        const error = yield* Effect.flip(left.cq.next)
        expect(error).toBeInstanceOf(CqOverrun)
        expect(error).toMatchObject({ capacity: 2 })
        expect(error.message).toContain("as large as all that can be outstanding")
        expect(Exit.isFailure(yield* Effect.exit(Stream.runDrain(left.cq.completions)))).toBe(true)
        // Nobody waits for ever: not those who asked for an event, nor for a request.
        expect(yield* Effect.flip(Effect.flatten(left.cq.arm()))).toBeInstanceOf(CqOverrun)
        const lost = yield* Effect.flip(left.qp.send([]))
        expect(lost).toBeInstanceOf(WorkLost)
        expect(lost).toMatchObject({ reason: "overrun", qpn: left.qp.number })
      }),
    ))

  it("who waited for a request when it overran is told", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair({ left: { capacity: 1, capabilities: { maxSendWr: 64 } } })
        // Three completions that nobody takes: one is kept, one fits, and one is too many; the last is waited for.
        const batch = left.qp.start()
        for (const id of [1, 2, 3]) batch.write([], right.memory, { id, signaled: true })
        batch.complete()
        const error = yield* Effect.flip(left.qp.write([], right.memory))
        expect(error).toMatchObject({ _tag: "WorkLost", reason: "overrun", operation: "rdma write" })
      }),
    ))

  it("a completion that is waited for does not stay behind those that nobody takes", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair({ left: { capacity: 2 } })
        const batch = left.qp.start()
        for (const id of [1, 2, 3]) batch.write([], right.memory, { id, signaled: true })
        batch.complete()
        const write = yield* Effect.forkChild(left.qp.write([], right.memory))
        yield* Effect.sleep("1 millis")
        expect(write.pollUnsafe()).toBeUndefined()
        expect([left.cq.pollOne()?.id, left.cq.pollOne()?.id]).toEqual([1, 2])
        yield* Fiber.join(write)
        expect(left.cq.pollOne()?.id).toBe(3)
      }),
    ))
})

describe("requests that never complete", () => {
  it("are told of when the queue pair is reset", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const receive = yield* Effect.forkChild(Effect.flip(left.qp.receive()))
        yield* Effect.sleep("1 micros")
        yield* left.qp.modify("RESET")
        expect(yield* Fiber.join(receive)).toMatchObject({ _tag: "WorkLost", reason: "reset", operation: "receive" })
        // It can be connected again, and works.
        yield* right.qp.modify("RESET")
        yield* left.qp.connect(right.qp.endpoint)
        yield* right.qp.connect(left.qp.endpoint)
        yield* left.qp.write([], right.memory)
      }),
    ))

  it("are told of when it is destroyed, and completions that nobody took are gone", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        left.qp.start().write([], right.memory, { id: 1, signaled: true }).complete()
        const receive = yield* Effect.forkChild(Effect.flip(left.qp.receive()))
        yield* Effect.sleep("1 millis")
        yield* left.qp.destroy
        expect(yield* Fiber.join(receive)).toMatchObject({ reason: "destroyed", qpn: left.qp.number })
        expect(left.cq.pollOne()).toBeUndefined()
      }),
    ))

  it("are flushed when it is moved to ERR", () =>
    resultOf(
      Effect.gen(function* () {
        const { left } = yield* pair()
        const receive = yield* Effect.forkChild(Effect.flip(left.qp.receive()))
        yield* Effect.sleep("1 micros")
        yield* left.qp.modify("ERR")
        const error = yield* Fiber.join(receive)
        expect(error).toMatchObject({
          _tag: "WorkFailed",
          status: "WR_FLUSH_ERR",
          firstFailure: undefined,
          event: undefined,
        })
        expect(error.message).toContain("was moved to ERR")
      }),
    ))

  it("are flushed after one that failed, and are told of in one sentence", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const nowhere = { address: right.memory.address, rkey: right.memory.rkey ^ 1 }
        const both = [
          left.qp.write(left.memory.range(0, 8), nowhere),
          left.qp.write(left.memory.range(0, 8), right.memory),
        ]
        const [first, second] = yield* Effect.all(both.map(Effect.flip), { concurrency: "unbounded" })
        expect(first).toMatchObject({ status: "REM_ACCESS_ERR", diagnosis: "REM_ACCESS_ERR" })
        expect(second).toMatchObject({ status: "WR_FLUSH_ERR", diagnosis: "REM_ACCESS_ERR" })
        // It is no error of its own, which whoever prints an error would print behind it.
        expect((second as Error).cause).toBeUndefined()
        const told = Cause.pretty(Cause.fail(second))
          .split("\n")
          .filter((line) => !line.startsWith("    at "))
        expect(told).toEqual([
          expect.stringMatching(/^WorkFailed: rdma write on QP .*before it failed another with REM_ACCESS_ERR: /),
        ])
      }),
    ))
})

it("one completion queue serves many queue pairs", () => {
  const network = new Loopback({ devices: 3 })
  const program = Effect.gen(function* () {
    const hub = yield* end(0)
    const second = yield* hub.domain.queuePair({ type: "rc", cq: hub.cq })
    const [one, two] = [yield* end(1), yield* end(2)]
    yield* hub.qp.connect(one.qp.endpoint)
    yield* one.qp.connect(hub.qp.endpoint)
    yield* second.connect(two.qp.endpoint)
    yield* two.qp.connect(second.endpoint)
    hub.qp.start().write([], one.memory, { id: 1, signaled: true }).complete()
    second.start().write([], one.memory, { id: 2, signaled: true }).read(hub.memory, one.memory, { id: 3 }).complete()
    const completions = [yield* hub.cq.next, yield* hub.cq.next, yield* hub.cq.next]
    const of = (qpn: number) =>
      completions.filter((each) => each.qpn === qpn).map(({ id, status }) => [id, statusName(status)])
    expect(of(hub.qp.number)).toEqual([[1, "SUCCESS"]])
    expect(of(second.number)).toEqual([
      [2, "SUCCESS"],
      [3, "REM_ACCESS_ERR"],
    ])
    yield* hub.qp.write([], one.memory)
  })
  resultOf(program, { network })
})
