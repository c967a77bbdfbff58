import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { ConnectionRejected, ConnectionUnreachable, VerbsError } from "../src/index.ts"
import { clientTo, connected, failureOf, managed, read, text } from "./cmEnds.ts"
import { Loopback } from "./Loopback.ts"
import { resultOf } from "./program.ts"

describe("no connection", () => {
  it("nobody listens", () => {
    const error = resultOf(
      Effect.gen(function* () {
        yield* managed(1)
        const { left, resolved } = yield* clientTo()
        const failure = yield* failureOf(left.manager.connect(resolved, { queuePair: left.qp }))
        expect(left.qp.state).toBe("ERR")
        return failure
      }),
    )
    expect(error).toMatchObject({ _tag: "ConnectionRejected", reason: 8, peer: "10.0.0.2 port 7174" })
    expect((error as ConnectionRejected).message).toBe(
      "10.0.0.2 port 7174 rejected: invalid service ID (8); see that its program listens on this port",
    )
  })

  it("the peer's program rejects, and says why", () => {
    const error = resultOf(
      Effect.gen(function* () {
        const right = yield* managed(1)
        const listener = yield* right.manager.listen({ port: 7174 })
        yield* Effect.forkScoped(Effect.flatMap(listener.next, (request) => request.reject(text("full"))))
        const { left, resolved } = yield* clientTo()
        return yield* failureOf(left.manager.connect(resolved, { queuePair: left.qp }))
      }),
    )
    expect(error).toBeInstanceOf(ConnectionRejected)
    const { reason, privateData } = error as ConnectionRejected
    expect([reason, read(privateData)]).toEqual([28, "full"])
  })

  it("nobody answers: sixteen questions in 103 s, and the queue pair can be used again", () => {
    const { error, seconds, state } = resultOf(
      Effect.gen(function* () {
        const { left, resolved } = yield* clientTo()
        const begun = left.context.now
        const failure = yield* failureOf(left.manager.connect(resolved, { queuePair: left.qp }))
        yield* left.qp.modify("RESET")
        yield* left.manager.prepare(left.qp)
        return { error: failure, seconds: (left.context.now - begun) / 1e12, state: left.qp.state }
      }),
      { network: new Loopback({ fate: () => "lose" }) },
    )
    expect(error).toBeInstanceOf(ConnectionUnreachable)
    expect((error as ConnectionUnreachable).message).toContain("10.0.0.2 port 7174 did not answer the request")
    expect(seconds).toBeCloseTo(16 * (2 * 1.073741824 + 4.294967296), 4)
    expect(state).toBe("INIT")
  })

  it("nobody can be there; the port has no such address; that is no address", () => {
    const [there, address, host, port] = resultOf(
      Effect.gen(function* () {
        const { manager } = yield* managed(0)
        const fail = (to: string, options: object = {}): Effect.Effect<VerbsError> =>
          Effect.orDie(failureOf(manager.resolve(to, { port: 1, ...options })))
        return [
          yield* fail("10.0.0.77"),
          yield* fail("10.0.0.2", { source: "10.0.0.9" }),
          yield* fail("server.example"),
          yield* fail("10.0.0.2", { port: 70_000 }),
        ] as const
      }),
    )
    expect(there.errno).toBe("EHOSTUNREACH")
    expect(address.errno).toBe("ENOENT")
    expect(host.errno).toBe("EINVAL")
    expect(port).toMatchObject({ errno: "EINVAL", attribute: "port" })
  })

  it.each([
    ["port", 0],
    ["port", -1],
    ["port", 1.5],
    ["port", Number.NaN],
    ["port", 65_536],
    ["port", "7174"],
    ["backlog", 0],
    ["backlog", Number.NaN],
    ["backlog", Number.POSITIVE_INFINITY],
  ])("a listener whose %s is %s", (attribute, value) => {
    const options = { port: 7174, [attribute]: value }
    const errors = resultOf(
      Effect.gen(function* () {
        const { manager } = yield* managed(0)
        return [yield* failureOf(manager.listen(options)), yield* failureOf(manager.listenDatagrams(options))]
      }),
    )
    for (const error of errors) expect(error).toMatchObject({ verb: "rdma_listen", errno: "EINVAL", attribute })
  })

  it("a queue pair that is connected, or of another type", () => {
    const errors = resultOf(
      Effect.gen(function* () {
        const { left, right, accepted } = yield* connected()
        yield* Fiber.join(accepted)
        const resolved = yield* left.manager.resolve("10.0.0.2", { port: 7174 })
        const ud = yield* left.domain.queuePair({ type: "ud", cq: left.cq })
        const datagrams = yield* left.manager.resolve("10.0.0.2", { port: 7174, space: "udp" })
        const rc = yield* left.domain.queuePair({ type: "rc", cq: left.cq })
        const taken = failureOf(right.manager.listen({ port: 7174 }))
        return [
          yield* failureOf(left.manager.connect(resolved, { queuePair: left.qp })),
          yield* failureOf(left.manager.connect(resolved, { queuePair: ud })),
          yield* failureOf(left.manager.connect(datagrams, { queuePair: rc })),
          yield* failureOf(left.manager.connect(resolved, { queuePair: rc, privateData: new Uint8Array(57) })),
          yield* taken,
        ]
      }),
    )
    expect(errors.map((error) => (error instanceof VerbsError ? error.errno : error._tag))).toEqual([
      "EINVAL",
      "EINVAL",
      "EINVAL",
      "EINVAL",
      "EBUSY",
    ])
    expect(errors[4]!.message).toBe(
      "rdma_listen: EBUSY: service 0x1061c06 has a listener; close it first, or take another port",
    )
  })

  it("accept with a queue pair of another type: the request is rejected, and the peer is not left waiting", () => {
    const [server, client] = resultOf(
      Effect.gen(function* () {
        const right = yield* managed(1, { type: "uc" })
        const listener = yield* right.manager.listen({ port: 7174 })
        const accepting = yield* Effect.forkScoped(
          Effect.flatMap(listener.next, (request) => failureOf(request.accept({ queuePair: right.qp }))),
        )
        const { left, resolved } = yield* clientTo()
        const failure = yield* failureOf(left.manager.connect(resolved, { queuePair: left.qp }))
        return [yield* Fiber.join(accepting), failure] as const
      }),
    )
    expect(server).toMatchObject({ errno: "EINVAL", verb: "rdma_accept", attribute: "queuePair" })
    expect(client).toMatchObject({ _tag: "ConnectionRejected", reason: 28 })
  })

  it("who is interrupted while it connects leaves nothing behind, and the peer is told", () => {
    const outcome = resultOf(
      Effect.gen(function* () {
        const right = yield* managed(1)
        const listener = yield* right.manager.listen({ port: 7174 })
        const { left, resolved } = yield* clientTo()
        const fiber = yield* Effect.forkScoped(left.manager.connect(resolved, { queuePair: left.qp }))
        const request = yield* listener.next
        yield* Fiber.interrupt(fiber)
        yield* Effect.sleep("1 millis")
        return yield* failureOf(request.accept({ queuePair: right.qp }))
      }),
    )
    expect(outcome).toMatchObject({ _tag: "ConnectionRejected", reason: 4 })
  })

  it("a listener that goes rejects what waits; one for an address takes no other; one that is full takes no more", () => {
    const [gone, other] = resultOf(
      Effect.gen(function* () {
        const right = yield* managed(1)
        const { left, resolved } = yield* clientTo()
        const six = yield* left.manager.resolve("fd00::2", { port: 7174 })
        const scope = yield* Effect.scope
        const fork = (to: typeof resolved) =>
          Effect.gen(function* () {
            const queuePair = yield* left.domain.queuePair({ type: "rc", cq: left.cq })
            return yield* failureOf(left.manager.connect(to, { queuePair }))
          }).pipe(Effect.scoped, Effect.forkIn(scope))
        const waiting = yield* Effect.scoped(
          Effect.gen(function* () {
            yield* right.manager.listen({ port: 7174, backlog: 1 })
            const first = yield* fork(resolved)
            yield* Effect.sleep("1 millis")
            // No answer: it will ask again, and then nobody listens.
            const second = yield* fork(resolved)
            yield* Effect.sleep("1 second")
            expect(second.pollUnsafe()).toBeUndefined()
            return [first, second] as const
          }),
        )
        const [first, second] = yield* Effect.all([Fiber.join(waiting[0]), Fiber.join(waiting[1])])
        expect(second).toMatchObject({ reason: 8 })
        yield* right.manager.listen({ port: 7174, address: "10.0.0.2" })
        return [first, yield* Fiber.join(yield* fork(six))] as const
      }),
    )
    expect(gone).toMatchObject({ _tag: "ConnectionRejected", reason: 28 })
    expect(other).toMatchObject({ _tag: "ConnectionRejected", reason: 28 })
  })

  it("who never answers: the peer is told when the manager goes", () => {
    const error = resultOf(
      Effect.gen(function* () {
        const { left, resolved } = yield* clientTo()
        return yield* Effect.scoped(
          Effect.gen(function* () {
            const right = yield* managed(1)
            const listener = yield* right.manager.listen({ port: 7174 })
            const fiber = yield* Effect.forkDetach(
              Effect.scoped(failureOf(left.manager.connect(resolved, { queuePair: left.qp }))),
            )
            yield* listener.next
            return fiber
          }),
        ).pipe(Effect.flatMap(Fiber.join))
      }),
    )
    expect(error).toMatchObject({ _tag: "ConnectionRejected", reason: 28 })
  })

  it("a request is answered once", () => {
    const errors = resultOf(
      Effect.gen(function* () {
        const right = yield* managed(1)
        const listener = yield* right.manager.listen({ port: 7174 })
        const { left, resolved } = yield* clientTo()
        yield* Effect.forkScoped(failureOf(left.manager.connect(resolved, { queuePair: left.qp })))
        const request = yield* listener.next
        yield* request.reject()
        return [yield* failureOf(request.reject()), yield* failureOf(request.accept({ queuePair: right.qp }))]
      }),
    )
    expect(errors).toMatchObject([
      { errno: "EINVAL", verb: "rdma_reject" },
      { errno: "EINVAL", verb: "rdma_accept" },
    ])
  })
})
