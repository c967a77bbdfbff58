import type { Packet } from "@rdmakit/packet"
import { Effect, Fiber, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { clientTo, connected, managed, read, text } from "./cmEnds.ts"
import { pattern } from "./ends.ts"
import { Loopback } from "./Loopback.ts"
import { resultOf } from "./program.ts"

describe("connect", () => {
  it.each(["10.0.0.2", "fd00::2", "fe80::5054:ff:fe12:2"])(
    "%s: both sides hear of each other, and octets go both ways",
    (host) => {
      const seen = resultOf(
        Effect.gen(function* () {
          const { left, right, client, accepted } = yield* connected(host)
          const server = yield* Fiber.join(accepted)
          left.memory.octets.set(pattern(5000))
          yield* left.qp.write(left.memory.range(0, 5000), right.memory)
          const received = yield* Effect.forkScoped(left.qp.receive(left.memory))
          yield* right.qp.send(right.memory.range(0, 5000))
          const { byteLength } = yield* Fiber.join(received)
          return {
            bytes: byteLength,
            octets: left.memory.octets.slice(0, 5000),
            states: [left.qp.state, right.qp.state],
            said: [read(client.peer.privateData), read(server.peer.privateData)],
            peers: [client.peer.name, server.peer.name],
            qpns: [client.peer.qpn === right.qp.number, server.peer.qpn === left.qp.number],
            settings: [yield* left.qp.query, yield* right.qp.query] as const,
          }
        }),
      )
      expect(seen.bytes).toBe(5000)
      expect(seen.octets).toEqual(pattern(5000))
      expect(seen.states).toEqual(["RTS", "RTS"])
      expect(seen.said).toEqual(["welcome", "hello"])
      expect(seen.peers[0]).toBe(`${host} port 7174`)
      expect(seen.qpns).toEqual([true, true])
      const [left, right] = seen.settings
      expect([left.sendPsn, left.receivePsn]).toEqual([right.receivePsn, right.sendPsn])
      // What Linux' rdma_cm agrees on.
      for (const one of [left, right])
        expect(one).toMatchObject({
          pathMtuBytes: 4096,
          retryCount: 7,
          rnrRetry: 7,
          responderResources: 16,
          initiatorDepth: 16,
          timeout: { code: 19 },
          minRnrTimer: { code: 12 },
          address: { hopLimit: 64 },
        })
    },
  )

  it("agrees on depths, retries and times", () => {
    const [left, right] = resultOf(
      Effect.gen(function* () {
        const one = yield* managed(0)
        const two = yield* managed(1)
        const listener = yield* two.manager.listen({ port: 1 })
        const accepted = yield* Effect.forkScoped(
          Effect.flatMap(listener.next, (request) => {
            expect([request.responderResources, request.initiatorDepth]).toEqual([9, 3])
            expect([request.type, request.address]).toEqual(["rc", "10.0.0.2"])
            return request.accept({ queuePair: two.qp, responderResources: 4, rnrRetry: 2, minRnrTimer: "1.28ms" })
          }),
        )
        const resolved = yield* one.manager.resolve("10.0.0.2", { port: 1, ackTimeout: "67.1ms", trafficClass: 106 })
        const depths = { responderResources: 3, initiatorDepth: 9 }
        yield* one.manager.connect(resolved, { queuePair: one.qp, retryCount: 5, rnrRetry: 1, ...depths })
        yield* Fiber.join(accepted)
        return [yield* one.qp.query, yield* two.qp.query] as const
      }),
    )
    // Each tries again as often as the other has said where receives are missing, READs as many as the other serves.
    expect(left).toMatchObject({ responderResources: 3, initiatorDepth: 4, rnrRetry: 2, retryCount: 5 })
    expect(right).toMatchObject({ responderResources: 4, initiatorDepth: 3, rnrRetry: 1, retryCount: 5 })
    expect([left.timeout?.code, right.timeout?.code]).toEqual([14, 16])
    expect(right.minRnrTimer?.code).toBe(14)
    expect([left.address?.trafficClass, right.address?.trafficClass]).toEqual([106, 106])
    expect(right.accessFlags).toEqual(["remote-write", "remote-read", "remote-atomic"])
  })

  it("UC queue pairs, at the MTU of who asks", () => {
    const network = new Loopback({ mtuBytes: 1024 })
    const status = resultOf(
      Effect.gen(function* () {
        const { left, right, accepted } = yield* connected("10.0.0.2", { type: "uc" })
        yield* Fiber.join(accepted)
        right.memory.octets.fill(1)
        yield* right.qp.write(right.memory.range(0, 3000), left.memory)
        yield* Effect.sleep("10 micros")
        return { query: yield* left.qp.query, octets: left.memory.octets.slice(0, 3000) }
      }),
      { network },
    )
    expect(status.query).toMatchObject({ type: "uc", pathMtuBytes: 1024, accessFlags: ["remote-write"] })
    expect(status.octets).toEqual(new Uint8Array(3000).fill(1))
  })

  it("a device with itself", () => {
    const octets = resultOf(
      Effect.gen(function* () {
        const one = yield* managed(0)
        const two = yield* managed(0)
        const listener = yield* two.manager.listen({ port: 7 })
        const accepted = yield* Effect.forkScoped(
          Effect.flatMap(listener.next, (request) => request.accept({ queuePair: two.qp })),
        )
        const resolved = yield* one.manager.resolve("10.0.0.1", { port: 7 })
        const client = yield* one.manager.connect(resolved, { queuePair: one.qp })
        const server = yield* Fiber.join(accepted)
        one.memory.octets.set(pattern(100))
        yield* one.qp.write(one.memory.range(0, 100), two.memory)
        yield* client.disconnect
        yield* server.ended
        return two.memory.octets.slice(0, 100)
      }),
    )
    expect(octets).toEqual(pattern(100))
  })

  it("many at once: each comes to its own", () => {
    const pairs = resultOf(
      Effect.gen(function* () {
        const one = yield* managed(0)
        const two = yield* managed(1)
        const listener = yield* two.manager.listen({ port: 7 })
        const make = (end: typeof one) => end.domain.queuePair({ type: "rc", cq: end.cq })
        yield* Effect.forkScoped(
          Stream.runForEach(listener.requests, (request) =>
            Effect.flatMap(make(two), (queuePair) =>
              Effect.forkScoped(request.accept({ queuePair, privateData: request.privateData })),
            ),
          ),
        )
        const resolved = yield* one.manager.resolve("10.0.0.2", { port: 7 })
        return yield* Effect.forEach(
          Array.from({ length: 40 }, (_, index) => index),
          (index) =>
            Effect.gen(function* () {
              const queuePair = yield* make(one)
              const connection = yield* one.manager.connect(resolved, { queuePair, privateData: text(`${index}`) })
              return `${index}` === read(connection.peer.privateData)
            }),
          { concurrency: "unbounded" },
        )
      }),
    )
    expect(pairs).toEqual(new Array(40).fill(true))
  })
})

describe("over a network that loses", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "three in ten datagrams, seed %i: connections come about, and carry octets",
    (seed) => {
      let drawn = seed
      const fate = (packet: Packet): "lose" | "deliver" => {
        drawn = (Math.imul(drawn, 1_664_525) + 1_013_904_223) >>> 0
        return packet.opcode === 0x64 && drawn % 10 < 3 ? "lose" : "deliver"
      }
      const octets = resultOf(
        Effect.gen(function* () {
          const { left, right, accepted } = yield* connected()
          yield* Fiber.join(accepted)
          left.memory.octets.set(pattern(100, seed))
          yield* left.qp.write(left.memory.range(0, 100), right.memory)
          return right.memory.octets.slice(0, 100)
        }),
        { network: new Loopback({ fate }) },
      )
      expect(octets).toEqual(pattern(100, seed))
    },
  )
})

it("managers of one device share queue pair 1, which ends with the last", () => {
  resultOf(
    Effect.gen(function* () {
      const right = yield* managed(1)
      yield* Effect.scoped(managed(1))
      const listener = yield* right.manager.listen({ port: 7174 })
      const { left, resolved } = yield* clientTo()
      yield* Effect.scoped(managed(0))
      yield* Effect.forkScoped(Effect.flatMap(listener.next, (request) => request.accept({ queuePair: right.qp })))
      yield* left.manager.connect(resolved, { queuePair: left.qp })
    }),
  )
})
