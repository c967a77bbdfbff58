import { srd } from "@rdmakit/cc-srd"
import { efaLimits } from "@rdmakit/device"
import { Provider } from "@rdmakit/device/layer"
import { NetworkLinks, type ProgramOptions, type ProgramServices, simulateProgram, Topology } from "@rdmakit/fabric"
import { openSoftnic } from "@rdmakit/softnic"
import { verbsTransport } from "@rdmakit/transport-ib"
import { srdVerbs } from "@rdmakit/transport-srd"
import { Effect, Fiber, Layer, type Scope } from "effect"
import { describe, expect, it } from "vitest"
import { simulated } from "../examples/manyPeers.ts"
import { WorkFailed } from "../src/index.ts"
import { end, pattern } from "./ends.ts"
import { resultOf as onLoopback } from "./program.ts"
import { GRAPH } from "./worlds.ts"

const QUEUE_KEY = 0x1111_1111
const together = { concurrency: "unbounded" } as const
const transport = srdVerbs({ controller: srd() })

/** An end for SRD, ready. */
const srdEnd = Effect.fnUntraced(function* (device: number, options: Parameters<typeof end>[1] = {}) {
  const one = yield* end(device, { type: "srd", ...options })
  yield* one.qp.activate({ queueKey: QUEUE_KEY })
  return one
})
type End = Effect.Success<ReturnType<typeof srdEnd>>

const toward = (from: End, to: End) =>
  Effect.map(from.domain.addressHandle({ gid: to.qp.endpoint.gid }), (address) => ({
    address,
    qpn: to.qp.number,
    queueKey: QUEUE_KEY,
  }))

const onFabric = <A, E>(
  run: Effect.Effect<A, E, ProgramServices | Provider | Scope.Scope>,
  options: ProgramOptions = { transport },
) => Effect.runPromise(Effect.provide(simulateProgram(Effect.scoped(run), options), Layer.succeed(Topology, GRAPH)))

/** Real time: what is late is taken for lost too soon, where hardware's times are waited for. */
const patient = srdVerbs({ controller: srd(), initialTimeoutPs: 20e9, leastTimeoutPs: 5e9, mostTimeoutPs: 100e9 })

const worlds = [
  {
    name: "softnic",
    resultOf: async <A, E>(program: Effect.Effect<A, E, Provider | Scope.Scope>): Promise<A> => {
      const open = (address: string, port: number, seed: number) =>
        openSoftnic({ link: { udp: { address, port } }, device: { seed }, transport: patient })
      const left = await open("127.0.0.6", 0, 1)
      const right = await open("127.0.0.7", left.port!, 2)
      try {
        const devices = [left.device, right.device]
        return await Effect.runPromise(Effect.provideService(Effect.scoped(program), Provider, { devices }))
      } finally {
        left.close()
        right.close()
      }
    },
  },
  {
    name: "loopback",
    resultOf: <A, E>(program: Effect.Effect<A, E, Provider | Scope.Scope>): Promise<A> =>
      Promise.resolve(onLoopback(program, { transport })),
  },
  {
    name: "fabric",
    resultOf: async <A, E>(program: Effect.Effect<A, E, Provider | Scope.Scope>): Promise<A> =>
      (await onFabric(program)).value,
  },
]

describe.each(worlds)("SRD on $name", ({ resultOf: run }) => {
  it("SENDs, WRITEs and READs, and an answer by what came with a completion", () =>
    run(
      Effect.gen(function* () {
        const left = yield* srdEnd(0)
        const right = yield* srdEnd(1)
        const to = yield* toward(left, right)
        left.memory.octets.set(pattern(40_000))
        const receive = yield* Effect.forkChild(right.qp.receive(right.memory), { startImmediately: true })
        yield* left.qp.send(left.memory.range(0, 4096), { to, immediate: 0x89abcdef })
        const received = yield* Fiber.join(receive)
        expect(received).toMatchObject({
          byteLength: 4096,
          grh: false,
          sourceQp: left.qp.number,
          immediate: 0x89abcdef,
        })
        expect(right.memory.octets.subarray(0, 4096)).toEqual(pattern(4096))

        const address = yield* right.domain.addressHandleFrom(received)
        const back = { address, qpn: received.sourceQp, queueKey: QUEUE_KEY }
        const answer = yield* Effect.forkChild(left.qp.receive(), { startImmediately: true })
        yield* right.qp.send([], { to: back, immediate: 1 })
        expect((yield* Fiber.join(answer)).sourceQp).toBe(right.qp.number)

        yield* left.qp.write(left.memory.range(0, 40_000), right.memory.range(100), { to })
        yield* left.qp.read(left.memory.range(40_000, 20_000), right.memory.range(100), { to })
        expect(left.memory.octets.subarray(40_000, 60_000)).toEqual(pattern(20_000))
      }),
    ))

  it("many requests at once, from either side", () =>
    run(
      Effect.gen(function* () {
        const left = yield* srdEnd(0)
        const right = yield* srdEnd(1)
        const ways = [
          [left, right, yield* toward(left, right)],
          [right, left, yield* toward(right, left)],
        ] as const
        left.memory.octets.set(pattern(16_000, 1))
        right.memory.octets.set(pattern(16_000, 2))
        const writes = ways.flatMap(([from, peer, to]) =>
          Array.from({ length: 16 }, (_, index) =>
            from.qp.write(from.memory.range(1000 * index, 1000), peer.memory.range(20_000 + 1000 * index), { to }),
          ),
        )
        yield* Effect.all(writes, together)
        expect(left.memory.octets.subarray(20_000, 36_000)).toEqual(pattern(16_000, 2))
        expect(right.memory.octets.subarray(20_000, 36_000)).toEqual(pattern(16_000, 1))
      }),
    ))

  it("what is refused says so, and the queue pair goes on", () =>
    run(
      Effect.gen(function* () {
        const left = yield* srdEnd(0)
        const right = yield* srdEnd(1)
        const to = yield* toward(left, right)
        const unknown = yield* Effect.flip(left.qp.write(left.memory.range(0, 8), right.memory, { to }))
        expect(unknown).toMatchObject({ status: "REM_OP_ERR" })
        yield* toward(right, left)
        const rnr = yield* Effect.flip(left.qp.send([], { to }))
        expect(rnr).toBeInstanceOf(WorkFailed)
        expect(rnr).toMatchObject({ status: "RNR_RETRY_EXC_ERR" })
        const key = yield* Effect.flip(left.qp.send([], { to: { ...to, queueKey: 5 } }))
        expect(key).toMatchObject({ diagnosis: "REM_INV_RD_REQ_ERR", firstFailure: undefined })
        const long = yield* Effect.flip(left.qp.send(left.memory.range(0, 4097), { to }))
        expect(long).toMatchObject({ status: "LOC_LEN_ERR" })
        const atomic = yield* Effect.flip(left.qp.fetchAndAdd(left.memory.range(0, 8), right.memory, 1n))
        expect(atomic).toMatchObject({ _tag: "VerbsError", attribute: "opcode" })
        const unaddressed = yield* Effect.flip(left.qp.write(left.memory.range(0, 8), right.memory))
        expect(unaddressed).toMatchObject({ _tag: "VerbsError", attribute: "datagram" })
        expect(left.qp.state).toBe("RTS")
        yield* left.qp.write(left.memory.range(0, 8), right.memory, { to })
      }),
    ))
})

