import type { Completion } from "@rdmakit/protocol"
import { Cause, Effect, Exit, Fiber, type Scope } from "effect"
import { describe, expect, it } from "vitest"
import { VerbsError } from "../src/index.ts"
import { managed } from "./cmEnds.ts"
import { end, pair } from "./ends.ts"
import { resultOf } from "./program.ts"

/** What programs that no compiler has checked hand in. */
const WRONG: ReadonlyArray<unknown> = [null, "nonsense", "", Number.NaN, -1, 1.5, true, 5n, {}, [], [null], () => 0]

const words = (value: unknown): string =>
  typeof value === "bigint"
    ? `${value}n`
    : typeof value === "function"
      ? "a function"
      : (JSON.stringify(value) ?? "NaN")

/** That is outside of the memory, and no wrong type: EFAULT. */
const isBefore = (value: unknown): boolean => value === -1
const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

type Attempt = (value: never) => Effect.Effect<unknown, unknown, Scope.Scope>

/** What became of wrong values in the place of a field, where they were not refused with EINVAL and the field's name. */
const taken = (field: string, attempt: Attempt, isRight: (value: unknown) => boolean = () => false) =>
  Effect.gen(function* () {
    const wrong: Array<string> = []
    for (const value of WRONG.filter((each) => !isRight(each))) {
      const exit = yield* Effect.exit(Effect.scoped(Effect.suspend(() => attempt(value as never))))
      const error = Exit.isSuccess(exit) ? "taken" : Cause.squash(exit.cause)
      const isRefused = error instanceof VerbsError && error.errno === "EINVAL"
      if (!isRefused || error.attribute?.split(".").at(-1) !== field)
        wrong.push(`${field} ${words(value)}: ${String(error)}`)
    }
    return wrong
  })

