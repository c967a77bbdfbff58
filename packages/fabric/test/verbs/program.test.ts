import { dcqcn, dcqcnPresets } from "@rdmakit/cc-dcqcn"
import { Refusal, VerbsCodec } from "@rdmakit/codec"
import { Provider } from "@rdmakit/device/layer"
import { Packet, PacketPool } from "@rdmakit/packet"
import { WcStatus, WrOpcode } from "@rdmakit/protocol"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { LinkDown, LinkLoss } from "@rdmakit/sim"
import { star } from "@rdmakit/topology"
import { Clock, Effect, Exit, Fiber, Layer, Random } from "effect"
import { describe, expect, it } from "vitest"
import {
  Faults,
  frameObserver,
  NetworkInvalid,
  NetworkLinks,
  onHost,
  Stalled,
  SwitchModel,
  sharedBufferSwitches,
  simulateProgram,
  TimeExceeded,
  Topology,
} from "../../src/index.ts"
import { connect, makeEnd, polled } from "./connected.ts"

const network = Layer.succeed(Topology, star(2, { rate: "100Gbps", delay: "1us" }))

/** A WRITE, and the moment at which it is known to be done. */
const written = (bytes: number) =>
  Effect.gen(function* () {
    const { devices } = yield* Provider
    const a = makeEnd(devices[0]!, "rc", 1 << 20)
    const b = makeEnd(devices[1]!, "rc", 1 << 20)
    connect(a, b, { pathMtuBytes: 4096 })
    a.memory.octets.fill(7, 0, bytes)
    yield* Effect.callback<void>((resume) => {
      a.cq.arm("next", () => resume(Effect.void))
      a.qp.postSend({
        id: 1,
        opcode: WrOpcode.RdmaWrite,
        signaled: true,
        sges: [{ address: a.memory.address, length: bytes, lkey: a.mr.lkey }],
        remoteAddress: b.memory.address,
        remoteKey: b.mr.rkey,
      })
    })
    const [completion] = polled(a)
    return { status: completion?.status, last: b.memory.octets[bytes - 1], nanos: yield* Clock.currentTimeNanos }
  })

