import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { opcodeName, openDevice } from "../src/index.ts"
import { end, pattern } from "./ends.ts"
import { Loopback } from "./Loopback.ts"
import { resultOf } from "./program.ts"
import { worlds } from "./worlds.ts"

const together = { concurrency: "unbounded" } as const
const GRH_BYTES = 40
const QUEUE_KEY = 0x1111_1111

/** An end for datagrams, ready. */
const datagramEnd = Effect.fnUntraced(function* (device: number, options: Parameters<typeof end>[1] = {}) {
  const one = yield* end(device, { type: "ud", ...options })
  yield* one.qp.activate({ queueKey: QUEUE_KEY })
  return one
})

describe.each(worlds)("datagrams, on $name", ({ resultOf: run }) => {
  it("go to whom an address handle and a number say, behind 40 octets of network header", () =>
    run(
      Effect.gen(function* () {
        const left = yield* datagramEnd(0)
        const right = yield* datagramEnd(1)
        const address = yield* left.domain.addressHandle({ gid: right.qp.endpoint.gid, trafficClass: 8 })
        left.memory.octets.set(pattern(1000))
        const to = { address, qpn: right.qp.number, queueKey: QUEUE_KEY }
        const receive = yield* Effect.forkChild(right.qp.receive(right.memory), { startImmediately: true })
        const sent = yield* left.qp.send(left.memory.range(0, 1000), { to, immediate: 0x89abcdef })
        const received = yield* Fiber.join(receive)
        expect(opcodeName(sent.opcode)).toBe("SEND")
        expect(received).toMatchObject({
          byteLength: GRH_BYTES + 1000,
          grh: true,
          sourceQp: left.qp.number,
          immediate: 0x89abcdef,
        })
        expect(right.memory.octets.subarray(GRH_BYTES, GRH_BYTES + 1000)).toEqual(pattern(1000))
      }),
    ))

  it("are answered by what came with them", () =>
    run(
      Effect.gen(function* () {
        const left = yield* datagramEnd(0)
        const right = yield* datagramEnd(1)
        const address = yield* left.domain.addressHandle({ gid: right.qp.endpoint.gid })
        const answered = yield* Effect.forkChild(left.qp.receive(left.memory), { startImmediately: true })
        const receive = yield* Effect.forkChild(right.qp.receive(right.memory), { startImmediately: true })
        const to = { address, qpn: right.qp.number, queueKey: QUEUE_KEY }
        yield* left.qp.send(Uint8Array.of(1, 2, 3), { to })
        const request = yield* Fiber.join(receive)
        const back = yield* right.domain.addressHandleFrom(request, right.memory.octets.subarray(0, GRH_BYTES))
        expect(back.vector.sourceGidIndex).toBe(yield* right.context.chooseGid({ gid: right.qp.endpoint.gid }))
        const answer = { address: back, qpn: request.sourceQp, queueKey: QUEUE_KEY }
        yield* right.qp.send(right.memory.range(GRH_BYTES, 3), { to: answer })
        expect((yield* Fiber.join(answered)).byteLength).toBe(GRH_BYTES + 3)
        expect([...left.memory.octets.subarray(GRH_BYTES, GRH_BYTES + 3)]).toEqual([1, 2, 3])
      }),
    ))
})