describe("values of a wrong type", () => {
  it("are refused by modify, and the attribute is named", () => {
    const found = resultOf(
      Effect.gen(function* () {
        const [left, right] = [yield* end(0), yield* end(1)]
        const { gid, qpn, psn } = right.qp.endpoint
        const init = { port: 1, pkeyIndex: 0, accessFlags: ["remote-write"] as const }
        const address = { gid }
        const responder = { destinationQp: qpn, receivePsn: psn, responderResources: 1, minRnrTimer: "640us" }
        const rtr = { address, pathMtuBytes: 1024, ...responder }
        const rts = { sendPsn: 0, timeout: "67.1ms", retryCount: 7, rnrRetry: 7, initiatorDepth: 1 }
        const all: Array<string> = []
        all.push(...(yield* taken("state", (value) => left.qp.modify(value, init))))
        for (const field of Object.keys(init)) {
          const attempt: Attempt = (value) => left.qp.modify("INIT", { ...init, [field]: value })
          all.push(...(yield* taken(field, attempt, field === "accessFlags" ? isEmpty : undefined)))
        }
        yield* left.qp.modify("INIT", init)
        for (const field of Object.keys(rtr)) {
          const attempt: Attempt = (value) => left.qp.modify("RTR", { ...rtr, [field]: value })
          // Of an address without a GID, that is what is named.
          all.push(...(yield* taken(field, attempt, field === "address" ? isObject : undefined)))
        }
        for (const field of [
          "gid",
          "sourceGidIndex",
          "trafficClass",
          "hopLimit",
          "flowLabel",
          "serviceLevel",
          "port",
        ]) {
          const attempt: Attempt = (value) => left.qp.modify("RTR", { ...rtr, address: { gid, [field]: value } })
          // What is null counts as left out.
          all.push(...(yield* taken(field, attempt, (value) => value === null && field !== "gid")))
        }
        yield* left.qp.modify("RTR", rtr)
        for (const field of [...Object.keys(rts), "currentState"])
          all.push(...(yield* taken(field, (value) => left.qp.modify("RTS", { ...rts, [field]: value }))))
        yield* left.qp.modify("RTS", rts)
        return all
      }),
    )
    expect(found).toEqual([])
  })

  it("are refused where the way back to a sender is asked for", () => {
    const found = resultOf(
      Effect.gen(function* () {
        const { domain, memory } = yield* end(0)
        const completion = { grh: true } as Completion
        const region = yield* Effect.flip(domain.addressHandleFrom(completion, memory as never))
        expect(String(region)).toMatch(/create_ah_from_wc: EINVAL: header: found an object; give the first 40 octets/)
        return [
          ...(yield* taken("completion", (value) => domain.addressHandleFrom(value), isObject)),
          ...(yield* taken("header", (value) => domain.addressHandleFrom(completion, value))),
          ...(yield* taken("sourceGid", (sourceGid) => domain.addressHandleFrom({ ...completion, sourceGid }))),
        ]
      }),
    )
    expect(found).toEqual([])
  })

  it("are refused where nothing waits: a queue that is polled, a part of a region", () => {
    const found = resultOf(
      Effect.gen(function* () {
        const { cq, memory } = yield* end(0)
        const isNumber = (value: unknown) => typeof value === "number"
        return [
          ...(yield* taken("out", (out) => Effect.sync(() => cq.poll(out)), Array.isArray)),
          ...(yield* taken("offset", (offset) => Effect.sync(() => memory.range(offset)), isNumber)),
          ...(yield* taken("length", (length) => Effect.sync(() => memory.range(0, length)), isNumber)),
        ]
      }),
    )
    expect(found).toEqual([])
  })

  it("are refused where a device is asked for an address or a key", () => {
    const found = resultOf(
      Effect.gen(function* () {
        const { context } = yield* end(0)
        const isWord = (value: unknown) => typeof value === "string"
        const peers = yield* taken("peer", (peer) => context.chooseGid({ peer }), isWord)
        return [
          ...(yield* taken("choice", (value) => context.chooseGid(value), isObject)),
          ...(yield* taken("gid", (gid) => context.chooseGid({ gid }))),
          ...peers,
          ...(yield* taken("key", (value) => context.partitionKeyIndex(value))),
        ]
      }),
    )
    expect(found).toEqual([])
  })

  it("are refused where memory is made and registered", () => {
    const found = resultOf(
      Effect.gen(function* () {
        const { context, domain, memory } = yield* end(0)
        const pages = yield* context.allocate("64KiB")
        return [
          ...(yield* taken("bytes", (value) => domain.memory(value))),
          ...(yield* taken("bytes", (value) => context.allocate(value))),
          ...(yield* taken("options", (value) => context.allocate(64, value), isObject)),
          ...(yield* taken("access", (value) => domain.memory(64, value), isEmpty)),
          ...(yield* taken("memory", (value) => domain.register(value))),
          ...(yield* taken("access", (value) => domain.register(pages, value), isEmpty)),
          ...(yield* taken("place", (value) => domain.register(pages, [], value), isObject)),
          ...(yield* taken("offset", (offset) => domain.register(pages, [], { offset }), isBefore)),
          ...(yield* taken("length", (length) => domain.register(pages, [], { length }))),
          ...(yield* taken("iova", (iova) => domain.register(pages, [], { iova }))),
          ...(yield* taken("access", (access) => memory.rereg({ access }), isEmpty)),
          ...(yield* taken("memory", (value) => memory.rereg({ memory: value }))),
          ...(yield* taken("protectionDomain", (value) => memory.rereg({ protectionDomain: value }))),
          ...(yield* taken("length", (length) => memory.rereg({ place: { length } }))),
          ...(yield* taken("range", (value) => memory.advise("prefetch", value), isObject)),
          ...(yield* taken("type", (type) => domain.memoryWindow(type))),
        ]
      }),
    )
    expect(found).toEqual([])
  })

  it("are refused where work is posted and waited for", () => {
    const found = resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const { qp, memory, domain } = left
        const [local, remote] = [memory.range(0, 8), right.memory]
        const window = yield* domain.memoryWindow(2)
        const isOctets = (value: unknown) => value instanceof Uint8Array
        const isList = (value: unknown) => isObject(value) || isEmpty(value)
        return [
          ...(yield* taken("from", (value) => qp.send(value), isList)),
          ...(yield* taken("options", (value) => qp.send(local, value), isObject)),
          ...(yield* taken("to", (to) => qp.send(local, { to }), isObject)),
          ...(yield* taken("address", (address) => qp.send(local, { to: { address, qpn: 5, queueKey: 5 } }))),
          ...(yield* taken("from", (value) => qp.write(value, remote), isList)),
          ...(yield* taken("to", (value) => qp.write(local, value), isObject)),
          ...(yield* taken("options", (value) => qp.write(local, remote, value), isObject)),
          ...(yield* taken("into", (value) => qp.read(value, remote), isList)),
          ...(yield* taken("from", (value) => qp.read(local, value), isObject)),
          ...(yield* taken("options", (value) => qp.read(local, remote, value), isObject)),
          ...(yield* taken("values", (value) => qp.compareAndSwap(local, remote, value), isObject)),
          ...(yield* taken("at", (value) => qp.fetchAndAdd(local, value, 1n), isObject)),
          ...(yield* taken(
            "value",
            (value) => qp.atomicWrite(value, remote),
            (value) => typeof value === "bigint",
          )),
          ...(yield* taken("window", (value) => qp.bind(value, { region: memory, access: [] }))),
          ...(yield* taken("options", (value) => qp.bind(window, value), isObject)),
          ...(yield* taken("region", (region) => qp.bind(window, { region, access: [] }))),
          ...(yield* taken("offset", (offset) => qp.bind(window, { region: memory, offset, access: [] }), isBefore)),
          ...(yield* taken("invalidateKey", (key) => qp.invalidate(key))),
          ...(yield* taken("into", (value) => qp.receive(value), isList)),
          ...(yield* taken(
            "options",
            (value) =>
              Effect.try({
                try: () => qp.start().send(local, value),
                catch: (error) => error,
              }),
            (value) => isObject(value) || isOctets(value),
          )),
        ]
      }),
    )
    expect(found).toEqual([])
  })

  it("are refused where work is posted without waiting", () => {
    const found = resultOf(
      Effect.gen(function* () {
        const { left } = yield* pair()
        const srq = yield* left.domain.sharedReceiveQueue({ maxWr: 4 })
        const calls = [
          (request: never) => left.qp.postSend(request),
          (request: never) => left.qp.postReceive(request),
          (request: never) => srq.post(request),
        ]
        const all: Array<string> = []
        for (const call of calls) {
          const attempt: Attempt = (value) => Effect.try({ try: () => call(value), catch: (error) => error })
          all.push(...(yield* taken("request", attempt, isObject)))
          all.push(...(yield* taken("id", (id) => attempt({ id, sges: [] } as never))))
        }
        expect(() => left.qp.postSend(undefined as never)).toThrow(
          "post_send: EINVAL: request: found nothing; give an object, with an id and sges",
        )
        expect(srq.length).toBe(0)
        return all
      }),
    )
    expect(found).toEqual([])
  })

  it("are refused by connection managers, and a request can still be answered", () => {
    const found = resultOf(
      Effect.gen(function* () {
        const [left, right] = [yield* managed(0), yield* managed(1)]
        const { manager, qp } = left
        const isWord = (value: unknown) => typeof value === "string"
        const listener = yield* right.manager.listen({ port: 7174 })
        const resolved = yield* manager.resolve("10.0.0.2", { port: 7174 })
        const asked = yield* Effect.forkScoped(manager.connect(resolved, { queuePair: qp }))
        const request = yield* listener.next
        const all = [
          ...(yield* taken("host", (host) => manager.resolve(host, { port: 7174 }), isWord)),
          ...(yield* taken("options", (value) => manager.resolve("10.0.0.2", value), isObject)),
          ...(yield* taken("port", (port) => manager.resolve("10.0.0.2", { port }))),
          ...(yield* taken("space", (space) => manager.resolve("10.0.0.2", { port: 7174, space }))),
          ...(yield* taken("queuePair", (value) => manager.prepare(value))),
          ...(yield* taken("resolved", (value) => manager.connect(value, { queuePair: qp }), isObject)),
          ...(yield* taken("options", (value) => manager.connect(resolved, value), isObject)),
          ...(yield* taken("queuePair", (queuePair) => manager.connect(resolved, { queuePair }))),
          ...(yield* taken("options", (value) => manager.listen(value), isObject)),
          ...(yield* taken("port", (port) => manager.listen({ port }))),
          ...(yield* taken("resolved", (value) => manager.resolveDatagrams(value), isObject)),
          ...(yield* taken("options", (value) => manager.listenDatagrams(value), isObject)),
          ...(yield* taken("options", (value) => request.accept(value), isObject)),
          ...(yield* taken("queuePair", (queuePair) => request.accept({ queuePair }))),
        ]
        yield* request.accept({ queuePair: right.qp })
        yield* Fiber.join(asked)
        expect([qp.state, right.qp.state]).toEqual(["RTS", "RTS"])
        return all
      }),
    )
    expect(found).toEqual([])
  })

  it("are refused where queue pairs are made and connected, which stay as they are", () => {
    const found = resultOf(
      Effect.gen(function* () {
        const [left, right] = [yield* end(0), yield* end(1)]
        const { domain, qp, cq } = left
        const peer = right.qp.endpoint
        const all = [
          ...(yield* taken("options", (value) => domain.queuePair(value), isObject)),
          ...(yield* taken("cq", (value) => domain.queuePair({ type: "rc", cq: value }))),
          ...(yield* taken("receiveCq", (receiveCq) => domain.queuePair({ type: "rc", cq, receiveCq }))),
          ...(yield* taken("srq", (srq) => domain.queuePair({ type: "rc", cq, srq }))),
          ...(yield* taken("psn", (psn) => domain.queuePair({ type: "rc", cq, psn }), isBefore)),
          ...(yield* taken("options", (value) => domain.sharedReceiveQueue(value), isObject)),
          ...(yield* taken("settings", (value) => qp.toInit(value), isObject)),
          ...(yield* taken("peer", (value) => qp.toRtr(value), isObject)),
          ...(yield* taken("settings", (value) => qp.toRtr(peer, value), isObject)),
          ...(yield* taken("settings", (value) => qp.toRts(value), isObject)),
          ...(yield* taken("peer", (value) => qp.connect(value), isObject)),
          ...(yield* taken("settings", (value) => qp.connect(peer, value), isObject)),
          ...(yield* taken("settings", (value) => qp.activate(value), isObject)),
        ]
        expect(qp.state).toBe("RESET")
        return all
      }),
    )
    expect(found).toEqual([])
  })
})
