import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { connected, managed, read, text } from "./cmEnds.ts"
import { pattern } from "./ends.ts"
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
          address: { hopLimit: 64 },
        })
    },
  )
})

export { managed, text }