describe("datagrams", () => {
  it("with another queue key, or for another number, arrive nowhere, and the sender does not know", () =>
    resultOf(
      Effect.gen(function* () {
        const left = yield* datagramEnd(0)
        const right = yield* datagramEnd(1)
        const address = yield* left.domain.addressHandle({ gid: "10.0.0.2" })
        const receive = yield* Effect.forkChild(right.qp.receive(right.memory))
        yield* left.qp.send([], { to: { address, qpn: right.qp.number, queueKey: QUEUE_KEY + 1 } })
        yield* left.qp.send([], { to: { address, qpn: right.qp.number + 1, queueKey: QUEUE_KEY } })
        yield* Effect.sleep("1 millis")
        expect(receive.pollUnsafe()).toBeUndefined()
        yield* left.qp.send([], { to: { address, qpn: right.qp.number, queueKey: QUEUE_KEY } })
        expect((yield* Fiber.join(receive)).byteLength).toBe(GRH_BYTES)
      }),
    ))

  it("are refused when they say no receiver, or one of another domain; a connected queue pair takes none", () =>
    resultOf(
      Effect.gen(function* () {
        const left = yield* datagramEnd(0)
        expect(yield* Effect.flip(left.qp.send([]))).toMatchObject({ errno: "EINVAL", attribute: "datagram" })
        // No receiver makes that right.
        expect(yield* Effect.flip(left.qp.write(left.memory.range(0, 8), left.memory))).toMatchObject({
          ...{ errno: "EINVAL", attribute: "opcode" },
          message: "post_send: EINVAL: opcode: RdmaWrite is none of ud; send datagrams",
        })
        const other = yield* left.context.protectionDomain
        const address = yield* other.addressHandle({ gid: "10.0.0.2" })
        const to = { address, qpn: 5, queueKey: 5 }
        expect(yield* Effect.flip(left.qp.send([], { to }))).toMatchObject({ attribute: "datagram.address" })
        const rc = yield* end(0)
        yield* rc.qp.connect({ ...rc.qp.endpoint, gid: "10.0.0.2" })
        expect(yield* Effect.flip(rc.qp.send([], { to }))).toMatchObject({ attribute: "datagram" })
        yield* address.destroy
        expect(yield* Effect.flip(address.destroy)).toMatchObject({ errno: "EINVAL", verb: "destroy_ah" })
      }),
    ))

  it("longer than a packet are not sent, and complete all the same (C10-93.1.1)", () =>
    resultOf(
      Effect.gen(function* () {
        const left = yield* datagramEnd(0)
        const right = yield* datagramEnd(1)
        const address = yield* left.domain.addressHandle({ gid: "10.0.0.2" })
        const to = { address, qpn: right.qp.number, queueKey: QUEUE_KEY }
        const receive = yield* Effect.forkChild(right.qp.receive(right.memory))
        yield* left.qp.send(left.memory.range(0, 1025), { to })
        yield* left.qp.send(left.memory.range(0, 1024), { to })
        expect((yield* Fiber.join(receive)).byteLength).toBe(GRH_BYTES + 1024)
      }),
      { mtuBytes: 1024 },
    ))

  it("an address is refused when nobody can be there, or when it is none", () =>
    resultOf(
      Effect.gen(function* () {
        const { domain } = yield* end(0)
        const refusal = (gid: string) => Effect.flip(Effect.scoped(domain.addressHandle({ gid })))
        expect(yield* refusal("10.9.9.9")).toMatchObject({
          errno: "EHOSTUNREACH",
          verb: "create_ah",
          problem: "nobody can be at 10.9.9.9",
        })
        expect(yield* refusal("fe80::9")).toMatchObject({ problem: "nobody can be at fe80::9" })
        expect(yield* refusal("10.9")).toMatchObject({ errno: "EINVAL", attribute: "gid" })
        const hops = domain.addressHandle({ gid: "10.0.0.2", hopLimit: 256 })
        expect(yield* Effect.flip(Effect.scoped(hops))).toMatchObject({ attribute: "vector.hopLimit" })
      }),
    ))
})

