import { hpccFamily } from "@rdmakit/cc-erdma"
import { erdmaLimits } from "@rdmakit/device"
import type { Provider } from "@rdmakit/device/layer"
import { NetworkLinks, type ProgramOptions, type ProgramServices, simulateProgram, Topology } from "@rdmakit/fabric"
import type { ControllerFactory, VerbsTransport } from "@rdmakit/protocol"
import { erdmaVerbs } from "@rdmakit/transport-erdma"
import { verbsTransport } from "@rdmakit/transport-ib"
import { Effect, Fiber, Layer, type Scope } from "effect"
import { describe, expect, it } from "vitest"
import { program } from "../examples/twoEndpoints.ts"
import { formatGid, openDevice, WorkFailed } from "../src/index.ts"
import { managed, read, text } from "./cmEnds.ts"
import { pair, pattern } from "./ends.ts"
import { GRAPH } from "./worlds.ts"

const together = { concurrency: "unbounded" } as const
const controller = hpccFamily({ variant: "rtt" })
/** As the driver's compatibility mode: datagrams for the connection manager. */
const compatible = erdmaVerbs({ controller, datagrams: verbsTransport() })

const outcomeOf = <A, E>(
  run: Effect.Effect<A, E, ProgramServices | Provider | Scope.Scope>,
  options: ProgramOptions = { transport: compatible },
) => Effect.runPromise(Effect.provide(simulateProgram(Effect.scoped(run), options), Layer.succeed(Topology, GRAPH)))

describe("programs on eRDMA, unchanged", () => {
  it("the example of the README", async () => {
    const { value, digest } = await outcomeOf(program)
    expect(value).toEqual({ said: "hello", read: "written" })
    expect((await outcomeOf(program)).digest).toBe(digest)
  })

  it("connections by the connection manager", async () => {
    const connected = Effect.gen(function* () {
      const left = yield* managed(0)
      const right = yield* managed(1)
      const host = formatGid((yield* right.context.gid(yield* right.context.chooseGid())).gid)
      const listener = yield* right.manager.listen({ port: 7174 })
      const accepted = yield* Effect.forkScoped(
        Effect.flatMap(listener.next, (request) =>
          request.accept({ queuePair: right.qp, privateData: text("welcome") }),
        ),
      )
      const resolved = yield* left.manager.resolve(host, { port: 7174 })
      const client = yield* left.manager.connect(resolved, { queuePair: left.qp })
      const server = yield* Fiber.join(accepted)
      left.memory.octets.set(pattern(20_000))
      yield* left.qp.write(left.memory.range(0, 20_000), right.memory)
      yield* client.disconnect
      yield* server.ended
      return { said: read(client.peer.privateData), octets: right.memory.octets.slice(0, 20_000) }
    })
    expect((await outcomeOf(connected)).value).toEqual({ said: "welcome", octets: pattern(20_000) })
  })

  it("everything that the device has, where one packet in five is lost", async () => {
    const all = Effect.gen(function* () {
      const links = yield* NetworkLinks
      for (const link of [0, 1]) links.impair(link, { loss: 0.1 })
      const { left, right } = yield* pair()
      for (const bytes of [0, 1, 4032, 4033, 50_000]) {
        left.memory.octets.set(pattern(bytes, bytes))
        const [{ byteLength }] = yield* Effect.all(
          [right.qp.receive(right.memory), left.qp.send(left.memory.range(0, bytes), { immediate: bytes })],
          together,
        )
        expect(byteLength).toBe(bytes)
        expect(right.memory.octets.subarray(0, bytes)).toEqual(pattern(bytes, bytes))
      }
      yield* left.qp.write(left.memory.range(0, 30_000), right.memory.range(100))
      yield* left.qp.read(left.memory.range(32_000, 30_000), right.memory.range(100))
      expect(left.memory.octets.subarray(32_000, 62_000)).toEqual(left.memory.octets.subarray(0, 30_000))
      right.memory.octets.fill(0, 0, 8)
      const sum = yield* Effect.forEach([1, 2, 3], () => left.qp.fetchAndAdd(left.memory.range(0, 8), right.memory, 1n))
      expect(sum).toEqual([0n, 1n, 2n])
    })
    await outcomeOf(all)
  })
})

