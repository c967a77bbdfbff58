import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { flowsOf, type KernelName, NativeRun, type World } from "@rdmakit/fabric"
import { readTr, trEvents, trProtocols } from "@rdmakit/ns3"
import { interfaceName, type PacketRecord, readCapture } from "@rdmakit/pcap"
import { GraphBuilder, Ports } from "@rdmakit/topology"
import { decode, nodeOf as nodeOfFrame } from "@rdmakit/wire/decode"
import { checkIcrc, placeInEthernet } from "@rdmakit/wire/roce"
import { describe, expect, it } from "vitest"
import { type CaptureSettings, captureFiles, PortCapture, PortNameFault, portName, portNamed } from "../src/capture.ts"
import { Ns3Simulation } from "../src/index.ts"
import { randomCase, startedRun } from "./randomNetwork.ts"
import { referenceInputs, runToEnd } from "./reference.ts"

/** Takes what a world's ports carry; the files, by name, when it is over. */
const captured = (world: World, settings: CaptureSettings) => {
  const files: Record<string, Array<Uint8Array>> = {}
  const capture = new PortCapture(world, settings, (file) => {
    files[file] = []
    return (octets) => void files[file]!.push(octets)
  })
  return { capture, files }
}

const packetsOf = async (chunks: ReadonlyArray<Uint8Array>): Promise<ReadonlyArray<PacketRecord>> => {
  const packets: Array<PacketRecord> = []
  for await (const record of readCapture(chunks)) if (record.kind === "packet") packets.push(record)
  return packets
}

/** The options of a packet: 1 came in, 2 went out. */
const directionOf = ({ options }: PacketRecord): number | undefined => options.find(({ code }) => code === 2)?.value[0]

const PAYLOAD = 1000
const ETHERNET_PFC = 0x8808
const ACK = 0x11
const u = (octets: Uint8Array, at: number, bytes: number): number =>
  Number(`0x${Buffer.from(octets.subarray(at, at + bytes)).toString("hex")}`)

describe("a run of the simulator's files", () => {
  it("is in a capture what it is in the simulator's own trace, packet by packet", async () => {
    const inputs = referenceInputs("pfcdemo/timely.config.txt")
    const plain = runToEnd(new Ns3Simulation(inputs))
    const trace: Array<Uint8Array> = []
    const simulation = new Ns3Simulation(inputs, { onTrace: (octets) => void trace.push(octets.slice()) })
    const { world } = simulation
    const ports = [1, 17].map((iface) => world.ports.portsOf(17)[iface - 1]!)
    const { capture, files } = captured(world, { ports, format: "pcapng", telemetry: "none" })
    const outcome = runToEnd(simulation)
    capture.finish()
    expect(outcome.digest).toBe(plain.digest)
    expect(outcome.events).toBe(plain.events)

    const expected: Array<string> = []
    readTr(Buffer.concat(trace), "trace", (record) => {
      const { event, intf, l3Prot, time } = record
      const [isIn, isOut] = [event === trEvents.indexOf("Recv"), event === trEvents.indexOf("Dequ")]
      if ((intf !== 1 && intf !== 17) || !(isIn || isOut)) return
      const at = `${time} ${intf} ${isIn ? "in" : "out"}`
      if (l3Prot === trProtocols.pfc) expected.push(`${at} pfc ${record.pfcQueue} ${record.pfcTime > 0}`)
      else if (l3Prot === trProtocols.data) {
        expected.push(`${at} data ${record.sip} ${record.dip} ${record.dataSeq} ${record.payload} ${record.ecn}`)
      } else expected.push(`${at} ack ${record.sip} ${record.dip} ${record.ackSeq}`)
    })
    const packets = await packetsOf(files["ports.pcapng"]!)
    const found = packets.map((packet) => {
      const { data } = packet
      const iface = interfaceName(packet.interface)!.split(":")[1]
      const at = `${packet.timeNs} ${iface} ${directionOf(packet) === 1 ? "in" : "out"}`
      if (u(data, 12, 2) === ETHERNET_PFC) {
        const priority = Math.log2(u(data, 16, 2))
        return `${at} pfc ${priority} ${u(data, 18 + 2 * priority, 2) > 0}`
      }
      const ends = `${u(data, 26, 4)} ${u(data, 30, 4)}`
      const psn = u(data, 51, 3)
      if (data[42] === ACK) return `${at} ack ${ends} ${(psn + 1) * PAYLOAD}`
      const payload = data.length - 58 - (data[42] === 6 || data[42] === 10 ? 16 : 0)
      return `${at} data ${ends} ${psn * PAYLOAD} ${payload} ${data[15]! & 3}`
    })
    expect(found.length).toBeGreaterThan(30_000)
    expect(found.filter((line) => line.includes("pfc")).length).toBeGreaterThan(10)
    expect(capture.frames).toBe(found.length)
    const at = found.findIndex((line, index) => line !== expected[index])
    expect(found[at]).toBe(expected[at])
    expect(expected.length).toBe(found.length)
    expect(
      packets.every(
        ({ data }) => u(data, 12, 2) === ETHERNET_PFC || checkIcrc(data, placeInEthernet(data)!) === "right",
      ),
    ).toBe(true)
  }, 60_000)
})