describe("multicast", () => {
  it("reaches all who listen, until they leave", () => {
    const network = new Loopback({ devices: 3 })
    const program = Effect.gen(function* () {
      const sender = yield* datagramEnd(0)
      const [one, two] = [yield* datagramEnd(1), yield* datagramEnd(2)]
      const group = "239.1.2.3"
      const address = yield* sender.domain.addressHandle({ gid: group })
      const to = { address, qpn: 0xffffff, queueKey: QUEUE_KEY }
      yield* Effect.scoped(
        Effect.gen(function* () {
          for (const { qp } of [one, two]) yield* qp.attachMulticast(group)
          const received = Effect.all(
            [one, two].map(({ qp, memory }) => qp.receive(memory)),
            together,
          )
          const [completions] = yield* Effect.all([received, sender.qp.send(Uint8Array.of(9), { to })], together)
          for (const each of completions) expect(each).toMatchObject({ byteLength: 41, sourceQp: sender.qp.number })
          yield* one.qp.detachMulticast(group)
          expect(yield* Effect.flip(one.qp.detachMulticast(group))).toMatchObject({ errno: "EINVAL" })
        }),
      )
      const receive = yield* Effect.forkChild(two.qp.receive(two.memory))
      yield* sender.qp.send([], { to })
      yield* Effect.sleep("1 millis")
      expect(receive.pollUnsafe()).toBeUndefined()
    })
    resultOf(program, { network })
  })

  it("is for UD, and for addresses of groups", () =>
    resultOf(
      Effect.gen(function* () {
        const ud = yield* datagramEnd(0)
        const rc = yield* end(0)
        const refusal = (qp: typeof ud.qp, group: string) => Effect.flip(Effect.scoped(qp.attachMulticast(group)))
        expect(yield* refusal(ud.qp, "10.0.0.2")).toMatchObject({ errno: "EINVAL", attribute: "gid" })
        expect(yield* refusal(rc.qp, "239.1.2.3")).toMatchObject({ errno: "EINVAL", verb: "attach_mcast" })
      }),
    ))
})

describe("a shared receive queue", () => {
  it("serves many queue pairs, and tells when it runs low", () => {
    const network = new Loopback({ devices: 3 })
    const program = Effect.gen(function* () {
      const context = yield* openDevice(0)
      const domain = yield* context.protectionDomain
      const memory = yield* domain.memory(4096, ["local-write"])
      const cq = yield* context.completionQueue(16)
      const srq = yield* domain.sharedReceiveQueue({ maxWr: 8, limit: 3 })
      const options = { type: "rc", cq, srq } as const
      const [first, second] = [yield* domain.queuePair(options), yield* domain.queuePair(options)]
      const [one, two] = [yield* end(1), yield* end(2)]
      for (const [here, there] of [
        [first, one.qp],
        [second, two.qp],
      ] as const) {
        yield* here.connect(there.endpoint)
        yield* there.connect(here.endpoint)
      }
      for (let id = 0; id < 4; id++) srq.post({ id, sges: [memory.range(id * 16, 16)] })
      expect(srq.length).toBe(4)
      expect(yield* Effect.flip(first.receive())).toMatchObject({ errno: "EINVAL", verb: "post_recv" })
      yield* one.qp.send(Uint8Array.of(1))
      yield* two.qp.send(Uint8Array.of(2))
      expect(yield* context.nextAsyncEvent).toEqual({ type: "SRQ_LIMIT_REACHED", sharedReceiveQueue: srq })
      const completions = [yield* cq.next, yield* cq.next]
      expect(completions.map(({ id, qpn }) => [id, qpn])).toEqual([
        [0, first.number],
        [1, second.number],
      ])
      expect([memory.octets[0], memory.octets[16]]).toEqual([1, 2])
      // The event comes once for each time that it is armed.
      expect(yield* srq.query).toEqual({ maxWr: 8, maxSge: 4, limit: 0 })
      yield* srq.modify({ limit: 2 })
      yield* one.qp.send([])
      expect((yield* context.nextAsyncEvent).type).toBe("SRQ_LIMIT_REACHED")
      expect(yield* Effect.flip(srq.modify({ limit: 99 }))).toMatchObject({ errno: "EINVAL", attribute: "limit" })
      for (let id = 0; srq.length < 8; id++) srq.post({ id, sges: [] })
      expect(() => srq.post({ id: 0, sges: [] })).toThrow("post_srq_recv: ENOMEM")
      expect(() => srq.post({ id: -1, sges: [] })).toThrow("post_srq_recv: EINVAL")
    })
    resultOf(program, { network })
  })
})