describe("programs on SRD, in a simulated network", () => {
  it("the example: one queue pair and seven peers, the same digest each time", async () => {
    const { value, digest } = await Effect.runPromise(simulated)
    expect(value).toEqual(new Array(7).fill(true))
    expect((await Effect.runPromise(simulated)).digest).toBe(digest)
  })

  it("a peer that has gone: an error within the second, and an event with its address", async () => {
    const { value } = await onFabric(
      Effect.gen(function* () {
        const left = yield* srdEnd(0)
        const right = yield* srdEnd(1)
        const to = yield* toward(left, right)
        yield* toward(right, left)
        const links = yield* NetworkLinks
        links.set(links.ofHost(1), false)
        const event = yield* Effect.forkChild(left.context.nextAsyncEvent, { startImmediately: true })
        const failed = yield* Effect.flip(left.qp.write(left.memory.range(0, 8), right.memory, { to }))
        const at = left.context.now
        return { failed, at, event: yield* Fiber.join(event), gid: right.context.handle.gids }
      }),
    )
    expect(value.failed).toMatchObject({ status: "RESP_TIMEOUT_ERR" })
    expect(value.at).toBeLessThan(1.01e12)
    expect(value.event.type).toBe("REMOTE_UNRESPONSIVE")
    expect(value.gid).toContainEqual(expect.objectContaining({ gid: (value.event as { gid: Uint8Array }).gid }))
  })

  it("with the limits of EFA, and datagrams beside it", async () => {
    const options: ProgramOptions = {
      transport: srdVerbs({ controller: srd(), datagrams: verbsTransport() }),
      device: () => ({ limits: efaLimits }),
    }
    const few = { maxSendSge: 2, maxRecvSge: 2, maxInlineBytes: 32 }
    const { value } = await onFabric(
      Effect.gen(function* () {
        const refused = yield* Effect.flip(srdEnd(0))
        const left = yield* srdEnd(0, { capabilities: few })
        const right = yield* srdEnd(1, { capabilities: few })
        const to = yield* toward(left, right)
        yield* toward(right, left)
        yield* left.qp.write(Uint8Array.of(1, 2, 3), right.memory, { to })
        const two = [left.memory.range(0, 8), left.memory.range(8, 8)]
        const read = yield* Effect.flip(left.qp.read(two, right.memory, { to }))
        const ud = yield* end(1, { type: "ud", capabilities: few })
        yield* ud.qp.activate({ queueKey: QUEUE_KEY })
        const other = yield* end(0, { type: "ud", capabilities: few })
        yield* other.qp.activate({ queueKey: QUEUE_KEY })
        const datagram = yield* Effect.forkChild(ud.qp.receive(ud.memory), { startImmediately: true })
        const address = yield* other.domain.addressHandle({ gid: ud.qp.endpoint.gid })
        yield* other.qp.send(Uint8Array.of(7), { to: { address, qpn: ud.qp.number, queueKey: QUEUE_KEY } })
        return {
          refused,
          read,
          octets: right.memory.octets.slice(0, 3),
          byteLength: (yield* Fiber.join(datagram)).byteLength,
        }
      }),
      options,
    )
    expect(value.refused).toMatchObject({ errno: "EINVAL", attribute: "capabilities.maxSendSge" })
    expect(value.read).toMatchObject({ errno: "EINVAL", attribute: "sges" })
    expect([...value.octets]).toEqual([1, 2, 3])
    expect(value.byteLength).toBe(41)
  })
})