describe("a run of a random network", () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed))(
    "%i is the same with a capture, which is the same from either kernel",
    async (seed) => {
      const random = randomCase(seed)
      const count = new Ports(random.options.graph).count
      const ports = [...new Set([0, 1, seed % count, (7 * seed) % count])]
      const played = (kernel: KernelName, format: CaptureSettings["format"] | undefined) => {
        const run = startedRun(random, kernel)
        const taken = format === undefined ? undefined : captured(run.world, { ports, format, telemetry: "none" })
        const outcome = runToEnd(run)
        taken?.capture.finish()
        return { outcome, alive: run.world.kernel.pool.alive, files: taken?.files ?? {}, ports: run.world.ports }
      }
      const plain = played("fused", undefined)
      const fused = played("fused", "pcap")
      const exact = played("exact", "pcap")
      for (const { outcome, alive } of [fused, exact]) {
        expect(outcome.digest).toBe(plain.outcome.digest)
        expect(outcome.packetHops).toBe(plain.outcome.packetHops)
        expect(outcome.dropsByReason).toEqual(plain.outcome.dropsByReason)
        expect(alive).toBe(plain.alive)
      }
      const names = Object.values(captureFiles({ ports, format: "pcap", telemetry: "none" }, fused.ports))
      expect(Object.keys(fused.files)).toEqual(names)
      for (const name of names) {
        const [a, b] = [Buffer.concat(fused.files[name]!), Buffer.concat(exact.files[name]!)]
        expect(a.equals(b), `${name} of both kernels`).toBe(true)
        let before = 0n
        for (const { data, timeNs } of await packetsOf([a])) {
          expect(timeNs! >= before).toBe(true)
          before = timeNs!
          if (u(data, 12, 2) !== ETHERNET_PFC) expect(checkIcrc(data, placeInEthernet(data)!)).toBe("right")
        }
      }
    },
    60_000,
  )
})

describe("telemetry", () => {
  const inputs = referenceInputs("tiny/hpcc.config.txt")
  const framesOf = async (telemetry: CaptureSettings["telemetry"]) => {
    const simulation = new Ns3Simulation(inputs)
    const { capture, files } = captured(simulation.world, { ports: [1], format: "pcap", telemetry })
    runToEnd(simulation)
    capture.finish()
    return (await packetsOf(Object.values(files)[0]!)).map(({ data }) => data)
  }

  it("is left out, and with a layout stands in front of the BTH", async () => {
    const [plain, paper, ns3] = [await framesOf("none"), await framesOf("hpcc"), await framesOf("ns3")]
    expect(plain.length).toBeGreaterThan(5)
    for (const [index, data] of plain.entries()) {
      expect(nodeOfFrame(decode(data), "icrc")?.verdict).toBe("right")
      const hops = (paper[index]!.length - data.length - 2) / 8
      expect([0, 1]).toContain(hops)
      expect(ns3[index]!.length - data.length).toBe(42)
      for (const bytes of [2 + 8 * hops, 42]) {
        const from = bytes === 42 ? ns3[index]! : paper[index]!
        expect(Buffer.from(from.subarray(42 + bytes)).equals(data.subarray(42))).toBe(true)
      }
    }
  })

  it("of too many switches is refused, and so are links of a rate without a code", () => {
    const run = (layout: CaptureSettings["telemetry"], gbps: number, switches: number) => {
      const builder = new GraphBuilder()
      const hosts = builder.hosts(2)
      const chain = [hosts[0]!, ...builder.switches(switches), hosts[1]!]
      for (const [index, node] of chain.entries()) {
        if (index > 0) builder.link(chain[index - 1]!, node, { rate: gbps * 1e9, delay: 1e6 })
      }
      const flows = [{ source: 0, destination: 1, size: 1000 }]
      const graph = builder.build()
      const native = new NativeRun(
        { graph, controller: hpcc(hpccPresets.paper), seed: 0 },
        { flows: flowsOf(flows, graph), until: 1e9 },
      )
      return () => captured(native.world, { ports: [0], format: "pcap", telemetry: layout })
    }
    expect(run("ns3", 100, 6)).toThrow('telemetry of 6 switches: the layout "ns3" has room for 5')
    expect(run("hpcc", 100, 6)).not.toThrow()
    expect(run("ns3", 40, 1)).toThrow('a link of 40 Gb/s: the layout "ns3" can tell 25, 50, 100, 200 and 400')
  })
})

describe("ports", () => {
  const builder = new GraphBuilder()
  const [a, b] = builder.hosts(2)
  const [s] = builder.switches(1)
  for (const host of [a!, b!, b!]) builder.link(host, s!, { rate: 100e9, delay: 1e6 })
  const graph = builder.build()
  const ports = new Ports(graph)
  const named = (text: string): string => {
    const port = portNamed(text, ports, graph)
    return port instanceof PortNameFault ? `${port.message}; ${port.hint ?? ""}` : portName(port, ports)
  }

  it("are named by node and number, by neighbour, or by a node that has one", () => {
    expect(["2:1", "2-0", "0", "1:2", "0-2"].map(named)).toEqual(["2:1", "2:1", "0:1", "1:2", "0:1"])
  })

  it("that are not there are told of, with those that are", () => {
    const has = "switch 2 has 2:1 to host 0, 2:2 to host 1, 2:3 to host 1"
    expect(named("2:4")).toBe(`found "2:4", expected a port 1..3 of switch 2; ${has}`)
    expect(named("0:0")).toBe('found "0:0", expected port 1 of host 0; host 0 has 0:1 to switch 2')
    expect(named("2-1")).toBe(`found "2-1", expected NODE:PORT: several links join 2 and 1; ${has}`)
    expect(named("2-2")).toBe(`found "2-2", expected a neighbour of switch 2; ${has}`)
    expect(named("2")).toBe(`found "2", expected NODE:PORT: switch 2 has 3 ports; ${has}`)
    expect(named("9:1")).toBe('found "9:1", expected a node 0..2; ')
    expect(named("eth0")).toContain('found "eth0", expected NODE:PORT (16:2), NODE-NEIGHBOUR (16-1)')
  })
})
