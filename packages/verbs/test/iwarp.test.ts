import { type IwarpDeviceOptions, iwarpLayer } from "@rdmakit/softnic"
import { connectionManager, openDevice } from "@rdmakit/verbs"
import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { program as byAddress } from "../examples/byAddress.ts"
import { program as twoEndpoints } from "../examples/twoEndpoints.ts"

let nextPort = 21_000 + (process.pid % 300) * 40
const freePort = (): number => nextPort++

/** Two devices of this host, each with an address of loopback. */
const devices = () => {
  const meetingPort = freePort()
  const options: ReadonlyArray<IwarpDeviceOptions> = [
    { address: "127.0.0.11", meetingPort, device: { name: "left", seed: 1 } },
    { address: "127.0.0.12", meetingPort, device: { name: "right", seed: 2 } },
  ]
  return iwarpLayer(options)
}

const endpoint = Effect.fnUntraced(function* (name: string) {
  const context = yield* openDevice(name)
  const manager = yield* connectionManager(context)
  const domain = yield* context.protectionDomain
  const memory = yield* domain.memory("64KiB", ["local-write", "remote-write", "remote-read", "remote-atomic"])
  const cq = yield* context.completionQueue(64)
  const queuePair = yield* domain.queuePair({ type: "rc", cq })
  yield* manager.prepare(queuePair)
  return { context, manager, memory, queuePair }
})

const DEPTHS = { responderResources: 3, initiatorDepth: 2 }

/** Both ends of a connection that the left one asks for. */
const connected = Effect.gen(function* () {
  const left = yield* endpoint("left")
  const right = yield* endpoint("right")
  const port = freePort()
  const listener = yield* right.manager.listen({ port })
  const resolved = yield* left.manager.resolve("127.0.0.12", { port })
  const privateData = Uint8Array.of(1, 2, 3)
  const [asked, taken] = yield* Effect.all(
    [
      left.manager.connect(resolved, { queuePair: left.queuePair, privateData }),
      Effect.flatMap(listener.next, (request) =>
        Effect.map(
          request.accept({ queuePair: right.queuePair, privateData: Uint8Array.of(9), ...DEPTHS }),
          (connection) => ({ request, connection }),
        ),
      ),
    ],
    { concurrency: "unbounded" },
  )
  return { left, right, asked, ...taken }
})

const run = <A, E>(program: Effect.Effect<A, E, never>) => Effect.runPromise(program)

