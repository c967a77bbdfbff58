import { Refusal, VerbsCodec } from "@rdmakit/codec"
import { Provider } from "@rdmakit/device/layer"
import { Packet, PacketPool } from "@rdmakit/packet"
import { WcStatus, WrOpcode } from "@rdmakit/protocol"
import { star } from "@rdmakit/topology"
import { Clock, Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { frameObserver, Stalled, simulateProgram, Topology } from "../../src/index.ts"
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

describe("a program on a simulated network", () => {
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
})