describe("a program on a simulated network", { timeout: 30_000 }, () => {
  it("waits for a completion, which comes at its time", async () => {
    const run = Effect.provide(simulateProgram(written(1 << 20)), network)
    const { value, time, digest } = await Effect.runPromise(run)
    expect(value.status).toBe(WcStatus.Success)
    expect(value.last).toBe(7)
    // 1 MiB and its headers at 100 Gb/s take 85.7 µs, two hops there and back 4 µs.
    expect(time).toBeGreaterThan(89e6)
    expect(time).toBeLessThan(92e6)
    expect(Number(value.nanos)).toBe(Math.floor(time / 1000))
    expect((await Effect.runPromise(run)).digest).toBe(digest)
  })

  it("has a device for each host, called by the host's number", async () => {
    const names = Effect.map(Provider, ({ devices }) => devices.map(({ name }) => name))
    const four = Layer.succeed(Topology, star(4, { rate: "100Gbps", delay: "1us" }))
    const { value } = await Effect.runPromise(Effect.provide(simulateProgram(names), four))
    expect(value).toEqual(["rdmakit0", "rdmakit1", "rdmakit2", "rdmakit3"])
    const own = simulateProgram(names, { device: (node) => (node === 1 ? { name: "mlx5_0" } : {}) })
    expect((await Effect.runPromise(Effect.provide(own, four))).value[1]).toBe("mlx5_0")
  })

  it("says what is outstanding when it can never go on", async () => {
    const program = Effect.gen(function* () {
      const { devices } = yield* Provider
      const a = makeEnd(devices[0]!, "rc")
      const b = makeEnd(devices[1]!, "rc")
      connect(a, b)
      b.qp.postRecv({ id: 1, sges: [] })
      yield* Effect.callback<void>((resume) => a.cq.arm("next", () => resume(Effect.void)))
    })
    const error = await Effect.runPromise(Effect.flip(Effect.provide(simulateProgram(program), network)))
    expect(error).toBeInstanceOf(Stalled)
    expect(String(error)).toMatch(/node 1, queue pair 0x[0-9a-f]+ \(rc\): 0 sends, 1 receives/)
  })

  it("ends when a queue pair tries for ever where no receive is posted, and not while one may come", async () => {
    const posting = (receiveAfter: number) =>
      Effect.gen(function* () {
        const { devices } = yield* Provider
        const a = makeEnd(devices[0]!, "rc")
        const b = makeEnd(devices[1]!, "rc")
        connect(a, b)
        a.qp.postSend({ id: 1, opcode: WrOpcode.Send, signaled: true, sges: [] })
        yield* Effect.sleep(receiveAfter)
        if (receiveAfter > 0) b.qp.postRecv({ id: 1, sges: [] })
        yield* Effect.callback<void>((resume) => a.cq.arm("next", () => resume(Effect.void)))
        return polled(a)[0]?.status
      })
    const run = (receiveAfter: number) => Effect.provide(simulateProgram(posting(receiveAfter)), network)
    const error = await Effect.runPromise(Effect.flip(run(0)))
    expect(error).toBeInstanceOf(Stalled)
    expect(String(error)).toMatch(/node 0, queue pair 0x[0-9a-f]+ \(rc\): 1 sends, 0 receives/)
    expect((await Effect.runPromise(run(5))).value).toBe(WcStatus.Success)
  })

  it("is seen as frames with right checksums, and is the same whether seen or not", async () => {
    const codec = new VerbsCodec()
    const packet = new Packet(new PacketPool())
    const seen: Array<string> = []
    const onPacket = frameObserver((_now, node, octets, start, end, outward) => {
      packet.at(packet.pool.alloc())
      expect(codec.decodeFrame(octets, start, end, packet)).toBe(Refusal.None)
      seen.push(`${node} ${outward ? ">" : "<"} 0x${packet.opcode.toString(16)} ${packet.payloadBytes}`)
      packet.pool.release(packet.handle)
    })
    const program = written(5000)
    const plain = await Effect.runPromise(Effect.provide(simulateProgram(program), network))
    const watched = await Effect.runPromise(Effect.provide(simulateProgram(program, { onPacket }), network))
    expect(watched.digest).toBe(plain.digest)
    expect(seen).toEqual(["0 > 0x6 4096", "0 > 0x8 904", "1 < 0x6 4096", "1 < 0x8 904", "1 > 0x11 0", "0 < 0x11 0"])
  })

  it("has links that it may break, and goes on when they are whole again", async () => {
    const program = Effect.gen(function* () {
      const links = yield* NetworkLinks
      const writing = yield* Effect.forkChild(written(1 << 20))
      yield* Effect.sleep("20 micros")
      links.set(links.ofHost(1), false)
      yield* Effect.sleep("100 micros")
      const states = (yield* Provider).devices.map((device) => device.queryPort(1).state)
      links.set(links.ofHost(1), true)
      return { states, ...(yield* Fiber.join(writing)) }
    })
    const { value } = await Effect.runPromise(Effect.provide(simulateProgram(program), network))
    expect(value).toMatchObject({ states: ["active", "down"], status: WcStatus.Success, last: 7 })
    expect(Number(value.nanos)).toBeGreaterThan(1_000_000)
  })

  it("is several programs, each on a host of its own", async () => {
    const names = Effect.gen(function* () {
      const nameOf = Effect.map(Provider, ({ devices }) => devices.map(({ name }) => name).join())
      return yield* Effect.all([onHost(0)(nameOf), onHost(1)(nameOf)])
    })
    const device = (node: number) => ({ name: `nic${node}` })
    const run = simulateProgram(names, { device })
    expect((await Effect.runPromise(Effect.provide(run, network))).value).toEqual(["nic0", "nic1"])
  })

  it("takes congestion control and switches from layers, and tells what does not fit", async () => {
    const paced = Layer.merge(network, Layer.succeed(CongestionControl, dcqcn(dcqcnPresets.paper)))
    const { value } = await Effect.runPromise(Effect.provide(simulateProgram(written(100_000)), paced))
    expect(value.status).toBe(WcStatus.Success)
    const small = Layer.merge(network, Layer.succeed(SwitchModel, sharedBufferSwitches({ bufferBytes: 1000 })))
    const error = await Effect.runPromise(Effect.flip(Effect.provide(simulateProgram(written(1)), small)))
    expect(error).toBeInstanceOf(NetworkInvalid)
  })

  it("stalls under congestion control too, whose timers go on for ever", async () => {
    const paced = Layer.merge(network, Layer.succeed(CongestionControl, dcqcn(dcqcnPresets.paper)))
    const program = Effect.andThen(written(1 << 20), Effect.never)
    expect(await Effect.runPromise(Effect.flip(Effect.provide(simulateProgram(program), paced)))).toBeInstanceOf(
      Stalled,
    )
  })

  it("fails with its own failures, ends at its limit, and draws by its seed", async () => {
    const failing = Effect.andThen(Effect.sleep("1 micros"), Effect.fail("mine" as const))
    expect(await Effect.runPromise(Effect.flip(Effect.provide(simulateProgram(failing), network)))).toBe("mine")
    const long = Effect.forever(Effect.sleep("1 millis"))
    const late = Effect.provide(simulateProgram(long, { until: 5e9 }), network)
    expect(await Effect.runPromise(Effect.flip(late))).toBeInstanceOf(TimeExceeded)
    const draw = (seed: number) => Effect.runPromise(Effect.provide(simulateProgram(Random.next, { seed }), network))
    expect((await draw(1)).value).toBe((await draw(1)).value)
    expect((await draw(1)).value).not.toBe((await draw(2)).value)
  })

  it("can be interrupted from outside, and its finalizers run in virtual time", async () => {
    const released: Array<number> = []
    const program = Effect.acquireUseRelease(
      Effect.void,
      () => Effect.forever(Effect.sleep("10 nanos")),
      () =>
        Effect.gen(function* () {
          const before = yield* Clock.currentTimeNanos
          yield* Effect.sleep("3 micros")
          released.push(Number((yield* Clock.currentTimeNanos) - before))
        }),
    )
    const fiber = Effect.runFork(Effect.provide(simulateProgram(program), network))
    await new Promise((resolve) => setTimeout(resolve, 20))
    const exit = await Effect.runPromise(Effect.andThen(Fiber.interrupt(fiber), Fiber.await(fiber)))
    expect(Exit.isFailure(exit)).toBe(true)
    expect(released).toEqual([3000])
  })

  it("has the losses of its links, and what happens to them at their times", async () => {
    const lossy = Layer.succeed(Topology, star(2, { rate: "100Gbps", delay: "1us", loss: 0.01 }))
    const down = Layer.succeed(Faults, [
      { time: 20e6, link: 0, up: false },
      { time: 50e6, link: 0, up: true, lossRate: 0 },
    ])
    const run = (layer: Layer.Layer<Topology>) =>
      Effect.runPromise(Effect.provide(simulateProgram(written(1 << 20)), layer))
    const [calm, lost, cut] = await Promise.all([run(network), run(lossy), run(Layer.merge(network, down))])
    for (const { value } of [calm, lost, cut]) expect(value).toMatchObject({ status: WcStatus.Success, last: 7 })
    expect(calm.dropCounts.every((count) => count === 0)).toBe(true)
    expect(lost.dropCounts[-LinkLoss]).toBeGreaterThan(0)
    expect(cut.dropCounts[-LinkDown]).toBeGreaterThan(0)
    expect(cut.time).toBeGreaterThan(calm.time)
  })
})
