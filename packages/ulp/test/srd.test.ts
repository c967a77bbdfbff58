import { srd } from "@rdmakit/cc-srd"
import type { Provider } from "@rdmakit/device/layer"
import {
  NetworkLinks,
  type ProgramServices,
  SwitchModel,
  sharedBufferSwitches,
  simulateProgram,
  Topology,
} from "@rdmakit/fabric"
import { srdVerbs } from "@rdmakit/transport-srd"
import { openDevice } from "@rdmakit/verbs"
import { Effect, Fiber, Layer, type Scope } from "effect"
import { describe, expect, it, test } from "vitest"
import { AtomicDatatype, AtomicOperation, type RdmOrder } from "../src/index.ts"
import { openMessages, type SrdMessagesOptions } from "../src/srd.ts"
import { pattern } from "./datagrams.ts"

const MIB = 1_048_576
const together = { concurrency: "unbounded" } as const

/** Two hosts at two leaves, and eight spines between them: as many paths, some longer than others. */
const SPINES = 8
const network = {
  nodes: 4 + SPINES,
  isSwitch: Uint8Array.from({ length: 4 + SPINES }, (_, node) => (node < 2 ? 0 : 1)),
  links: [
    ...[0, 1].map((host) => ({ a: host, b: 2 + host, rateBps: 100e9, delayPs: 1e6, lossRate: 0 })),
    ...[2, 3].flatMap((leaf) =>
      Array.from({ length: SPINES }, (_, spine) => ({
        a: leaf,
        b: 4 + spine,
        rateBps: 25e9,
        delayPs: 1e6 + spine * 2e6,
        lossRate: 0,
      })),
    ),
  ],
}
/** The same, and a packet in a hundred is lost on each link of a spine. */
const lossy = {
  ...network,
  links: network.links.map((link) => ({ ...link, lossRate: link.rateBps === 25e9 ? 0.01 : 0 })),
}
const switches = sharedBufferSwitches({ loadBalancer: "entropy" })

const run = <A, E>(program: Effect.Effect<A, E, ProgramServices | Provider | Scope.Scope>, seed = 1, graph = network) =>
  Effect.runPromise(
    simulateProgram(Effect.scoped(program), { transport: srdVerbs({ controller: srd(), seed }) }).pipe(
      Effect.provide(Layer.merge(Layer.succeed(Topology, graph), Layer.succeed(SwitchModel, switches))),
    ),
  )

/** One end, with memory that RDMA may use. */
const end = Effect.fnUntraced(function* (device: number, options: SrdMessagesOptions = {}) {
  const context = yield* openDevice(device)
  const domain = yield* context.protectionDomain
  const memory = yield* domain.memory(2 * MIB, ["local-write", "remote-write", "remote-read", "remote-atomic"])
  const messages = yield* openMessages(context, domain, options)
  yield* messages.lend(memory)
  return { memory, messages }
})

type End = Effect.Success<ReturnType<typeof end>>

/** Sends messages of these sizes, and checks what comes; the order in which the receives completed. */
const oneWay = Effect.fnUntraced(function* (
  from: End,
  to: End,
  way: number,
  count: number,
  sizes: ReadonlyArray<number>,
) {
  const peer = yield* from.messages.peer(to.messages.address)
  const order: Array<number> = []
  const receive = (index: number) =>
    Effect.gen(function* () {
      const buffer = new Uint8Array(sizes.at(-1)!)
      const { bytes } = yield* to.messages.receive(buffer)
      order.push(index)
      const bytesSent = sizes[index % sizes.length]!
      expect(bytes).toBe(bytesSent)
      expect(Buffer.compare(buffer.subarray(0, bytes), pattern(bytesSent, 1000 * way + index))).toBe(0)
    })
  const indices = Array.from({ length: count }, (_, index) => index)
  const receives = yield* Effect.forkChild(Effect.all(indices.map(receive), together), { startImmediately: true })
  yield* Effect.all(
    indices.map((index) => from.messages.send(peer, pattern(sizes[index % sizes.length]!, 1000 * way + index))),
    together,
  )
  yield* Fiber.join(receives)
  return order
})

