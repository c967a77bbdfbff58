import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type AccessName, accessBits, accessNames, openDevice, VerbsError, WorkFailed } from "../src/index.ts"
import { EVERYTHING, pair } from "./ends.ts"
import { resultOf } from "./program.ts"

const statusOf = (error: unknown) => (error instanceof WorkFailed ? error.status : String(error))

describe("memory regions", () => {
  it("have two keys that are never the same, and say what they are", () =>
    resultOf(
      Effect.gen(function* () {
        const context = yield* openDevice()
        const domain = yield* context.protectionDomain
        for (let at = 0; at < 100; at++) {
          const region = yield* domain.memory(64, ["local-write", "remote-read"])
          expect(region.lkey).not.toBe(region.rkey)
          expect(region.access).toEqual(["local-write", "remote-read"])
          expect(region.remote).toEqual({ address: region.address, rkey: region.rkey, length: 64 })
          expect(region.address % 4096).toBe(0)
          expect(JSON.parse(JSON.stringify(region.remote))).toEqual(region.remote)
        }
      }),
    ))

  it("are bounded: a byte before and a byte after are no part of them", () =>
    resultOf(
      Effect.gen(function* () {
        for (const [offset, length] of [
          [-1, 1],
          [4096, 1],
          [4095, 2],
        ] as const) {
          const { left, right } = yield* pair({ right: { bytes: 4096 } })
          const there = { address: right.memory.address + offset, rkey: right.memory.rkey }
          const error = yield* Effect.flip(left.qp.write(left.memory.range(0, length), there))
          expect(statusOf(error)).toBe("REM_ACCESS_ERR")
        }
      }),
    ))

  it("allow what their flags say and no more", () =>
    resultOf(
      Effect.gen(function* () {
        type Attempt = (ends: Effect.Success<ReturnType<typeof pair>>) => Effect.Effect<unknown, unknown>
        const attempts: Record<"remote-write" | "remote-read" | "remote-atomic", Attempt> = {
          "remote-write": ({ left, right }) => left.qp.write(Uint8Array.of(1), right.memory),
          "remote-read": ({ left, right }) => left.qp.read(left.memory.range(0, 1), right.memory),
          "remote-atomic": ({ left, right }) => left.qp.fetchAndAdd(left.memory.range(0, 8), right.memory, 1n),
        }
        for (const [flag, attempt] of Object.entries(attempts) as Array<[AccessName, Attempt]>) {
          yield* attempt(yield* pair({ right: { access: ["local-write", flag] } }))
          const others = EVERYTHING.filter((each) => each !== flag)
          const ends = yield* pair({ right: { access: others } })
          expect(statusOf(yield* Effect.flip(attempt(ends))), flag).toBe("REM_ACCESS_ERR")
        }
      }),
    ))

  it("without local-write take no data of a READ", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair({ left: { access: [] } })
        expect(statusOf(yield* Effect.flip(left.qp.read(left.memory.range(0, 8), right.memory)))).toBe("LOC_PROT_ERR")
      }),
    ))

  it("zero-based ones begin at 0, and others at the address one likes", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const allocation = yield* right.context.allocate("8KiB")
        const zero = yield* right.domain.register(allocation, [...EVERYTHING, "zero-based"], {
          offset: 100,
          length: 50,
        })
        expect(zero.address).toBe(0)
        yield* left.qp.write(Uint8Array.of(1, 2), zero.range(48))
        expect([...allocation.octets.subarray(148, 150)]).toEqual([1, 2])
        const far = yield* right.domain.register(allocation, EVERYTHING, { offset: 4096, iova: 2 ** 40 })
        yield* left.qp.write(Uint8Array.of(3), { address: 2 ** 40, rkey: far.rkey })
        expect(allocation.octets[4096]).toBe(3)
        const odd = right.domain.register(allocation, [], { iova: 5 })
        expect(yield* Effect.flip(Effect.scoped(odd))).toMatchObject({ errno: "EINVAL", attribute: "iova" })
        const beyond = right.domain.register(allocation, [], { offset: 8000, length: 193 })
        expect(yield* Effect.flip(Effect.scoped(beyond))).toMatchObject({ errno: "EFAULT", verb: "reg_mr" })
      }),
    ))

  it("on read-only pages are not for writing", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const allocation = yield* right.context.allocate(4096, { writable: false })
        allocation.octets.fill(7)
        const writing = right.domain.register(allocation, ["local-write"])
        expect(yield* Effect.flip(Effect.scoped(writing))).toMatchObject({ errno: "EFAULT", attribute: "access" })
        const region = yield* right.domain.register(allocation, ["remote-read"])
        yield* left.qp.read(left.memory.range(0, 2), region)
        expect(left.memory.octets[1]).toBe(7)
      }),
    ))

  it("change by rereg, and old keys open nothing", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const old = right.memory.remote
        yield* right.memory.rereg({ access: ["local-write", "remote-write"] })
        expect(right.memory.rkey).toBe(old.rkey)
        const allocation = yield* right.context.allocate(128)
        yield* right.memory.rereg({ memory: allocation, place: { offset: 64 } })
        expect(right.memory).toMatchObject({ length: 64, allocation })
        expect(right.memory.rkey).not.toBe(old.rkey)
        yield* left.qp.write(Uint8Array.of(5), right.memory)
        expect(allocation.octets[64]).toBe(5)
        expect(yield* Effect.flip(right.memory.rereg({}))).toMatchObject({ errno: "EINVAL", verb: "rereg_mr" })
        // In another domain the queue pair does not reach it.
        yield* right.memory.rereg({ protectionDomain: yield* right.context.protectionDomain })
        expect(statusOf(yield* Effect.flip(left.qp.write(Uint8Array.of(5), right.memory)))).toBe("REM_ACCESS_ERR")
      }),
    ))

  it("take advice about their own ranges", () =>
    resultOf(
      Effect.gen(function* () {
        const { left } = yield* pair({ both: { bytes: 4096 } })
        const { memory, domain } = left
        for (const advice of ["prefetch", "prefetch-write", "prefetch-no-fault"] as const) yield* memory.advise(advice)
        yield* memory.advise("prefetch", memory.range(4000, 96))
        const refusal = (range: Parameters<typeof memory.advise>[1]) => Effect.flip(memory.advise("prefetch", range))
        expect(yield* refusal(memory.range(4000, 97))).toMatchObject({ errno: "EFAULT", verb: "advise_mr" })
        const reading = yield* domain.memory(64)
        expect(yield* refusal(reading)).toMatchObject({ errno: "EINVAL", attribute: "range.lkey" })
        expect(yield* Effect.flip(reading.advise("prefetch-write"))).toMatchObject({ attribute: "advice" })
      }),
    ))
})

