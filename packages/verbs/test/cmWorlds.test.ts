import type { Provider } from "@rdmakit/device/layer"
import { Provider as Devices } from "@rdmakit/device/layer"
import { simulateProgram, Topology } from "@rdmakit/fabric"
import { openSoftnic } from "@rdmakit/softnic"
import { Effect, Fiber, Layer, type Scope } from "effect"
import { expect, it } from "vitest"
import { formatGid } from "../src/index.ts"
import { managed, read, text } from "./cmEnds.ts"
import { pattern } from "./ends.ts"

/** Connects the devices of whatever world it is given, writes, and disconnects. */
const program = Effect.gen(function* () {
  const left = yield* managed(0)
  const right = yield* managed(1)
  const index = yield* right.context.chooseGid()
  const host = formatGid((yield* right.context.gid(index)).gid)
  const listener = yield* right.manager.listen({ port: 7174 })
  const accepted = yield* Effect.forkScoped(
    Effect.flatMap(listener.next, (request) => request.accept({ queuePair: right.qp, privateData: text("welcome") })),
  )
  const resolved = yield* left.manager.resolve(host, { port: 7174 })
  const client = yield* left.manager.connect(resolved, { queuePair: left.qp })
  const server = yield* Fiber.join(accepted)
  left.memory.octets.set(pattern(20_000))
  yield* left.qp.write(left.memory.range(0, 20_000), right.memory)
  yield* client.disconnect
  yield* server.ended
  return {
    said: read(client.peer.privateData),
    octets: right.memory.octets.slice(0, 20_000),
    states: [left.qp.state, right.qp.state],
  }
})

const expected = { said: "welcome", octets: pattern(20_000), states: ["ERR", "ERR"] }

it("on a simulated network, in virtual time, with the same outcome each time", async () => {
  const link = { rateBps: 100e9, delayPs: 1e6, lossRate: 0 }
  const graph = {
    nodes: 3,
    isSwitch: Uint8Array.of(0, 0, 1),
    links: [
      { a: 0, b: 2, ...link },
      { a: 1, b: 2, ...link },
    ],
  }
  const run = Effect.provide(simulateProgram(Effect.scoped(program)), Layer.succeed(Topology, graph))
  const { value, time, digest } = await Effect.runPromise(run)
  expect(value).toEqual(expected)
  // Five datagrams of management, a write and its acknowledgement: some 4 µs each way.
  expect(time).toBeLessThan(50e6)
  expect((await Effect.runPromise(run)).digest).toBe(digest)
})

it("over UDP on loopback, in real time", async () => {
  const first = await openSoftnic({ link: { udp: { address: "127.0.0.2", port: 0 } }, device: { seed: 1 } })
  const second = await openSoftnic({
    link: { udp: { address: "127.0.0.3", port: first.port! } },
    device: { seed: 2 },
  })
  const run = <A, E>(effect: Effect.Effect<A, E, Provider | Scope.Scope>): Promise<A> =>
    Effect.runPromise(
      Effect.scoped(effect).pipe(Effect.provideService(Devices, { devices: [first.device, second.device] })),
    )
  try {
    expect(await run(program)).toEqual(expected)
  } finally {
    first.close()
    second.close()
  }
})
