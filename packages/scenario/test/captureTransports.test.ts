import type { World } from "@rdmakit/fabric"
import { Layout, type Packet } from "@rdmakit/packet"
import { type PacketRecord, readCapture } from "@rdmakit/pcap"
import { loadScenario, ScenarioSimulation } from "@rdmakit/scenario"
import { addWords, foldWords, pseudoHeader } from "@rdmakit/wire/checksum"
import { ETHERNET_BYTES, parseEthernet } from "@rdmakit/wire/ethernet"
import { parseIpv4 } from "@rdmakit/wire/ipv4"
import { crcVerdict, FPDU_CRC_BYTES, parseFpdu } from "@rdmakit/wire/mpa"
import { parseRdmap } from "@rdmakit/wire/rdmap"
import { parseTcp, parseTcpOptions, type Tcp } from "@rdmakit/wire/tcp"
import { parseUdp } from "@rdmakit/wire/udp"
import { parseVxlan } from "@rdmakit/wire/vxlan"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type CaptureSettings, PortCapture } from "../src/capture.ts"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

const MESSAGE = 100_001
const FLOWS = 8
const incast = `topology: { builder: star, hosts: 9, link: { loss: 0.002 } }
flows: [{ from: 0..7, to: 8, size: ${MESSAGE}B }]
switch: { lossless: false, buffer: 150KiB, headroom: 0, ecn: false }
`
const RECEIVER = 8

const simulationOf = async (text: string): Promise<ScenarioSimulation> => {
  const octets = new TextEncoder().encode(text)
  const loaded = loadScenario("s.yaml", { workingDirectory: "/", octets })
  return new ScenarioSimulation(await Effect.runPromise(loaded.pipe(Effect.provide(memoryFiles({})))))
}
const settingsOf = ({ ports }: World): CaptureSettings => ({
  ports: [ports.portsOf(RECEIVER)[0]!],
  format: "pcap",
  telemetry: "none",
})

/** FCS, preamble and gap: the run's framing counts them, and a file has them not. */
const AROUND = 24

/** Octets that every frame of the receiver should have: as the framing counts them, and blocks, which it does not. */
const noted = (world: World): ReadonlyArray<number> => {
  const lengths: Array<number> = []
  const [own] = settingsOf(world).ports
  const note = (port: number, packet: Packet): void => {
    if (port !== own) return
    const at = packet.extension << Layout.EXTENSION_SHIFT
    const blocks = packet.extension < 0 ? 0 : packet.pool.extension[at + Layout.EXT.sackBlocks]!
    lengths.push(packet.wireBytes - AROUND + (blocks === 0 ? 0 : 4 + 8 * blocks))
  }
  world.kernel.tracer = {
    received: (_now, port, packet) => note(port, packet),
    enqueued: () => {},
    dequeued: (_now, port, _queue, packet) => note(port, packet),
  }
  return lengths
}

const packetsOf = async (chunks: ReadonlyArray<Uint8Array>): Promise<ReadonlyArray<PacketRecord>> => {
  const packets: Array<PacketRecord> = []
  for await (const record of readCapture(chunks)) if (record.kind === "packet") packets.push(record)
  return packets
}

/** The segment in a frame; whatever is wrong with it, or around it, is an error. */
const segmentOf = (data: Uint8Array, tunnel: boolean) => {
  const at = tunnel ? innerFrame(data) : 0
  const ethernet = parseEthernet(data, at)
  const ip = parseIpv4(data, at + ETHERNET_BYTES)
  if (!ethernet.ok || !ip.ok || ip.faults.length > 0) throw new Error("no packet of IPv4")
  const { payloadStart, payloadEnd } = ip
  const tcp = parseTcp(data, payloadStart, payloadEnd)
  if (!tcp.ok || tcp.faults.length > 0) throw new Error("no segment of TCP")
  const sum = pseudoHeader(data, payloadStart - 8, 4, 6, payloadEnd - payloadStart)
  expect(foldWords(addWords(sum, data, payloadStart, payloadEnd))).toBe(0)
  return { tcp: tcp.value, payload: data.subarray(tcp.payloadStart, payloadEnd) }
}

const innerFrame = (data: Uint8Array): number => {
  const ip = parseIpv4(data, ETHERNET_BYTES)
  const udp = ip.ok && ip.faults.length === 0 ? parseUdp(data, ip.payloadStart, ip.payloadEnd) : undefined
  if (udp?.ok !== true) throw new Error("no datagram")
  expect(udp.value.destinationPort).toBe(4789)
  const vxlan = parseVxlan(data, udp.payloadStart, udp.payloadEnd)
  if (!vxlan.ok || vxlan.faults.length > 0) throw new Error("no tunnel")
  return vxlan.payloadStart
}

const blocksOf = (tcp: Tcp): ReadonlyArray<readonly [number, number]> => {
  const options = parseTcpOptions(tcp.options)
  if (!options.ok) throw new Error("no options")
  expect(options.value.map(({ kind }) => kind).filter((kind) => kind === "timestamps").length).toBe(1)
  return options.value.flatMap((option) => (option.kind === "sack" ? option.blocks : []))
}

