import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { nextKey, opcodeName, WorkFailed } from "../src/index.ts"
import { pair, pattern } from "./ends.ts"
import { worlds } from "./worlds.ts"

const together = { concurrency: "unbounded" } as const

describe.each(worlds)("requests that are waited for, on $name", ({ resultOf }) => {
  it("SEND and RECV, of none to many packets", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        for (const bytes of [0, 1, 4096, 4097, 50_000]) {
          left.memory.octets.set(pattern(bytes, bytes))
          const [received, sent] = yield* Effect.all(
            [right.qp.receive(right.memory), left.qp.send(left.memory.range(0, bytes))],
            together,
          )
          expect(received).toMatchObject({ byteLength: bytes, qpn: right.qp.number, immediate: undefined })
          expect(opcodeName(received.opcode)).toBe("RECV")
          expect(opcodeName(sent.opcode)).toBe("SEND")
          expect(right.memory.octets.subarray(0, bytes)).toEqual(pattern(bytes, bytes))
        }
      }),
    ))

  it("several ranges, gathered and scattered", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        left.memory.octets.set(pattern(9000))
        const parts = [left.memory.range(0, 5), left.memory.range(100, 4096), left.memory.range(8000, 1)]
        const places = [right.memory.range(1, 2), right.memory.range(9, 1000), right.memory.range(4000, 8000)]
        const [received] = yield* Effect.all([right.qp.receive(places), left.qp.send(parts)], together)
        expect(received.byteLength).toBe(4102)
        const sent = parts.flatMap(({ octets }) => [...octets])
        const arrived = places.flatMap(({ octets }) => [...octets]).slice(0, 4102)
        expect(arrived).toEqual(sent)
      }),
    ))

  it("WRITE and READ, in place", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        left.memory.octets.set(pattern(10_000))
        yield* left.qp.write(left.memory.range(0, 10_000), right.memory.range(77))
        expect(right.memory.octets.subarray(77, 10_077)).toEqual(pattern(10_000))
        yield* left.qp.read(left.memory.range(20_000, 9_999), right.memory.range(78))
        expect(left.memory.octets.subarray(20_000, 29_999)).toEqual(pattern(10_000).subarray(1))
      }),
    ))

  it("octets inline, copied when they are posted", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const octets = Uint8Array.of(1, 2, 3)
        const write = yield* Effect.forkChild(left.qp.write(octets, right.memory.range(8)), { startImmediately: true })
        octets.fill(9)
        yield* Fiber.join(write)
        expect([...right.memory.octets.subarray(8, 11)]).toEqual([1, 2, 3])
      }),
    ))

  it("immediates keep all 32 bits, without sign (B15)", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const [sent] = yield* Effect.all(
          [right.qp.receive(right.memory), left.qp.send(left.memory.range(0, 3), { immediate: 0x89abcdef })],
          together,
        )
        expect(sent.immediate).toBe(0x89abcdef)
        const [written] = yield* Effect.all(
          [right.qp.receive(), left.qp.write(left.memory.range(0, 9), right.memory, { immediate: 0xffffffff })],
          together,
        )
        expect(written).toMatchObject({ immediate: 0xffffffff, byteLength: 9 })
        expect(opcodeName(written.opcode)).toBe("RECV_RDMA_WITH_IMM")
      }),
    ))

  it("atomics return what was there", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const counter = right.memory.range(64, 8)
        const found = left.memory.range(0, 8)
        yield* left.qp.atomicWrite(0xffff_ffff_ffff_fff0n, counter)
        expect(yield* left.qp.fetchAndAdd(found, counter, 0x18n)).toBe(0xffff_ffff_ffff_fff0n)
        expect(yield* left.qp.compareAndSwap(found, counter, { compare: 8n, swap: 0x1122334455667788n })).toBe(8n)
        expect(yield* left.qp.compareAndSwap(found, counter, { compare: 8n, swap: 0n })).toBe(0x1122334455667788n)
        expect([...counter.octets]).toEqual([0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11])
      }),
    ))

  it("a window of type 2 is bound, used, invalidated by the peer, and bound again", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const window = yield* right.domain.memoryWindow(2)
        const first = window.rkey
        const key = yield* right.qp.bind(window, {
          region: right.memory,
          offset: 4096,
          length: 100,
          access: ["remote-write"],
        })
        expect(key).toBe(nextKey(first))
        expect(window).toMatchObject({ isBound: true, rkey: key })
        const there = { address: right.memory.address + 4096, rkey: key }
        yield* left.qp.write(Uint8Array.of(5), there)
        expect(right.memory.octets[4096]).toBe(5)
        const [received] = yield* Effect.all(
          [right.qp.receive(right.memory), left.qp.send([], { invalidateKey: key })],
          together,
        )
        expect(received.invalidatedKey).toBe(key)
        expect(window.isBound).toBe(false)
        const again = yield* right.qp.bind(window, { region: right.memory, access: ["remote-read"] })
        yield* left.qp.read(left.memory.range(0, 4), { address: right.memory.address, rkey: again })
        yield* right.qp.invalidate(again)
        const failure = yield* Effect.flip(left.qp.write(Uint8Array.of(5), there))
        expect(failure).toBeInstanceOf(WorkFailed)
        expect(failure).toMatchObject({ status: "REM_ACCESS_ERR" })
      }),
    ))

  it("a window of type 1 is bound, and unbound with no length", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const window = yield* right.domain.memoryWindow(1)
        const key = yield* right.qp.bind(window, { region: right.memory, access: ["remote-read", "remote-write"] })
        const there = { address: right.memory.address, rkey: key }
        yield* left.qp.write(Uint8Array.of(1, 2), there)
        expect(right.memory.octets[1]).toBe(2)
        yield* right.qp.bind(window, { region: right.memory, length: 0, access: [] })
        expect(window.isBound).toBe(false)
        expect(yield* Effect.flip(left.qp.write(Uint8Array.of(1), there))).toMatchObject({ status: "REM_ACCESS_ERR" })
      }),
    ))

  it("UC sends and writes", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair({ both: { type: "uc" } })
        left.memory.octets.set(pattern(6000))
        const [received] = yield* Effect.all(
          [right.qp.receive(right.memory), left.qp.send(left.memory.range(0, 6000))],
          together,
        )
        expect(received.byteLength).toBe(6000)
        const [written] = yield* Effect.all(
          [right.qp.receive(), left.qp.write(left.memory.range(0, 6000), right.memory.range(8000), { immediate: 7 })],
          together,
        )
        expect(written.immediate).toBe(7)
        expect(right.memory.octets.subarray(8000, 14_000)).toEqual(pattern(6000))
        // READ is none of UC's: so Linux completes it, and moves the queue pair to ERR.
        expect(yield* Effect.flip(left.qp.read(left.memory.range(0, 8), right.memory))).toMatchObject({
          _tag: "WorkFailed",
          status: "LOC_QP_OP_ERR",
        })
      }),
    ))

  it("a batch is posted all at once", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        left.memory.octets.set(pattern(100))
        const batch = left.qp
          .start()
          .write(left.memory.range(0, 10), right.memory.range(0))
          .write(Uint8Array.of(9, 9), right.memory.range(10))
          .fetchAndAdd(left.memory.range(200, 8), right.memory.range(16), 5n)
          .read(left.memory.range(300, 12), right.memory.range(0), { id: 44, signaled: true, fence: true })
        expect(batch.length).toBe(4)
        batch.complete()
        expect((yield* left.cq.next).id).toBe(44)
        expect([...left.memory.octets.subarray(300, 312)]).toEqual([...pattern(10), 9, 9])
        expect(right.memory.octets[16]).toBe(5)
      }),
    ))

  it("many fibers share a queue pair, and each has its own completion", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const tasks = Array.from({ length: 30 }, (_, at) =>
          left.qp.write(Uint8Array.of(at + 1), right.memory.range(at)).pipe(Effect.as(at)),
        )
        expect(yield* Effect.all(tasks, together)).toEqual(Array.from({ length: 30 }, (_, at) => at))
        expect([...right.memory.octets.subarray(0, 30)]).toEqual(Array.from({ length: 30 }, (_, at) => at + 1))
      }),
    ))
})
