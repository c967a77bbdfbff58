import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { openDevice, type StateName, VerbsError } from "../src/index.ts"
import { end, pair } from "./ends.ts"
import { resultOf } from "./program.ts"

describe("devices", () => {
  it("are listed, opened by name or place, and asked", () =>
    resultOf(
      Effect.gen(function* () {
        const context = yield* openDevice("rdmakit1")
        expect(context.name).toBe("rdmakit1")
        expect(context.attributes).toMatchObject({ name: "rdmakit1", ports: 1, pageBytes: 4096 })
        expect(yield* context.port()).toMatchObject({ state: "active", activeMtuBytes: 4096, gids: 3 })
        expect(yield* context.gid(1)).toMatchObject({ index: 1, type: "rocev2" })
        expect(yield* context.chooseGid()).toBe(1)
        expect(yield* context.partitionKey()).toBe(0xffff)
        expect(yield* context.partitionKeyIndex(0xffff)).toBe(0)
        expect(yield* Effect.flip(context.partitionKeyIndex(5))).toMatchObject({ errno: "ENOENT" })
        expect(yield* Effect.flip(context.port(2))).toMatchObject({ errno: "EINVAL", attribute: "port" })
        expect(yield* Effect.flip(context.gid(9))).toMatchObject({ errno: "EINVAL", attribute: "index" })
        const error = yield* Effect.flip(openDevice("mlx5_0"))
        expect(error).toMatchObject({ errno: "ENODEV" })
        expect(error.message).toContain("there are rdmakit0, rdmakit1")
        yield* Effect.sleep("3 micros")
        expect(context.now).toBe(3e6)
      }),
    ))
})

