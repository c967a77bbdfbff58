import { Effect, Exit, Scope } from "effect"
import { describe, expect, it } from "vitest"
import { openDevice, VerbsError } from "../src/index.ts"
import { end, pair } from "./ends.ts"
import { Loopback } from "./Loopback.ts"
import { resultOf, runProgram } from "./program.ts"

/** How many of everything a device has in use. */
const inUse = (network: Loopback, device = 0): Record<string, number> =>
  Object.fromEntries(Object.entries(network.devices[device]!.resources).filter(([, count]) => count > 0))

const busy = (verb: string) => ({ _tag: "VerbsError", errno: "EBUSY", verb })

describe("leaving a scope", () => {
  it("frees everything, in the right order", () => {
    const network = new Loopback()
    const program = Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { left } = yield* pair()
          const { context, domain, memory, cq } = left
          const window = yield* domain.memoryWindow(2)
          yield* left.qp.bind(window, { region: memory, access: ["remote-read"] })
          const srq = yield* domain.sharedReceiveQueue({ maxWr: 4 })
          const ud = yield* domain.queuePair({ type: "ud", cq, srq })
          yield* ud.attachMulticast("224.0.0.9")
          yield* domain.addressHandle({ gid: "10.0.0.2" })
          yield* domain.parentDomain(yield* context.threadDomain)
          expect(inUse(network)).toEqual({
            allocations: 1,
            protectionDomains: 2,
            threadDomains: 1,
            memoryRegions: 1,
            memoryWindows: 1,
            completionQueues: 1,
            sharedReceiveQueues: 1,
            queuePairs: 2,
            addressHandles: 1,
            multicastAttachments: 1,
          })
        }),
      )
      expect([inUse(network, 0), inUse(network, 1)]).toEqual([{}, {}])
    })
    resultOf(program, { network })
  })

  it("frees everything after a failure and an interruption too", () => {
    const failing = runProgram(
      Effect.gen(function* () {
        const { left } = yield* pair()
        yield* left.qp.modify("SQD", { port: 1 })
      }),
    )
    expect(Exit.isFailure(failing)).toBe(true)
    resultOf(
      Effect.gen(function* () {
        const { left } = yield* pair()
        return yield* left.qp.receive()
      }).pipe(Effect.scoped, Effect.timeoutOption("1 millis")),
    )
  })

  it("before its users leaves it to the last of them", () => {
    const network = new Loopback()
    const program = Effect.gen(function* () {
      const context = yield* openDevice()
      const domain = yield* context.protectionDomain
      const scope = yield* Scope.make()
      const inner = Scope.provide(scope)
      const cq = yield* inner(context.completionQueue(4))
      const srq = yield* inner(domain.sharedReceiveQueue({ maxWr: 4 }))
      const memory = yield* inner(domain.memory(64, ["local-write", "mw-bind"]))
      const window = yield* domain.memoryWindow(1)
      const qp = yield* domain.queuePair({ type: "rc", cq, srq })
      yield* Scope.close(scope, Exit.void)
      // The window is not bound: the region can go, and its memory. What the queue pair needs cannot.
      expect(inUse(network)).toEqual({
        protectionDomains: 1,
        memoryWindows: 1,
        completionQueues: 1,
        sharedReceiveQueues: 1,
        queuePairs: 1,
      })
      yield* qp.destroy
      expect(inUse(network)).toEqual({ protectionDomains: 1, memoryWindows: 1 })
      expect(yield* Effect.flip(cq.destroy)).toMatchObject({ errno: "EINVAL", verb: "destroy_cq" })
      expect(yield* Effect.flip(memory.dereg)).toMatchObject({ errno: "EINVAL", verb: "dereg_mr" })
      yield* window.dealloc
    })
    resultOf(program, { network })
  })

  it("with a window bound leaves the region to the window", () => {
    const network = new Loopback()
    const program = Effect.gen(function* () {
      const { left, right } = yield* pair()
      const scope = yield* Scope.make()
      const memory = yield* Scope.provide(scope)(right.domain.memory(64, ["local-write", "mw-bind"]))
      const window = yield* right.domain.memoryWindow(2)
      const rkey = yield* right.qp.bind(window, { region: memory, access: ["remote-write"] })
      yield* Scope.close(scope, Exit.void)
      expect(inUse(network, 1)).toMatchObject({ memoryRegions: 2, allocations: 2 })
      yield* left.qp.write(Uint8Array.of(3), { address: memory.address, rkey })
      yield* window.dealloc
      expect(inUse(network, 1)).toMatchObject({ memoryRegions: 1, allocations: 1 })
    })
    resultOf(program, { network })
  })

  it("leaves multicast groups although the queue pair's own scope ends first", () => {
    const network = new Loopback()
    const program = Effect.gen(function* () {
      const { domain, cq } = yield* end(0)
      const scope = yield* Scope.make()
      const ud = yield* Scope.provide(scope)(domain.queuePair({ type: "ud", cq }))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* ud.attachMulticast("ff02::1:3")
          yield* Scope.close(scope, Exit.void)
          expect(inUse(network)).toMatchObject({ queuePairs: 2, multicastAttachments: 1 })
        }),
      )
      expect(inUse(network)).toMatchObject({ queuePairs: 1 })
    })
    resultOf(program, { network })
  })
})

