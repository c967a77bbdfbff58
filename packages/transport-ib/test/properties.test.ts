import { telemetryAlive } from "@rdmakit/conformance"
import { Flag, Opcode } from "@rdmakit/packet"
import { NEVER } from "@rdmakit/protocol"
import { uniform } from "@rdmakit/units"
import fc from "fast-check"
import { expect, it } from "vitest"
import { connection, FLIGHT } from "./connection.ts"

const network = fc.record({
  seed: fc.integer(),
  loss: fc.constantFrom(0, 0.01, 0.1, 0.3),
  duplicate: fc.constantFrom(0, 0.1, 0.5),
  jitter: fc.constantFrom(0, 1, 10, 30),
})

const connectionOptions = fc.record({
  mtuBytes: fc.constantFrom(7, 50, 100, 1000),
  ackEvery: fc.constantFrom(1, 2, 5),
  nakIntervalPs: fc.constantFrom(0, 5e6, NEVER),
  ackDuplicates: fc.boolean(),
  ackTimeoutPs: fc.constantFrom(10e6, 100e6),
  telemetry: fc.boolean(),
  repace: fc.boolean(),
  recovery: fc.constantFrom("go-back-n" as const, "timeout" as const),
})

const sizes = fc.array(fc.constantFrom(0, 1, 6, 7, 8, 99, 100, 101, 350), { minLength: 1, maxLength: 10 })

it("whatever is lost, duplicated or overtaken, every byte arrives in order once, and nothing is left", () => {
  fc.assert(
    fc.property(
      network,
      connectionOptions,
      sizes,
      fc.constantFrom(1, 150, Infinity),
      fc.nat(2 ** 24 - 1),
      (...given) => {
        const [{ seed, loss, duplicate, jitter }, config, messages, window, psn] = given
        let draws = 0
        const draw = (): number => uniform(seed, 0, draws++)
        const delay = (): number => FLIGHT + Math.floor(draw() * jitter * FLIGHT)
        /** What the responder should have taken in: packets in order, each once. */
        let expected = psn
        let bytes = 0
        const { pair, pool, requester, responder, write, told } = connection({
          psn,
          // No run of losses is long enough to end it.
          config: { ...config, retryCount: 1000 },
          fixed: { window },
          path: () => (draw() < loss ? [] : draw() < duplicate ? [delay(), delay()] : [delay()]),
          onWay: (packet) => {
            if (packet.has(Flag.Telemetry)) packet.stampHop(pair.now, 0, 0, 0, 1)
          },
          onArrival: (_now, packet, to) => {
            if (responder.bytesReceived !== bytes)
              throw new Error(`${responder.bytesReceived} bytes taken in, not ${bytes}`)
            if (to === 0 || packet.opcode >= Opcode.Acknowledge || packet.psn !== expected) return
            expected = (expected + 1) & 0xffffff
            bytes += packet.payloadBytes
          },
        })
        write(...messages)
        pair.run()
        const total = messages.reduce<number>((sum, size) => sum + size, 0)
        expect([responder.bytesReceived, requester.bytesAcknowledged, requester.finished]).toEqual([total, total, true])
        expect(told()).toEqual(messages.map((_, message) => `completed ${message}`))
        expect(pair.events.map(({ event }) => event.bytes)).toEqual(messages)
        expect([pool.alive, telemetryAlive(pool), pair.next]).toEqual([0, 0, NEVER])
      },
    ),
    { numRuns: 100 },
  )
})