describe("congestion control that the ends of a connection agree on", () => {
  /** Which controllers are made, by number, as both ends ask for these; and what the ends have been told. */
  const agreed = async (asked: readonly [left: number, right: number]) => {
    const made = new Set<number>()
    const counted = (algorithm: number): ControllerFactory => ({
      ...controller,
      make: (now, path) => {
        made.add(algorithm)
        return controller.make(now, path)
      },
    })
    const controllers = Object.fromEntries([0, 1, 2, 3].map((algorithm) => [algorithm, counted(algorithm)]))
    const sides = asked.map((congestionControl) =>
      erdmaVerbs({
        controller: counted(-1),
        datagrams: verbsTransport(),
        negotiation: { controllers, congestionControl },
      }),
    )
    const [first, second] = sides
    let engines = 0
    const transport: VerbsTransport = {
      ...first!,
      // Reliable queue pairs are made first by the left end.
      makeEngine: (now, options) =>
        (options.type === "rc" && engines++ > 0 ? second! : first!).makeEngine(now, options),
    }
    const connected = Effect.gen(function* () {
      const left = yield* managed(0)
      const right = yield* managed(1)
      const host = formatGid((yield* right.context.gid(yield* right.context.chooseGid())).gid)
      const listener = yield* right.manager.listen({ port: 7174 })
      const [client, request] = yield* Effect.all(
        [
          Effect.flatMap(left.manager.resolve(host, { port: 7174 }), (resolved) =>
            left.manager.connect(resolved, { queuePair: left.qp, privateData: text("please") }),
          ),
          Effect.tap(listener.next, (request) => request.accept({ queuePair: right.qp, privateData: text("welcome") })),
        ],
        together,
      )
      left.memory.octets.set(pattern(20_000))
      yield* left.qp.write(left.memory.range(0, 20_000), right.memory)
      expect(right.memory.octets.subarray(0, 20_000)).toEqual(pattern(20_000))
      return { heard: read(request.privateData), said: read(client.peer.privateData) }
    })
    const device = (node: number) => ({ congestionControl: asked[node]! })
    const { value } = await outcomeOf(connected, { transport, device })
    expect(value).toEqual({ heard: "please", said: "welcome" })
    return [...made].sort()
  }

  it("is the one that both ask for", async () => {
    expect(await agreed([2, 2])).toEqual([2])
    expect(await agreed([0, 0])).toEqual([0])
  })

  it("is CUBIC where they ask for different ones", async () => {
    expect(await agreed([2, 3])).toEqual([1])
    expect(await agreed([1, 0])).toEqual([1])
  })

  it("takes 28 octets of the private data that a request has room for", async () => {
    const long = Effect.gen(function* () {
      const left = yield* managed(0)
      const right = yield* managed(1)
      const host = formatGid((yield* right.context.gid(yield* right.context.chooseGid())).gid)
      const resolved = yield* left.manager.resolve(host, { port: 7174 })
      return yield* Effect.flip(left.manager.connect(resolved, { queuePair: left.qp, privateData: new Uint8Array(29) }))
    })
    const negotiation = { controllers: { 1: controller }, congestionControl: 1 }
    const transport = erdmaVerbs({ controller, datagrams: verbsTransport(), negotiation })
    expect((await outcomeOf(long, { transport })).value).toMatchObject({ errno: "EINVAL" })
  })

  it("is refused without CUBIC, or the one that is asked for", () => {
    const only = (algorithm: number, congestionControl: number) => () =>
      erdmaVerbs({ controller, negotiation: { controllers: { [algorithm]: controller }, congestionControl } })
    expect(only(1, 1)).not.toThrow()
    expect(only(2, 2)).toThrow(/the controller with number 1/)
    expect(only(1, 3)).toThrow(/the controller with number 3/)
  })
})

describe("what an eRDMA device has not", () => {
  it("queue pairs of other types than RC, without its compatibility mode", async () => {
    const refused = Effect.gen(function* () {
      const context = yield* openDevice(0)
      const domain = yield* context.protectionDomain
      const cq = yield* context.completionQueue(4)
      return yield* Effect.flip(domain.queuePair({ type: "ud", cq }))
    })
    const { value } = await outcomeOf(refused, { transport: erdmaVerbs({ controller }) })
    expect(value).toMatchObject({ errno: "EOPNOTSUPP" })
  })

  it("shared receive queues, and receives of two elements, with the limits of the driver", async () => {
    const refused = Effect.gen(function* () {
      const context = yield* openDevice(0)
      const domain = yield* context.protectionDomain
      const cq = yield* context.completionQueue(4)
      return [
        yield* Effect.flip(domain.sharedReceiveQueue({ maxWr: 1 })),
        yield* Effect.flip(domain.queuePair({ type: "rc", cq, capabilities: { maxRecvSge: 2 } })),
      ]
    })
    const device = () => ({ limits: erdmaLimits })
    const { value } = await outcomeOf(refused, { transport: compatible, device })
    expect(value).toMatchObject([{ _tag: "VerbsError" }, { errno: "EINVAL" }])
  })

  it("ATOMIC_WRITE: LOC_QP_OP_ERR, with the driver's vendor error", async () => {
    const refused = Effect.gen(function* () {
      const { left, right } = yield* pair()
      return yield* Effect.flip(left.qp.atomicWrite(new Uint8Array(8), right.memory))
    })
    const { value } = await outcomeOf(refused)
    expect(value).toBeInstanceOf(WorkFailed)
    expect(value).toMatchObject({ status: "LOC_QP_OP_ERR" })
  })
})
