import { type Cable, CaptureTap, captureLinkTypes, describePacket, Middleware } from "@rdmakit/codec/cable"
import { Provider } from "@rdmakit/device/layer"
import { CaptureReader, PcapngWriter } from "@rdmakit/pcap"
import { WrOpcode } from "@rdmakit/protocol"
import { checkIcrc, placeInEthernet, placeInIp } from "@rdmakit/wire/roce"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { layer, openSoftnic, SoftnicError, Softnics } from "../src/index.ts"
import { joints } from "./joints.ts"
import { type Endpoint, openPair } from "./pair.ts"

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe("the layer", () => {
  const options = (address: string, port: number) => ({ link: { udp: { address, port } } })

  it("gives devices with their counters, and frees their sockets with its scope", async () => {
    const port = 18_000 + (process.pid % 900)
    const program = Effect.gen(function* () {
      const { devices } = yield* Provider
      const softnics = yield* Softnics
      expect(softnics.map(({ device }) => device)).toEqual(devices)
      expect(softnics.map((each) => each.port)).toEqual([port, port])
      return softnics[0]!.counters.txPackets
    })
    const run = () =>
      Effect.runPromise(
        Effect.scoped(Effect.provide(program, layer([options("127.0.0.1", port), options("127.0.0.2", port)]))),
      )
    expect(await run()).toBe(0)
    // The same ports again: they are free.
    expect(await run()).toBe(0)
  })

  it("tells what cannot be opened, and closes what was", async () => {
    const port = 18_900 + (process.pid % 900)
    const twice = layer([options("127.0.0.1", port), options("127.0.0.1", port)])
    const failure = await Effect.runPromise(Effect.flip(Effect.scoped(Effect.provide(Provider, twice))))
    expect(failure).toBeInstanceOf(SoftnicError)
    expect(failure.message).toContain(`UDP port ${port} at 127.0.0.1`)
    const again = await openSoftnic(options("127.0.0.1", port))
    again.close()
    again.close()
  })

  it.each([
    [{ udp: { address: "0.0.0.0" } }, "address: found 0.0.0.0, expected one address of this host"],
    [{ udp: { address: "localhost" } }, "address: found localhost"],
    [
      { udp: { address: "127.0.0.1", port: 0, peers: [{ address: "x", host: "127.0.0.1", port: 1 }] } },
      "peers[0].address: found x",
    ],
    [{ udp: { address: "127.0.0.1", port: 0, mtuBytes: 100 } }, "mtuBytes: found 100"],
    [{ udp: { address: "192.0.2.1", port: 0 } }, "EADDRNOTAVAIL"],
    [
      { stream: { place: { path: "/nonexistent/wire" }, role: "connect" }, ethernet: { mac: "", addresses: [] } },
      "ENOENT",
    ],
    [
      { datagrams: { port: 0, remotePort: 1 }, ethernet: { mac: "01:00:00:00:00:00", addresses: [] } },
      "mac: found 01:",
    ],
    [
      { datagrams: { port: 0, remotePort: 1 }, ethernet: { mac: "02:00:00:00:00:01", addresses: ["10.0.0.1/33"] } },
      "addresses: found 10.0.0.1/33",
    ],
    [
      { datagrams: { port: 0, remotePort: 1 }, ethernet: { mac: "02:00:00:00:00:01", addresses: [], vlan: 4095 } },
      "vlan: found 4095",
    ],
  ] as const)("refuses %j", async (link, words) => {
    await expect(openSoftnic({ link })).rejects.toThrow(words)
  })
})

describe("time", () => {
  it("costs nothing while nobody speaks, with a connection open", async () => {
    const { left, right, close } = await openPair(joints[0]!)
    right.qp.postRecv({ id: 1, sges: [right.sge(0, 8)] })
    left.qp.postSend({ id: 1, opcode: WrOpcode.Send, sges: [left.sge(0, 8)], signaled: true })
    await left.completions(1)
    await later(200)
    const before = process.threadCpuUsage()
    await later(500)
    const { user, system } = process.threadCpuUsage(before)
    expect(user + system).toBeLessThan(50_000)
    close()
  })

  it("keeps the process alive only while a device is open", async () => {
    /** What Node waits for before it ends, of the kinds that a device has. */
    const alive = () =>
      process.getActiveResourcesInfo().filter((kind) => ["UDPWrap", "Timeout", "Immediate"].includes(kind))
    // What the test before has closed goes with the turns of the loop.
    await later(20)
    const before = alive().length
    const { left, right, close } = await openPair(joints[0]!)
    right.qp.postRecv({ id: 1, sges: [right.sge(0, 8)] })
    left.qp.postSend({ id: 1, opcode: WrOpcode.Send, sges: [left.sge(0, 8)], signaled: true })
    expect(alive().length).toBeGreaterThanOrEqual(before + 2)
    await left.completions(1)
    close()
    await later(20)
    expect(alive().length).toBe(before)
  })

  it("a dead peer is told of after the retries, not before", async () => {
    const { left, right, close } = await openPair(joints[0]!, "rc", { timeout: 10 })
    right.softnic.close()
    const started = performance.now()
    left.qp.postSend({ id: 1, opcode: WrOpcode.Send, sges: [left.sge(0, 8)], signaled: true })
    await expect(left.completions(1)).rejects.toThrow("status 12")
    // Eight times 4.096 µs · 2^10.
    expect(performance.now() - started).toBeGreaterThan(8 * 4.1)
    close()
  })
})

