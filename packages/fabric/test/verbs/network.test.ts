import { dcqcn, dcqcnPresets } from "@rdmakit/cc-dcqcn"
import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { Opcode } from "@rdmakit/packet"
import { Drop, QpState, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { fatTree, LINKS_MAX, Ports, star, validate } from "@rdmakit/topology"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { sharedBufferSwitches, simulateProgram, Topology, VerbsNetwork } from "../../src/index.ts"
import { Loopbacks } from "../../src/verbs/Loopbacks.ts"
import {
  connect,
  destroy,
  type End,
  fill,
  makeEnd,
  outcomes,
  polled,
  ready,
  twoHosts,
  vectorTo,
  write,
} from "./connected.ts"

describe("a network of devices", { timeout: 30_000 }, () => {
  it("carries real octets between two hosts, over IPv4 and IPv6, in frames as long as the wire's", () => {
    for (const [gidIndex, ipBytes] of [
      [1, 20],
      [0, 40],
    ] as const) {
      const sizes: Array<[number, number]> = []
      const network = new VerbsNetwork({
        graph: twoHosts(),
        onPacket: (_now, _node, packet, outward) => {
          if (outward) sizes.push([packet.opcode, packet.wireBytes])
        },
      })
      const [a, b] = network.devices.map((device) => makeEnd(device, "rc")) as [End, End]
      connect(a, b, { gidIndex })
      fill(a)
      write(a, b, 2501)
      network.run()
      expect(outcomes(a)).toEqual([[1, WcStatus.Success]])
      expect(b.memory.octets.subarray(0, 2501)).toEqual(a.memory.octets.subarray(0, 2501))
      expect(b.memory.octets[2501]).toBe(0)
      // Preamble and gap 20, Ethernet 18, UDP 8, BTH 12, ICRC 4; RETH 16; payload whole words.
      const around = 62 + ipBytes
      expect(sizes).toEqual([
        [Opcode.WriteFirst, around + 16 + 1024],
        [Opcode.WriteMiddle, around + 1024],
        [Opcode.WriteLast, around + 456],
        [Opcode.Acknowledge, Math.max(84, around + 4)],
      ])
    }
  })

  it("is the same with either kernel and again, and another with another seed", () => {
    const digestOf = (kernel: "exact" | "fused", seed: number) => {
      const network = new VerbsNetwork({ graph: fatTree(4), kernel, seed, controller: dcqcn(dcqcnPresets.paper) })
      const pairs = Array.from({ length: 8 }, (_, i) => {
        const a = makeEnd(network.devices[i]!, "rc")
        const b = makeEnd(network.devices[15 - (i >> 1)]!, "rc")
        connect(a, b)
        return [a, b] as const
      })
      for (const [a, b] of pairs) for (let id = 0; id < 2; id++) write(a, b, 30_000, id)
      network.run()
      for (const [a] of pairs) expect(outcomes(a).length).toBe(2)
      return network.digest
    }
    expect(digestOf("exact", 1)).toBe(digestOf("fused", 1))
    expect(digestOf("fused", 1)).toBe(digestOf("fused", 1))
    expect(digestOf("fused", 2)).not.toBe(digestOf("fused", 1))
  })

  it("reaches the host itself", () => {
    const network = new VerbsNetwork({ graph: twoHosts() })
    const a = makeEnd(network.devices[0]!, "rc")
    const b = makeEnd(network.devices[0]!, "rc")
    connect(a, b)
    fill(a)
    write(a, b, 60_000)
    const before = network.now
    network.run()
    expect(outcomes(a)).toEqual([[1, WcStatus.Success]])
    expect(b.memory.octets.subarray(0, 60_000)).toEqual(a.memory.octets.subarray(0, 60_000))
    expect(network.now - before).toBeGreaterThan((60_000 * 8 * 1000) / 100)
  })

  it("shares a port by the weights of the graph's own ports, and reaches the host itself", () => {
    // Three links; queue 1 weighs twice as much as any other.
    const weights = Array.from({ length: 8 * 6 }, (_, at) => (at % 8 === 1 ? 2 : 1))
    /** Packets of each write that had come when the first of them was complete. */
    const cameBy = (...senders: readonly [number, number]) => {
      const came = [0, 0]
      const network = new VerbsNetwork({
        graph: star(3),
        discipline: { weights },
        onPacket: (_now, node, { payloadBytes, priority }, outward) => {
          if (node === 2 && !outward && payloadBytes > 0 && Math.max(...came) < 60) came[priority - 1]!++
        },
      })
      for (const [index, sender] of senders.entries()) {
        const [a, b] = [sender, 2].map((node) => makeEnd(network.devices[node]!, "rc")) as [End, End]
        connect(a, b, { serviceLevel: index + 1 })
        write(a, b, 60 * 1024)
      }
      network.run()
      return came
    }
    const [first, second] = cameBy(0, 1)
    expect(first).toBe(60)
    expect(second! / 60).toBeCloseTo(0.5, 1)
    expect(Math.max(...cameBy(2, 2))).toBe(60)
  })

  it("carries datagrams, to several hosts by one queue pair, with a header before them", () => {
    const network = new VerbsNetwork({ graph: star(3) })
    const ends = network.devices.map((device) => makeEnd(device, "ud"))
    for (const end of ends) ready(end)
    const [a, b, c] = ends as [End, End, End]
    fill(a)
    const receive = ({ qp, memory, mr }: End) =>
      qp.postRecv({ id: 9, sges: [{ address: memory.address, length: 4096, lkey: mr.lkey }] })
    for (const end of [b, c]) receive(end)
    for (const [id, to] of [b, c, a].entries()) {
      const address = a.pd.createAh(vectorTo(to.device))
      a.qp.postSend({
        id,
        opcode: WrOpcode.Send,
        signaled: true,
        sges: [{ address: a.memory.address, length: 1000, lkey: a.mr.lkey }],
        datagram: { address, qpn: to.qp.qpn, queueKey: 0x1234 },
      })
    }
    network.run()
    expect(outcomes(a)).toEqual([
      [0, WcStatus.Success],
      [1, WcStatus.Success],
      [2, WcStatus.Success],
    ])
    for (const end of [b, c]) {
      const [completion] = polled(end)
      expect(completion).toMatchObject({ id: 9, status: 0, byteLength: 1040, sourceQp: a.qp.qpn, grh: true })
      expect(end.memory.octets.subarray(40, 1040)).toEqual(a.memory.octets.subarray(0, 1000))
      // The IPv4 header in the last 20 octets: 11.0.0.1 is the sender's address.
      expect([...end.memory.octets.subarray(20, 21), ...end.memory.octets.subarray(32, 36)]).toEqual([
        0x45, 11, 0, 0, 1,
      ])
    }
  })

  it("copies a datagram to every member of a group, and to none that has left", () => {
    const network = new VerbsNetwork({ graph: star(4) })
    const ends = network.devices.map((device) => makeEnd(device, "ud"))
    const group = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 2, 3])
    for (const end of ends) {
      ready(end)
      for (let id = 0; id < 2; id++) {
        end.qp.postRecv({ id, sges: [{ address: end.memory.address, length: 4096, lkey: end.mr.lkey }] })
      }
    }
    const [a] = ends as [End]
    const send = () =>
      a.qp.postSend({
        id: 7,
        opcode: WrOpcode.SendWithImm,
        immediate: 0xfeedface,
        signaled: true,
        sges: [{ address: a.memory.address, length: 64, lkey: a.mr.lkey }],
        datagram: {
          address: a.pd.createAh({ ...vectorTo(a.device), destinationGid: group }),
          qpn: 0xffffff,
          queueKey: 0x1234,
        },
      })
    const receivers = () => ends.map((end) => polled(end).filter(({ opcode }) => opcode >= 128).length)
    send()
    network.run()
    expect(receivers()).toEqual([0, 0, 0, 0])
    for (const end of ends.slice(0, 3)) end.qp.attachMulticast(group)
    send()
    network.run()
    expect(receivers()).toEqual([1, 1, 1, 0])
    ends[1]!.qp.detachMulticast(group)
    send()
    network.run()
    expect(receivers()).toEqual([1, 0, 1, 0])
    expect(network.kernel.pool.alive).toBe(0)
  })

  it("resolves the addresses of its hosts alone, and of one family", () => {
    const network = new VerbsNetwork({ graph: star(2) })
    const { world } = network.devices[0]!
    const other = network.devices[1]!
    for (const index of [0, 1]) {
      const path = world.resolve(vectorTo(other, index), 5)
      expect(path).toMatchObject({ node: 0, peer: 1, priority: 3 })
      expect(path!.udpSourcePort).toBeGreaterThanOrEqual(0xc000)
    }
    expect(world.resolve({ ...vectorTo(other, 1), sourceGidIndex: 0 }, 5)).toBeUndefined()
    expect(world.resolve({ ...vectorTo(other, 1), sourceGidIndex: 2 }, 5)).toBeUndefined()
    const nobody = Uint8Array.from(other.gids[1]!.gid)
    nobody[14] = 9
    expect(world.resolve({ ...vectorTo(other, 1), destinationGid: nobody }, 5)).toBeUndefined()
    // Node 2 is the switch.
    const link = Uint8Array.from(other.gids[0]!.gid)
    link[15] = 2
    expect(world.resolve({ ...vectorTo(other, 0), destinationGid: link }, 5)).toBeUndefined()
    expect([...other.gids[0]!.gid]).toEqual([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1])
    expect([...other.gids[1]!.gid]).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 11, 0, 1, 1])
    expect(world.resolve(vectorTo(other, 1, 6), 5)).toMatchObject({ priority: 6 })
  })

  it("drops what nobody is there for, and forgets a queue pair that is gone", () => {
    const network = new VerbsNetwork({ graph: twoHosts() })
    const [a, b] = network.devices.map((device) => makeEnd(device, "rc")) as [End, End]
    connect(a, b, { timeout: 4, retryCount: 1 })
    destroy(b)
    write(a, { ...b, mr: { rkey: 5 } } as unknown as End, 100)
    network.run()
    expect(outcomes(a)).toEqual([[1, WcStatus.RetryExcErr]])
    expect(a.qp.state).toBe(QpState.Err)
    expect(network.packetsUnclaimed).toBe(2)
    destroy(a)
    expect(network.outstanding()).toEqual([])
    for (const { resources } of network.devices)
      expect(Object.values(resources).every((count) => count === 0)).toBe(true)
  })
})