describe("the state machine", () => {
  it("goes through all of its states", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const { qp, context } = left
        expect(qp.state).toBe("RTS")
        const write = yield* Effect.forkChild(qp.write(Uint8Array.of(1), right.memory))
        yield* Effect.sleep("500 nanos")
        yield* qp.modify("SQD", { enableSqdNotify: true })
        expect((yield* qp.query).draining).toBe(true)
        expect(yield* context.nextAsyncEvent).toEqual({ type: "SQ_DRAINED", queuePair: qp })
        expect(write.pollUnsafe()).toBeDefined()
        yield* qp.modify("SQD", { retryCount: 3 })
        yield* qp.modify("RTS", { currentState: "SQD" })
        yield* qp.write(Uint8Array.of(2), right.memory)
        yield* qp.modify("ERR")
        expect(qp.state).toBe("ERR")
        yield* qp.modify("RESET")
        expect(yield* qp.query).toMatchObject({ state: "RESET", timeout: undefined, accessFlags: undefined })
      }),
    ))

  it("a refusal names the attribute, and changes nothing", () =>
    resultOf(
      Effect.gen(function* () {
        const { qp } = yield* end(0)
        const refused = Effect.fnUntraced(function* (
          state: StateName | undefined,
          attributes: Parameters<typeof qp.modify>[1],
          expected: Partial<VerbsError>,
        ) {
          const before = qp.state
          expect(yield* Effect.flip(qp.modify(state, attributes))).toMatchObject({ verb: "modify_qp", ...expected })
          expect(qp.state).toBe(before)
        })
        yield* refused("INIT", { port: 1, accessFlags: [] }, { errno: "EINVAL", attribute: "pkeyIndex" })
        yield* refused("INIT", { port: 1, pkeyIndex: 0, accessFlags: [], timeout: "1s" }, { attribute: "timeout" })
        yield* refused("RTS", {}, { attribute: "state" })
        yield* qp.toInit()
        const path = { destinationQp: 5, receivePsn: 0, pathMtuBytes: 1024, responderResources: 1, minRnrTimer: "1ms" }
        yield* refused("RTR", path, { attribute: "address" })
        yield* refused("RTR", { ...path, address: { gid: "10.0.0.77" } }, { errno: "EHOSTUNREACH" })
        yield* refused("RTR", { ...path, address: { gid: "nowhere" } }, { verb: "query_gid", attribute: "gid" })
        const address = { gid: "10.0.0.2" }
        yield* refused("RTR", { ...path, address, minRnrTimer: "1h" }, { attribute: "minRnrTimer" })
        yield* refused("RTR", { ...path, address, pathMtuBytes: 1500 }, { attribute: "pathMtuBytes" })
        yield* refused("RTR", { ...path, address, alternatePath: address }, { attribute: "alternatePath" })
        // @ts-expect-error no such flag
        yield* refused("RTR", { ...path, address, accessFlags: ["everything"] }, { attribute: "accessFlags" })
        yield* qp.modify("RTR", { ...path, address })
        yield* refused("RTS", { currentState: "RTS" }, { attribute: "currentState" })
      }),
    ))

  it("query gives what was set, in words and with codes", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair({
          connect: { accessFlags: ["remote-read"], timeout: { code: 18 }, pathMtuBytes: 512, initiatorDepth: 3 },
        })
        expect(yield* left.qp.query).toMatchObject({
          type: "rc",
          state: "RTS",
          qpn: left.qp.number,
          destinationQp: right.qp.number,
          receivePsn: right.qp.psn,
          sendPsn: left.qp.psn,
          pathMtuBytes: 512,
          accessFlags: ["remote-read"],
          timeout: { code: 18, text: "1.073741824s" },
          minRnrTimer: { code: 12, text: "640us" },
          rnrRetry: 7,
          initiatorDepth: 3,
          responderResources: 16,
          signalAll: false,
          address: { sourceGidIndex: 1, hopLimit: 64 },
        })
        // What the queue pair does not allow is no operation of it, as rxe answers.
        const error = yield* Effect.flip(left.qp.write(Uint8Array.of(1), right.memory))
        expect(error).toMatchObject({ status: "REM_INV_REQ_ERR" })
      }),
    ))

  it("connects by IPv6 and link-local addresses as well", () =>
    resultOf(
      Effect.gen(function* () {
        for (const gidIndex of [0, 2]) {
          const { left, right } = yield* pair({ both: { gidIndex } })
          expect(left.qp.endpoint.gid).toMatch(gidIndex === 0 ? /^fe80::/ : /^fd00::1$/)
          expect((yield* left.qp.query).address?.sourceGidIndex).toBe(gidIndex)
          yield* left.qp.write(Uint8Array.of(1), right.memory)
        }
      }),
    ))

  it("takes the smaller MTU of both ends", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const third = yield* end(0)
        yield* third.qp.connect({ ...right.qp.endpoint, mtuBytes: 1024 })
        expect((yield* third.qp.query).pathMtuBytes).toBe(1024)
        expect((yield* left.qp.query).pathMtuBytes).toBe(4096)
      }),
    ))

  it("refuses sends before RTS, receives before INIT", () =>
    resultOf(
      Effect.gen(function* () {
        const { qp } = yield* end(0)
        expect(yield* Effect.flip(qp.receive())).toMatchObject({ errno: "EINVAL", verb: "post_recv" })
        expect(yield* Effect.flip(qp.send([]))).toMatchObject({ errno: "EINVAL", verb: "post_send" })
        yield* qp.toInit()
        qp.postReceive({ id: 0, sges: [] })
        expect(() => qp.start().send([]).complete()).toThrow(VerbsError)
      }),
    ))

  it("draws its first sequence number from the program's Random, or takes it", () =>
    resultOf(
      Effect.gen(function* () {
        const numbers = new Set<number>()
        for (let at = 0; at < 8; at++) numbers.add((yield* end(0)).qp.psn)
        expect(numbers.size).toBe(8)
        for (const psn of numbers) expect(psn >= 0 && psn < 2 ** 24).toBe(true)
        expect((yield* end(0, { psn: 7 })).qp.endpoint.psn).toBe(7)
      }),
    ))
})