describe("programs of verbs over iWARP", () => {
  it("whose queue pairs know each other's numbers alone", async () => {
    expect(await run(twoEndpoints.pipe(Effect.provide(devices())))).toEqual({ said: "hello", read: "written" })
  })

  it("over IPv6, with addresses that are found elsewhere", async () => {
    const ports = [freePort(), freePort()] as const
    const device = (mine: 0 | 1): IwarpDeviceOptions => ({
      address: `fd00::${mine + 1}`,
      host: "::1",
      meetingPort: ports[mine],
      device: { name: mine === 0 ? "left" : "right", seed: mine },
      peers: [{ address: `fd00::${2 - mine}`, host: "::1", meetingPort: ports[1 - mine]! }],
    })
    const layer = iwarpLayer([device(0), device(1)])
    expect(await run(twoEndpoints.pipe(Effect.provide(layer)))).toEqual({ said: "hello", read: "written" })
  })

  it("that connect by address", async () => {
    const outcome = await run(byAddress("127.0.0.12").pipe(Effect.provide(devices())))
    expect(outcome).toEqual({ received: "Success", text: "hello" })
  })

  it("that do all operations, with megabytes", async () => {
    const program = Effect.gen(function* () {
      const { left, right, asked, request, connection } = yield* connected
      expect([...request.privateData]).toEqual([1, 2, 3])
      expect([...asked.peer.privateData]).toEqual([9])
      // Of the 16 that both have by default the responder takes fewer.
      expect(asked.settings).toMatchObject({ initiatorDepth: 3, responderResources: 2 })
      expect(connection.settings).toMatchObject({ initiatorDepth: 2, responderResources: 3 })
      left.memory.octets.forEach((_, at) => {
        left.memory.octets[at] = at * 31
      })
      for (let round = 0; round < 40; round++)
        yield* left.queuePair.write(left.memory.range(0, 32_768), right.memory.range(32_768))
      expect(right.memory.octets.subarray(32_768)).toEqual(left.memory.octets.subarray(0, 32_768))
      yield* right.queuePair.read(right.memory.range(0, 1000), left.memory.range(5))
      expect(right.memory.octets.subarray(0, 1000)).toEqual(left.memory.octets.subarray(5, 1005))
      left.memory.octets.set(Uint8Array.of(5, 0, 0, 0, 0, 0, 0, 0), 64)
      const [received] = yield* Effect.all(
        [right.queuePair.receive(right.memory.range(0, 10)), left.queuePair.send(Uint8Array.of(7, 8))],
        { concurrency: "unbounded" },
      )
      expect(received.byteLength).toBe(2)
      yield* right.queuePair.fetchAndAdd(right.memory.range(128, 8), left.memory.range(64), 3n)
      return [right.memory.octets[128], left.memory.octets[64]]
    })
    expect(await run(program.pipe(Effect.scoped, Effect.provide(devices())))).toEqual([5, 8])
  })

  it("that are refused, or find nobody", async () => {
    const program = Effect.gen(function* () {
      const left = yield* endpoint("left")
      const right = yield* endpoint("right")
      const port = freePort()
      const nobody = yield* left.manager.resolve("127.0.0.12", { port })
      const alone = yield* Effect.flip(left.manager.connect(nobody, { queuePair: left.queuePair }))
      const listener = yield* right.manager.listen({ port })
      const again = yield* Effect.flip(right.manager.listen({ port }))
      const other = yield* endpoint("left")
      const [refused] = yield* Effect.all(
        [
          Effect.flip(other.manager.connect(nobody, { queuePair: other.queuePair })),
          Effect.flatMap(listener.next, (request) => request.reject(Uint8Array.of(4, 2))),
        ],
        { concurrency: "unbounded" },
      )
      return { alone, again, refused }
    })
    const { alone, again, refused } = await run(program.pipe(Effect.scoped, Effect.provide(devices())))
    expect(alone).toMatchObject({ _tag: "ConnectionRejected", reason: 8, text: "invalid service ID" })
    expect(again).toMatchObject({ _tag: "VerbsError", errno: "EBUSY" })
    expect(refused).toMatchObject({ _tag: "ConnectionRejected", reason: 28, privateData: Uint8Array.of(4, 2) })
  })

  it("that give more than MPA has room for, or accept what has left", async () => {
    const program = Effect.gen(function* () {
      const left = yield* endpoint("left")
      const right = yield* endpoint("right")
      const port = freePort()
      const listener = yield* right.manager.listen({ port })
      const resolved = yield* left.manager.resolve("127.0.0.12", { port })
      const asking = { queuePair: left.queuePair, privateData: new Uint8Array(509) }
      const much = yield* Effect.flip(left.manager.connect(resolved, asking))
      const leaving = yield* Effect.forkScoped(left.manager.connect(resolved, { queuePair: left.queuePair }))
      const request = yield* listener.next
      yield* Fiber.interrupt(leaving)
      yield* Effect.sleep("50 millis")
      const connection = yield* request.accept({ queuePair: right.queuePair })
      yield* connection.ended
      return { much, state: right.queuePair.state }
    })
    const { much, state } = await run(program.pipe(Effect.scoped, Effect.provide(devices())))
    expect(much).toMatchObject({ errno: "EINVAL", problem: "private data of 509 octets" })
    expect(state).toBe("ERR")
  })

  it("whose peer ends the connection, or does something wrong", async () => {
    const ended = Effect.gen(function* () {
      const { left, asked, connection } = yield* connected
      const waiting = yield* Effect.forkScoped(left.queuePair.receive(left.memory))
      yield* connection.disconnect
      yield* asked.ended
      return { flushed: yield* Effect.flip(Fiber.join(waiting)), state: left.queuePair.state }
    })
    const { flushed, state } = await run(ended.pipe(Effect.scoped, Effect.provide(devices())))
    expect(flushed).toMatchObject({ _tag: "WorkFailed", status: "WR_FLUSH_ERR" })
    expect(state).toBe("ERR")
    const wrong = Effect.gen(function* () {
      const { left, right, asked } = yield* connected
      const failed = yield* Effect.flip(
        left.queuePair.read(left.memory.range(0, 8), { ...right.memory.range(0), rkey: 0x1234 }),
      )
      yield* asked.ended
      return failed
    })
    const failed = await run(wrong.pipe(Effect.scoped, Effect.provide(devices())))
    expect(failed).toMatchObject({ _tag: "WorkFailed", status: "REM_ACCESS_ERR" })
  })
})