describe("congestion", { timeout: 30_000 }, () => {
  const incast = (options: Partial<ConstructorParameters<typeof VerbsNetwork>[0]>, senders = 6) => {
    const network = new VerbsNetwork({ graph: star(senders + 1, { rate: "100Gbps", delay: "1us" }), ...options })
    const sink = network.devices[senders]!
    const pairs = network.devices.slice(0, senders).map((device) => {
      const a = makeEnd(device, "rc", 1 << 20)
      const b = makeEnd(sink, "rc", 1 << 20)
      connect(a, b, { timeout: 14 })
      write(a, b, 1 << 20)
      return [a, b] as const
    })
    let deepest = 0
    const port = 2 * senders + 1
    while (network.step(Infinity)) {
      network.settle()
      deepest = Math.max(deepest, network.kernel.queueBytes(port))
    }
    for (const [a] of pairs) expect(outcomes(a)).toEqual([[1, WcStatus.Success]])
    return { network, deepest }
  }

  it("loses nothing where switches pause, and much where they do not", () => {
    const settings = { bufferBytes: 1 << 20 }
    const queuePairs = { inFlightPackets: 1024 }
    const lossless = incast({ queuePairs, switches: sharedBufferSwitches(settings) }).network.kernel
    expect(lossless.pfcFrames).toBeGreaterThan(0)
    expect(lossless.dropCounts.every((count) => count === 0)).toBe(true)
    const lossy = incast({ queuePairs, switches: sharedBufferSwitches({ ...settings, lossless: false }) }).network
      .kernel
    expect(lossy.pfcFrames).toBe(0)
    expect(lossy.dropCounts[-Drop.EgressFull]).toBeGreaterThan(100)
  })

  it("is held down by DCQCN's notifications, and by HPCC's telemetry", () => {
    const free = incast({ queuePairs: { inFlightPackets: 1024 } })
    let notifications = 0
    const paced = incast({
      controller: dcqcn(dcqcnPresets.paper),
      queuePairs: { inFlightPackets: 1024 },
      onPacket: (_now, _node, packet, outward) => {
        if (outward && packet.opcode === Opcode.Cnp) notifications++
      },
    })
    expect(notifications).toBeGreaterThan(0)
    expect(paced.deepest).toBeLessThan(free.deepest)
    const told = incast({ controller: hpcc(hpccPresets.simulation), queuePairs: { inFlightPackets: 1024 } })
    expect(told.deepest).toBeLessThan(free.deepest / 2)
  })
})

describe("links of hosts to themselves count among those that packets can name", () => {
  const [link] = star(1).links
  /** Two hosts, and so many links between them. */
  const pair = (links: number) => ({
    nodes: 2,
    isSwitch: new Uint8Array(2),
    links: new Array(links).fill({ ...link!, a: 0, b: 1 }),
  })

  it.each([LINKS_MAX, LINKS_MAX - 1])("%d links of two hosts are too many", async (count) => {
    const graph = pair(count)
    expect(validate(graph)).toEqual([])
    const program = Effect.provide(simulateProgram(Effect.void), Layer.succeed(Topology, graph))
    const error = await Effect.runPromise(Effect.flip(program))
    expect(error).toMatchObject({ _tag: "NetworkInvalid", cause: { _tag: "TopologyError", kind: "size" } })
    expect(error.message).toContain(`${count} links, and one of each of 2 hosts to itself: packets can name 524288`)
  })

  it("two less are not", () => {
    const graph = pair(LINKS_MAX - 2)
    expect(new Loopbacks(graph, new Ports(graph)).ports.count).toBe(2 * LINKS_MAX)
  })
})