/** 1 MiB, then 8 bytes: the lengths, as the receives for them complete. */
const lengths = (order: RdmOrder, seed: number) =>
  run(
    Effect.gen(function* () {
      const one = yield* end(0, { order, rdma: false })
      const two = yield* end(1, { order, rdma: false })
      const to = yield* one.messages.peer(two.messages.address)
      const seen: Array<number> = []
      const receive = Effect.map(two.messages.receive(new Uint8Array(MIB)), ({ bytes }) => seen.push(bytes))
      const receives = yield* Effect.forkChild(Effect.all([receive, receive], together), { startImmediately: true })
      yield* Effect.all([one.messages.send(to, pattern(MIB, 1)), one.messages.send(to, pattern(8, 1))], together)
      yield* Fiber.join(receives)
      return seen
    }),
    seed,
  )

describe("1 MiB, then 8 bytes, over queue pairs of SRD and eight paths", () => {
  test.each([1, 2, 3])("on the raw face the 8 bytes end first, on the ordered one never; seed %i", async (seed) => {
    expect((await lengths("none", seed)).value).toEqual([8, MIB])
    expect((await lengths("completion", seed)).value).toEqual([MIB, 8])
  })
})

describe("over queue pairs of SRD", () => {
  it("messages of every protocol, with RDMA, arrive as they were", async () => {
    const { value } = await run(
      Effect.gen(function* () {
        const one = yield* end(0, { runtBytes: 10_000 })
        const two = yield* end(1)
        const to = yield* one.messages.peer(two.messages.address)
        const sizes = [0, 100, 4000, 60_000, 200_000, MIB]
        for (const [index, bytes] of sizes.entries()) {
          one.memory.octets.set(pattern(bytes, index))
          two.memory.octets.fill(0)
          const tag = BigInt(index)
          const into = two.memory.octets.subarray(0, MIB)
          const receive = yield* Effect.forkChild(two.messages.receive(into, { tag }), { startImmediately: true })
          const deliveryComplete = index % 2 === 1
          yield* one.messages.send(to, one.memory.octets.subarray(0, bytes), { tag, cqData: 9n, deliveryComplete })
          const received = yield* Fiber.join(receive)
          expect(received).toMatchObject({ bytes, tag, cqData: 9n })
          expect(Buffer.compare(into.subarray(0, bytes), pattern(bytes, index))).toBe(0)
        }
        return [one.messages.endpoint.counters, two.messages.endpoint.counters]
      }),
    )
    for (const { malformed, stray, duplicates } of value) expect([malformed, stray, duplicates]).toEqual([0, 0, 0])
  })

  it("an answer goes to a sender that nobody told of, and memory is written, read and counted in", async () => {
    await run(
      Effect.gen(function* () {
        const one = yield* end(0)
        const two = yield* end(1)
        const to = yield* one.messages.peer(two.messages.address)
        const request = yield* Effect.forkChild(two.messages.receive(new Uint8Array(8)), { startImmediately: true })
        const answer = yield* Effect.forkChild(one.messages.receive(new Uint8Array(8)), { startImmediately: true })
        yield* one.messages.send(to, Uint8Array.of(1))
        const { peer } = yield* Fiber.join(request)
        yield* two.messages.send(peer, Uint8Array.of(2, 3))
        expect(yield* Fiber.join(answer)).toMatchObject({ bytes: 2, peer: to })

        const { remote } = two.memory
        const target = (offset: number, bytes: number) => ({
          address: BigInt(remote.address) + BigInt(offset),
          bytes: BigInt(bytes),
          key: BigInt(remote.rkey),
        })
        one.memory.octets.set(pattern(300_000, 4))
        yield* one.messages.write(to, one.memory.octets.subarray(0, 300_000), [target(64, 300_000)])
        const back = one.memory.octets.subarray(MIB, MIB + 300_000)
        yield* one.messages.read(to, back, [target(64, 300_000)])
        expect(Buffer.compare(back, pattern(300_000, 4))).toBe(0)

        const sum = { datatype: AtomicDatatype.Uint64, operation: AtomicOperation.Sum, deliveryComplete: true }
        const operand = Uint8Array.of(5, 0, 0, 0, 0, 0, 0, 0)
        yield* Effect.all(
          [1, 2, 3].map(() => one.messages.atomic(to, operand, [target(0, 8)], sum)),
          together,
        )
        const before = new Uint8Array(8)
        const swap = { datatype: AtomicDatatype.Uint64, operation: AtomicOperation.SwapIfEqual }
        const fifteen = Uint8Array.of(15, 0, 0, 0, 0, 0, 0, 0)
        yield* one.messages.fetchAtomic(to, operand, fifteen, before, [target(0, 8)], swap)
        expect([before[0], two.memory.octets[0]]).toEqual([15, 5])
        yield* one.messages.write(to, fifteen, [target(0, 8)], { cqData: 77n })
        expect(yield* two.messages.nextRemoteWrite).toMatchObject({ bytes: 8, cqData: 77n })
      }),
    )
  })

  it("memory that RDMA may not use goes by packets", async () => {
    await run(
      Effect.gen(function* () {
        const one = yield* end(0)
        const two = yield* end(1)
        const to = yield* one.messages.peer(two.messages.address)
        const exchange = Effect.fnUntraced(function* (data: Uint8Array, into: Uint8Array) {
          const receive = yield* Effect.forkChild(two.messages.receive(into), { startImmediately: true })
          yield* one.messages.send(to, data)
          yield* Fiber.join(receive)
          expect(Buffer.compare(into.subarray(0, data.length), data)).toBe(0)
        })
        yield* exchange(pattern(8, 1), new Uint8Array(8))
        one.memory.octets.set(pattern(MIB, 2))
        // Memory of the sender's that is not registered; then of the receiver's: its READ is refused.
        yield* exchange(pattern(MIB, 3), two.memory.octets.subarray(0, MIB))
        yield* exchange(one.memory.octets.subarray(0, MIB), new Uint8Array(MIB))
      }),
    )
  })

  it("a truncated message is an error that says so, and the next one is not", async () => {
    await run(
      Effect.gen(function* () {
        const one = yield* end(0)
        const two = yield* end(1)
        const to = yield* one.messages.peer(two.messages.address)
        const short = yield* Effect.forkChild(Effect.flip(two.messages.receive(new Uint8Array(4))), {
          startImmediately: true,
        })
        yield* one.messages.send(to, pattern(9, 1))
        const failed = yield* Fiber.join(short)
        expect(failed).toMatchObject({ _tag: "RdmFailed", operation: "receive", reason: "truncated", bytes: 9 })
        expect(failed.message).toBe("receive: truncated, the message has 9 bytes")
        const next = yield* Effect.forkChild(two.messages.receive(new Uint8Array(9)), { startImmediately: true })
        yield* one.messages.send(to, pattern(9, 2))
        expect((yield* Fiber.join(next)).bytes).toBe(9)
      }),
    )
  })

  it("both ways at once, through losses: each message once, whole and in order", async () => {
    const { value } = await run(
      Effect.gen(function* () {
        const one = yield* end(0)
        const two = yield* end(1)
        const count = 60
        const sizes = [8, 3000, 30_000, 100_000]
        const told = yield* Effect.all(
          [
            [one, two, 0],
            [two, one, 1],
          ].map(([from, to, way]) => oneWay(from as End, to as End, way as number, count, sizes)),
          together,
        )
        return { told, counters: [one, two].map(({ messages }) => messages.endpoint.counters) }
      }),
      5,
      lossy,
    )
    for (const contexts of value.told) expect(contexts).toEqual(contexts.toSorted((a, b) => a - b))
    for (const { duplicates, malformed, stray } of value.counters)
      expect([duplicates, malformed, stray]).toEqual([0, 0, 0])
    // The paths did turn packets around.
    expect(value.counters[0]!.reordered + value.counters[1]!.reordered).toBeGreaterThan(0)
  })

  it("a peer that has gone is unreachable within the second, and what waits for it fails", async () => {
    const { value } = await run(
      Effect.gen(function* () {
        const one = yield* end(0)
        const two = yield* end(1)
        const to = yield* one.messages.peer(two.messages.address)
        const receive = yield* Effect.forkChild(Effect.flip(one.messages.receive(new Uint8Array(8), { from: to })), {
          startImmediately: true,
        })
        const links = yield* NetworkLinks
        links.set(links.ofHost(1), false)
        const sent = yield* Effect.flip(one.messages.send(to, pattern(100_000, 1)))
        const later = yield* Effect.flip(one.messages.send(to, pattern(8, 1)))
        return [sent.reason, (yield* Fiber.join(receive)).reason, later.reason]
      }),
    )
    expect(value).toEqual(["unreachable", "unreachable", "unreachable"])
  })

  it("the same seed gives the same run", async () => {
    const [first, again] = [await lengths("completion", 7), await lengths("completion", 7)]
    expect(again.digest).toBe(first.digest)
  })
})