describe("middlewares", () => {
  it.each([joints[0]!, joints[3]!])("a capture of $name is what Wireshark reads", async (joint) => {
    const pieces: Array<Uint8Array> = []
    const writer = new PcapngWriter({}, (piece) => pieces.push(piece))
    let first = true
    const before = BigInt(Date.now()) * 1_000_000n
    const through = (cable: Cable, startNs: bigint): Cable => {
      if (!first) return cable
      first = false
      return new CaptureTap(cable, writer, {
        interfaceId: writer.interface({ linkType: captureLinkTypes[cable.layer] }),
        startNs,
      })
    }
    const { left, right, close } = await openPair(joint, "rc", { common: { through } })
    left.qp.postSend({
      id: 1,
      opcode: WrOpcode.RdmaWrite,
      sges: [left.sge(0, 10_000)],
      signaled: true,
      remoteAddress: right.region.iova,
      remoteKey: right.region.rkey,
    })
    await left.completions(1)
    close()
    writer.flush()
    const reader = new CaptureReader()
    const told: Array<string> = []
    const take = () => {
      for (let record = reader.next(); record !== undefined; record = reader.next()) {
        if (record.kind !== "packet") continue
        const { data } = record
        const layerOf = joint === joints[0] ? "ip" : "ethernet"
        const place = layerOf === "ip" ? placeInIp(data) : placeInEthernet(data)
        if (place === undefined) continue
        expect(checkIcrc(data, place)).toBe("right")
        const ns = record.ticks!
        expect(ns > before - 10_000_000n && ns < before + 60_000_000_000n).toBe(true)
        told.push(describePacket(data, 0, data.length, layerOf).split(" ").slice(2, 4).join(" "))
      }
    }
    for (const piece of pieces) {
      reader.push(piece)
      take()
    }
    reader.end()
    take()
    expect(told[0]).toBe("Rc WriteFirst")
    expect(told).toContain("Rc WriteLast")
    expect(told.at(-1)).toBe("Rc Acknowledge")
  })
})

describe("acknowledgements", () => {
  /** Counts acknowledgements that leave. */
  class Acks extends Middleware {
    count = 0
    override send(now: number, octets: Uint8Array, start: number, end: number): boolean {
      if (octets[start + 28] === 0x11) this.count++
      return super.send(now, octets, start, end)
    }
  }
  const converse = async (rounds: number, wait: (asker: Endpoint) => Promise<void>) => {
    const taps: Array<Acks> = []
    const through = (cable: Cable): Cable => {
      const tap = new Acks(cable)
      taps.push(tap)
      return tap
    }
    const pair = await openPair(joints[0]!, "rc", { common: { through } })
    const { left, right } = pair
    const listen = (from: Endpoint): void => from.qp.postRecv({ id: 1, sges: [from.sge(0, 8)] })
    const say = (from: Endpoint): void =>
      from.qp.postSend({ id: 2, opcode: WrOpcode.Send, sges: [from.sge(0, 8)], signaled: from === left })
    const answer = (): void => {
      while (right.cq.pollOne() !== undefined) {
        listen(right)
        say(right)
      }
      right.cq.arm("next", answer)
    }
    listen(right)
    answer()
    for (let round = 0; round < rounds; round++) {
      listen(left)
      say(left)
      await wait(left)
    }
    return { ...pair, answers: taps[1]! }
  }

  it("that become one tell of all where answers follow questions", async () => {
    // The answer alone is waited for; completions of what was said come when they come.
    let received = 0
    const { left, right, close, answers } = await converse(400, async (asker) => {
      received++
      for (let seen = 0; seen < received; ) {
        const completion = asker.cq.pollOne()
        if (completion === undefined) await new Promise((resolve) => setImmediate(resolve))
        else if (completion.opcode === 128) break
      }
    })
    // All that was said completes without another word.
    await later(20)
    expect(left.qp.engine.sendOutstanding).toBe(0)
    // How many become one depends on how busy the machine is; none is too many.
    expect(answers.count).toBeLessThanOrEqual(right.softnic.counters.rxPackets)
    close()
  })

  it("do not keep a peer waiting who waits for them", async () => {
    const { right, close } = await converse(400, async (asker) => {
      await asker.completions(2)
    })
    // Those that are held come late, one by one, and the next trial is rarer each time.
    expect(right.softnic.counters.acksMerged).toBeLessThan(40)
    close()
  })

  it("that are held leave before the queue pair or the device goes", async () => {
    for (const end of ["destroy", "close"] as const) {
      const { left, right, close } = await converse(40, async (asker) => {
        for (;;) {
          const completion = asker.cq.pollOne()
          if (completion === undefined) await new Promise((resolve) => setImmediate(resolve))
          else if (completion.opcode === 128) return
        }
      })
      right.cq.disarm()
      if (end === "destroy") right.qp.destroy()
      else right.softnic.close()
      await later(20)
      expect(left.qp.engine.sendOutstanding).toBe(0)
      close()
    }
  })
})
