import { Effect, Fiber, Stream } from "effect"
import { describe, expect, it } from "vitest"
import type { ConnectionRejected } from "../src/index.ts"
import { failureOf, managed, read, text } from "./cmEnds.ts"
import { pattern } from "./ends.ts"
import { resultOf } from "./program.ts"

describe("datagrams", () => {
  const program = Effect.gen(function* () {
    const left = yield* managed(0, { type: "ud" })
    const right = yield* managed(1, { type: "ud" })
    const listener = yield* right.manager.listenDatagrams({ port: 9 })
    yield* Effect.forkScoped(
      Stream.runForEach(listener.requests, (request) =>
        read(request.privateData) === "bad"
          ? request.reject(text("go away"))
          : request.accept({ queuePair: right.qp, privateData: text("here") }),
      ),
    )
    const resolved = yield* left.manager.resolve("10.0.0.2", { port: 9, space: "udp" })
    return { left, right, resolved }
  })

  it("the peer names its queue pair, and datagrams reach it", () => {
    const seen = resultOf(
      Effect.gen(function* () {
        const { left, right, resolved } = yield* program
        yield* left.manager.prepare(left.qp)
        yield* right.manager.prepare(right.qp)
        const service = yield* left.manager.resolveDatagrams(resolved, text("good"))
        const receiving = yield* Effect.forkScoped(right.qp.receive(right.memory))
        const address = yield* left.domain.addressHandle(service.address)
        left.memory.octets.set(pattern(500))
        const { qpn, queueKey } = service
        yield* left.qp.send(left.memory.range(0, 500), { to: { address, qpn, queueKey } })
        const { byteLength } = yield* Fiber.join(receiving)
        return { byteLength, octets: right.memory.octets.slice(40, 540), said: read(service.privateData), queueKey }
      }),
    )
    expect(seen).toEqual({ byteLength: 540, octets: pattern(500), said: "here", queueKey: 0x01234567 })
  })

  it("the peer refuses; nobody serves; a port of connections serves none", () => {
    const errors = resultOf(
      Effect.gen(function* () {
        const { left, right, resolved } = yield* program
        yield* right.manager.listen({ port: 10 })
        const other = yield* left.manager.resolve("10.0.0.2", { port: 11, space: "udp" })
        const wrong = yield* left.manager.resolve("10.0.0.2", { port: 10 })
        return [
          yield* failureOf(left.manager.resolveDatagrams(resolved, text("bad"))),
          yield* failureOf(left.manager.resolveDatagrams(other)),
          yield* failureOf(left.manager.resolveDatagrams(wrong)),
        ]
      }),
    )
    expect(errors).toMatchObject([
      { _tag: "ConnectionRejected", reason: 2, text: "rejected" },
      { _tag: "ConnectionRejected", reason: 1, text: "service not supported" },
      { _tag: "VerbsError", attribute: "space" },
    ])
    expect(read((errors[0] as ConnectionRejected).privateData)).toBe("go away")
  })
})