describe("ending something by name", () => {
  it("is refused while it is in use, and happens once", () => {
    const network = new Loopback()
    const program = Effect.gen(function* () {
      const context = yield* openDevice()
      const domain = yield* context.protectionDomain
      const allocation = yield* context.allocate("4KiB")
      const region = yield* domain.register(allocation, ["local-write", "mw-bind"])
      const cq = yield* context.completionQueue(4)
      const srq = yield* domain.sharedReceiveQueue({ maxWr: 2 })
      const qp = yield* domain.queuePair({ type: "ud", cq, srq })
      const thread = yield* context.threadDomain
      const parent = yield* domain.parentDomain(thread)
      expect(yield* Effect.flip(cq.destroy)).toMatchObject(busy("destroy_cq"))
      expect(yield* Effect.flip(srq.destroy)).toMatchObject(busy("destroy_srq"))
      expect(yield* Effect.flip(domain.dealloc)).toMatchObject(busy("dealloc_pd"))
      expect(yield* Effect.flip(allocation.release)).toMatchObject(busy("release"))
      expect(yield* Effect.flip(thread.dealloc)).toMatchObject(busy("dealloc_td"))
      yield* parent.dealloc
      yield* thread.dealloc
      yield* qp.destroy
      yield* srq.destroy
      yield* cq.destroy
      yield* region.dereg
      yield* allocation.release
      yield* domain.dealloc
      expect(inUse(network)).toEqual({})
      for (const again of [qp.destroy, srq.destroy, cq.destroy, region.dereg, allocation.release, domain.dealloc]) {
        expect(yield* Effect.flip(again)).toMatchObject({ errno: "EINVAL" })
      }
    })
    resultOf(program, { network })
  })
})

describe("thousands of requests", () => {
  it("leave no packet, no wait and no resource behind", () => {
    const network = new Loopback()
    const program = Effect.gen(function* () {
      const { left, right } = yield* pair()
      for (let round = 0; round < 200; round++) {
        const writes = Array.from({ length: 32 }, (_, at) => left.qp.write(Uint8Array.of(at), right.memory.range(at)))
        yield* Effect.all(writes, { concurrency: "unbounded", discard: true })
      }
      expect(network.pool.alive).toBe(0)
    })
    resultOf(program, { network })
  })
})

describe("limits", () => {
  const limited = { device: { limits: { maxQp: 1, maxPd: 1, maxCqe: 8, maxMr: 1, maxMemoryBytes: 8192 } } }
  const refusal = <A>(effect: Effect.Effect<A, VerbsError, Scope.Scope>) => Effect.flip(Effect.scoped(effect))

  it("are refused with ENOMEM or EINVAL, and say which", () =>
    resultOf(
      Effect.gen(function* () {
        const { context, domain, cq } = yield* end(0, { bytes: 4096, capacity: 8 })
        expect(yield* refusal(context.protectionDomain)).toMatchObject({ errno: "ENOMEM", verb: "alloc_pd" })
        expect(yield* refusal(domain.queuePair({ type: "rc", cq }))).toMatchObject({
          errno: "ENOMEM",
          verb: "create_qp",
        })
        expect(yield* refusal(context.completionQueue(9))).toMatchObject({ errno: "EINVAL", attribute: "capacity" })
        expect(yield* refusal(domain.memory(64))).toMatchObject({ errno: "ENOMEM", verb: "reg_mr" })
        expect(yield* refusal(context.allocate(4097))).toMatchObject({ errno: "ENOMEM", verb: "allocate" })
        expect(yield* refusal(context.allocate("4 parsecs"))).toMatchObject({ errno: "EINVAL", attribute: "bytes" })
        expect(yield* refusal(context.allocate(0))).toBeInstanceOf(VerbsError)
      }),
      limited,
    ))

  it("of a queue are refused when it is full", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair({
          both: { capabilities: { maxSendWr: 2, maxRecvWr: 1, maxInlineBytes: 4 } },
        })
        left.qp.postReceive({ id: 0, sges: [] })
        expect(yield* Effect.flip(left.qp.receive())).toMatchObject({ errno: "ENOMEM", verb: "post_recv" })
        const batch = left.qp.start()
        for (let at = 0; at < 3; at++) batch.write([], right.memory)
        const sent = left.qp.handle.engine.sendOutstanding
        expect(() => batch.complete()).toThrow("ENOMEM")
        // All of them or none.
        expect(left.qp.handle.engine.sendOutstanding).toBe(sent)
        expect(() => batch.send([])).toThrow("has been completed or aborted")
        const bad = left.qp.start().write([], right.memory).send(new Uint8Array(5))
        expect(() => bad.complete()).toThrow(/post_send: EINVAL: inline/)
        expect(left.qp.handle.engine.sendOutstanding).toBe(sent)
        const dropped = left.qp.start().write([], right.memory)
        dropped.abort()
        expect(dropped.length).toBe(0)
        expect(() => dropped.complete()).toThrow("EINVAL")
        expect(left.qp.handle.engine.sendOutstanding).toBe(sent)
      }),
    ))
})