/** A unit's place in its message, with its payload, checked on the way. */
const writeOf = (payload: Uint8Array, crc: string) => {
  const unit = parseFpdu(payload)
  if (!unit.ok) throw new Error("no unit")
  expect(crcVerdict(payload, 0, payload.length - FPDU_CRC_BYTES)).toBe(crc)
  const rdmap = parseRdmap(payload, unit.payloadStart, unit.payloadEnd)
  if (!rdmap.ok || rdmap.faults.length > 0 || rdmap.value.kind !== "write") throw new Error("no WRITE")
  const offset = Number(rdmap.value.sinkOffset & 0xffff_ffffn)
  return { offset, end: offset + unit.payloadEnd - rdmap.payloadStart, last: rdmap.value.last }
}

describe.each([
  ["tcp", "{ name: tcp, options: { leastTimeoutPs: 5ms } }", false, undefined],
  ["tcp/vxlan", "{ name: tcp, options: { leastTimeoutPs: 5ms, overlay: vxlan } }", true, undefined],
  ["iwarp", "{ name: iwarp, options: { leastTimeoutPs: 5ms } }", false, "right"],
  ["erdma", "{ name: erdma, options: { underlayMtuBytes: 1550B, overlay: none } }", false, "absent"],
  ["erdma/vxlan", "{ name: erdma, options: { underlayMtuBytes: 1550B } }", true, "absent"],
])("a capture of %s, which loses packets", (name, transport, tunnel, crc) => {
  it("is of whole messages, each octet of which is sent, taken and acknowledged", async () => {
    const simulation = await simulationOf(`${incast}transport: ${transport}`)
    const { world } = simulation
    const lengths = noted(world)
    const chunks: Array<Uint8Array> = []
    const capture = new PortCapture(world, settingsOf(world), () => (octets) => void chunks.push(octets))
    const outcome = runToEnd(simulation)
    capture.finish()
    expect(world.parts.transport.name).toBe(name)
    expect(outcome.flowsFinished).toBe(FLOWS)
    const packets = await packetsOf(chunks)
    expect(packets.map(({ data }) => data.length)).toEqual(lengths)

    /** By the sender's port: octets of the stream that came, and of its messages; where acknowledgements are. */
    const streams = new Map<number, { came: Map<number, number>; writes: Map<number, number>; acknowledged: number }>()
    const streamOf = (port: number) => {
      const stream = streams.get(port) ?? { came: new Map(), writes: new Map(), acknowledged: 0 }
      streams.set(port, stream)
      return stream
    }
    let blocks = 0
    for (const { data } of packets) {
      const { tcp, payload } = segmentOf(data, tunnel)
      const key = (forward: boolean): number =>
        (forward ? tcp.sourcePort : tcp.destinationPort) * 256 + data[(tunnel ? 64 : 14) + (forward ? 14 : 18)]!
      if (payload.length > 0) {
        const stream = streamOf(key(true))
        stream.came.set(tcp.sequence, tcp.sequence + payload.length)
        expect(blocksOf(tcp)).toEqual([])
        if (crc === undefined) continue
        const { offset, end, last } = writeOf(payload, crc)
        stream.writes.set(offset, end)
        expect(last).toBe(end === MESSAGE)
        continue
      }
      const stream = streamOf(key(false))
      expect(tcp.acknowledgement).toBeGreaterThanOrEqual(stream.acknowledged)
      stream.acknowledged = tcp.acknowledgement
      for (const [left, right] of blocksOf(tcp)) {
        blocks++
        // Edges are those of segments that came.
        expect([stream.came.has(left), [...stream.came.values()].includes(right)]).toEqual([true, true])
      }
    }
    expect(blocks).toBeGreaterThan(10)
    expect(streams.size).toBe(FLOWS)
    const endOf = (pieces: ReadonlyMap<number, number>, from: number): number => {
      let at = from
      for (let next = pieces.get(at); next !== undefined; next = pieces.get(at)) at = next
      return at
    }
    for (const { came, writes, acknowledged } of streams.values()) {
      expect(endOf(came, 1)).toBe(acknowledged)
      if (crc === undefined) expect(acknowledged).toBe(1 + MESSAGE)
      else expect(endOf(writes, 0)).toBe(MESSAGE)
    }
  })
})

it("is refused, before the run, where a transport's flows have no octets", async () => {
  const { world } = await simulationOf(`${incast}transport: { name: srd }`)
  expect(() => new PortCapture(world, settingsOf(world), () => () => {})).toThrow("flows of srd have no octets")
})

it.each([
  [
    "{ name: tcp, options: { mtuBytes: 65484B } }",
    "none",
    "packets of 65484 B of payload: 65536 B with their headers, and IPv4 has room for 65535",
  ],
  ["{ name: tcp }", "hpcc", 'the layout "hpcc" is of RoCEv2, and packets of tcp are TCP\'s'],
] as const)("of %s with telemetry %s is refused", async (transport, telemetry, message) => {
  const { world } = await simulationOf(`${incast}transport: ${transport}`)
  expect(() => new PortCapture(world, { ...settingsOf(world), telemetry }, () => () => {})).toThrow(message)
})