describe("memory windows", () => {
  it("are refused by a region without mw-bind, and beyond it", () =>
    resultOf(
      Effect.gen(function* () {
        for (const [access, length] of [
          [["local-write"], 64],
          [["local-write", "mw-bind"], 65],
        ] as const) {
          const { right } = yield* pair()
          const window = yield* right.domain.memoryWindow(2)
          const region = yield* right.domain.memory(64, access)
          const error = yield* Effect.flip(right.qp.bind(window, { region, length, access: ["remote-read"] }))
          expect(statusOf(error)).toBe("MW_BIND_ERR")
        }
      }),
    ))

  it("of type 2 are for the queue pair that bound them", () =>
    resultOf(
      Effect.gen(function* () {
        const { left, right } = yield* pair()
        const second = yield* right.domain.queuePair({ type: "rc", cq: right.cq })
        const third = yield* left.domain.queuePair({ type: "rc", cq: left.cq })
        yield* second.connect(third.endpoint)
        yield* third.connect(second.endpoint)
        const window = yield* right.domain.memoryWindow(2)
        const rkey = yield* right.qp.bind(window, { region: right.memory, access: ["remote-write"] })
        const there = { address: right.memory.address, rkey }
        yield* left.qp.write(Uint8Array.of(1), there)
        expect(statusOf(yield* Effect.flip(third.write(Uint8Array.of(2), there)))).toBe("REM_ACCESS_ERR")
        expect(right.memory.octets[0]).toBe(1)
        // Regions with windows bound stay as they are.
        expect(yield* Effect.flip(right.memory.dereg)).toMatchObject({ errno: "EBUSY", verb: "dereg_mr" })
        yield* window.dealloc
        yield* right.memory.dereg
      }),
    ))
})

describe("names", () => {
  it("of access flags are the bits of ibv_access_flags", () => {
    expect(accessBits([...EVERYTHING, "zero-based"])).toBe(63)
    expect(accessNames(0b101)).toEqual(["local-write", "remote-read"])
    expect(() => accessBits(["write" as AccessName])).toThrow(VerbsError)
    expect(() => accessBits(["toString" as AccessName])).toThrow('"toString" is no access flag')
  })
})
