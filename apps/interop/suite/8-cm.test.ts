/* The connection manager against librdmacm's programs: connections, messages over them, refusals, ends. */
import type { Provider } from "@rdmakit/device/layer"
import { layer } from "@rdmakit/softnic"
import { connectionManager, openDevice } from "@rdmakit/verbs"
import { Effect, Fiber, type Scope } from "effect"
import { expect, it } from "vitest"
import { softnicOptions } from "../src/Nic.ts"
import { describeLong, type Ip, ourAddress, setMtu, theirAddress, theLab } from "./lab.ts"

const PORT = 7471
const MESSAGES = 10
const BYTES = 100
const families: ReadonlyArray<Ip> = [4, 6]

/** Runs a program on a device of the guest's network. */
const onOurs = async <A, E>(program: Effect.Effect<A, E, Provider | Scope.Scope>): Promise<A> => {
  const { link } = await theLab()
  return Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(layer([softnicOptions({ link })]))))
}

/** A queue pair as cmatose has it, with room for all messages each way. */
const makeSide = Effect.gen(function* () {
  const context = yield* openDevice()
  const manager = yield* connectionManager(context)
  const domain = yield* context.protectionDomain
  const cq = yield* context.completionQueue(64)
  const capabilities = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1, maxInlineBytes: 0 }
  const queuePair = yield* domain.queuePair({ type: "rc", cq, capabilities })
  const incoming = yield* domain.memory(BYTES * MESSAGES, ["local-write"])
  const outgoing = yield* domain.memory(BYTES)
  yield* manager.prepare(queuePair)
  const receives = yield* Effect.forkScoped(
    Effect.forEach(
      Array.from({ length: MESSAGES }, (_, i) => i),
      (i) => queuePair.receive(incoming.range(i * BYTES, BYTES)),
      { concurrency: "unbounded" },
    ),
  )
  // The receives are posted when the fiber has had its turn.
  yield* Effect.yieldNow
  const sendAll = Effect.gen(function* () {
    for (let i = 0; i < MESSAGES; i++) yield* queuePair.send(outgoing)
  })
  const receiveAll = Fiber.join(receives)
  return { manager, queuePair, sendAll, receiveAll }
})

const inGuest = (command: string) =>
  Effect.promise(async () => {
    const { guest } = await theLab()
    return guest.run(command, 40)
  })

const listens = Effect.promise(async () => {
  const { guest } = await theLab()
  await guest.must("until /bin/rdma resource show cm_id | grep -q LISTEN; do sleep 0.05; done", 20)
})

describeLong.each(families)("the connection manager over IPv%i", (ip) => {
  const bind = ip === 6 ? "-b fd00::1" : "-b 10.0.0.1"

  it("ucmatose connects to us, sends, receives, and we disconnect", async () => {
    await setMtu(1500)
    const { received, told } = await onOurs(
      Effect.gen(function* () {
        const side = yield* makeSide
        const listener = yield* side.manager.listen({ port: PORT })
        const client = yield* Effect.forkScoped(
          inGuest(`ucmatose -s ${ourAddress(ip)} -p ${PORT} -C ${MESSAGES} -S ${BYTES}`),
        )
        const request = yield* listener.next
        const connection = yield* request.accept({ queuePair: side.queuePair })
        yield* side.sendAll
        const messages = yield* side.receiveAll
        // The server ends it.
        yield* connection.disconnect
        return { received: messages.map(({ byteLength }) => byteLength), told: yield* Fiber.join(client) }
      }),
    )
    expect(received).toEqual(Array(MESSAGES).fill(BYTES))
    expect(told).toMatchObject({ code: 0 })
    expect(told.output).toContain("test complete")
    expect(told.output).toContain("return status 0")
  })

  it("we connect to ucmatose, send, receive, and it disconnects", async () => {
    const { received, told } = await onOurs(
      Effect.gen(function* () {
        const server = yield* Effect.forkScoped(inGuest(`ucmatose ${bind} -p ${PORT} -C ${MESSAGES} -S ${BYTES}`))
        yield* listens
        const side = yield* makeSide
        const resolved = yield* side.manager.resolve(theirAddress(ip), { port: PORT })
        const connection = yield* side.manager.connect(resolved, { queuePair: side.queuePair })
        yield* side.sendAll
        const messages = yield* side.receiveAll
        yield* connection.ended
        return { received: messages.map(({ byteLength }) => byteLength), told: yield* Fiber.join(server) }
      }),
    )
    expect(received).toEqual(Array(MESSAGES).fill(BYTES))
    expect(told.output).toContain("test complete")
    expect(told.output).toContain("return status 0")
  })

  it("ucmatose hears that we reject it", async () => {
    const told = await onOurs(
      Effect.gen(function* () {
        const side = yield* makeSide
        const listener = yield* side.manager.listen({ port: PORT })
        const client = yield* Effect.forkScoped(inGuest(`ucmatose -s ${ourAddress(ip)} -p ${PORT}`))
        const request = yield* listener.next
        yield* request.reject(new TextEncoder().encode("no"))
        return yield* Fiber.join(client)
      }),
    )
    // IB_CM_REJ_CONSUMER_DEFINED.
    expect(told.output).toContain("RDMA_CM_EVENT_REJECTED, error: 28")
  })

  it("ucmatose hears that nobody listens", async () => {
    const told = await onOurs(
      Effect.gen(function* () {
        yield* makeSide
        return yield* inGuest(`ucmatose -s ${ourAddress(ip)} -p 7999`)
      }),
    )
    // IB_CM_REJ_INVALID_SERVICE_ID.
    expect(told.output).toContain("RDMA_CM_EVENT_REJECTED, error: 8")
  })

  it("we hear that nobody listens in the guest", async () => {
    const failure = await onOurs(
      Effect.gen(function* () {
        const side = yield* makeSide
        const resolved = yield* side.manager.resolve(theirAddress(ip), { port: 7998 })
        return yield* Effect.flip(side.manager.connect(resolved, { queuePair: side.queuePair }))
      }),
    )
    expect(failure).toMatchObject({ _tag: "ConnectionRejected", reason: 8, text: "invalid service ID" })
  })
})
